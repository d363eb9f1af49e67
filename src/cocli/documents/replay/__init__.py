"""Replay, seeding and comparison: jobs over everything that was ever fetched."""
