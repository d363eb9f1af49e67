"""How long a lease is at least that was given back: what is shorter need not be read to know that somebody holds it."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

from cocli.formats import json_records
from cocli.models.lease import Lease
from cocli.models.task import Attempt

_SHORTEST_NONCE = "0" * 8


@cache
def shortest_free_lease() -> int:
    """Bytes, without those of the id. A lease that was given back names in its history who had it."""
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    attempt = Attempt(attempt=1, token=1, worker="w", ended_at=moment, outcome="failed")
    task_id = "i"
    lease = Lease(task_id=task_id, token=1, attempt=1, nonce=_SHORTEST_NONCE, history=(attempt,))
    return len(json_records.render(lease)) - len(task_id)
