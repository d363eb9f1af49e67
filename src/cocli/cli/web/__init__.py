"""`cocli web`: the dashboard, live and published."""
