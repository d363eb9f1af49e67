"""Websites that are read on request, for a person or for another machine."""
