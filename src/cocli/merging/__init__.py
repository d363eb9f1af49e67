"""Merging: how observations of several sources become one gold record. Pure functions of records."""
