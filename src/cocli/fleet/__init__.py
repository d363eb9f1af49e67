"""Processes that claim tasks and run the stages."""
