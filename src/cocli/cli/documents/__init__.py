"""`cocli documents`."""
