"""The files that the dashboard reads: made here, answered live by `cocli web`, written by `cocli web deploy`."""
