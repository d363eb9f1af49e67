"""How many tasks that wait for others are in flight: what is measured, and what follows from it."""
