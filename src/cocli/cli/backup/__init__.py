"""`cocli backup`."""
