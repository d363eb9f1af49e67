"""`cocli infra`."""
