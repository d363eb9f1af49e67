"""`cocli company`, `person`, `note` and `meeting`."""
