"""`cocli find`."""
