"""Which column of a file holds what, seen from its values."""
