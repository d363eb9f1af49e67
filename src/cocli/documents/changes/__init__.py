"""What catalogues tell each other through the store: rows that one made are objects that the others read."""
