"""Phone numbers of a page."""
