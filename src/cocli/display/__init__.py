"""Texts that are shown to people: without secrets, and without characters that a terminal would obey."""
