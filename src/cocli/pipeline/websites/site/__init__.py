"""A site: which of its pages are read, and what they say together."""
