"""Campaigns: made, planned, covered, settled, read again."""
