"""Workers, supervisors, commands from afar, and the machines of a campaign at a glance."""
