"""`cocli index`."""
