"""The whole job in one command: plan, queue, have workers work, stop when there is enough."""
