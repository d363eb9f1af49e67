"""A Google Maps look-alike of the town, on loopback."""
