"""`cocli deploy`: bring cocli to hosts by ssh."""
