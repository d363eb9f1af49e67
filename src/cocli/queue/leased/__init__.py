"""The queue on any store: tasks and leases as objects."""
