"""OpenStreetMap."""
