"""`cocli campaign`."""
