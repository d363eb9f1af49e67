"""`cocli worker`, `supervisor`, `remote` and `cluster`."""
