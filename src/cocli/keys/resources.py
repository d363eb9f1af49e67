"""The names of what a campaign has in a cloud: buckets, queues, roles, a pool of users. Built here and nowhere else."""

from __future__ import annotations

FIFO = ".fifo"
"""How the name of a FIFO queue ends, as SQS has it."""


def resource_name(resource: str, campaign: str, *, ending: str = "") -> str:
    """`cocli-{resource}-{campaign}`, the same for the infrastructure, its policies and the program that uses them."""
    return f"cocli-{resource}-{campaign}{ending}"
