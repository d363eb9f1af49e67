"""The websites of the town."""
