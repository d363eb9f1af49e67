"""Backups of a store: make, look at, verify, restore, prune."""
