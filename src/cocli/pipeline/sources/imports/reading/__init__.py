"""What one cell says: a text without the signs that nobody sees, a point, stars, an address, whether it is open."""
