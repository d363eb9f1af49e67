"""`cocli suppress`, `cocli forget`, `cocli subject-access`."""
