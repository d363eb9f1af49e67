"""What a worker did and has in hand: written by its threads, read by whoever shows it."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING

from cocli.models.heartbeat import ActiveTask, WorkerReport

if TYPE_CHECKING:
    from cocli.queue.base import Claim

LOST = "lost"
"""The lease went to another: what was done is dropped."""
RELEASED = "released"
"""Given back: this machine could not do it, or was asked to stop."""
ENDINGS = ("completed", "already_completed", "waiting", "sidelined", LOST, RELEASED)


class WorkerTally:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ended: Counter[str] = Counter()
        self._hands: dict[int, Claim] = {}
        self._last_error: str | None = None
        self.limited_by: str | None = None
        self.longest_lag: float | None = None
        """What holds the work up now, where somebody looks."""

    def took(self, claim: Claim) -> None:
        with self._lock:
            self._hands[id(claim)] = claim

    def ended(self, claim: Claim, how: str) -> None:
        with self._lock:
            self._hands.pop(id(claim), None)
            self._ended[how] += 1

    def failed(self, message: str) -> None:
        with self._lock:
            self._last_error = message

    @property
    def counts(self) -> dict[str, int]:
        with self._lock:
            return dict(self._ended)

    @property
    def last_error(self) -> str | None:
        return self._last_error

    @property
    def in_hand(self) -> list[Claim]:
        with self._lock:
            return list(self._hands.values())

    def report(self, queue: str, worker: str) -> WorkerReport:
        # Every second, of some hundred claims: what a claim says was checked when it was made.
        build = ActiveTask.model_construct
        active = [
            build(task_id=claim.task.task_id, worker=worker, claimed_at=claim.claimed_at) for claim in self.in_hand
        ]
        return WorkerReport(
            queue=queue,
            worker=worker,
            active=tuple(active),
            ended=self.counts,
            last_error=self._last_error,
            limited_by=self.limited_by,
            longest_lag=self.longest_lag,
        )
