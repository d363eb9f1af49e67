"""`cocli worker`, `supervisor`, `command` and `cluster`."""
