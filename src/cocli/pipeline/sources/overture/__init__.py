"""Overture places."""
