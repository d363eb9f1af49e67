"""`cocli queue`."""
