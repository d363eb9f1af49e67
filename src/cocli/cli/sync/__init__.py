"""`cocli sync` and `cocli sync`."""
