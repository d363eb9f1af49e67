"""`cocli fz`."""
