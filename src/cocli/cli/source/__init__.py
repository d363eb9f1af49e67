"""`cocli source`."""
