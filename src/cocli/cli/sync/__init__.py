"""`cocli sync` and `cocli smart-sync`."""
