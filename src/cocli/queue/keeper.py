"""Renews the leases of a process while its work goes on: the library's task, never the worker's."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import LeaseLost, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cocli.queue.leased.claim import LeasedClaim
    from cocli.queue.runtime import Activity, Runtime

_LOG = logs.get_logger(__name__)

_RENEW_SHARE = 1 / 3


class Holding:
    """The hold on one claim, as the worker sees it."""

    def __init__(self, claim: LeasedClaim, on_lost: Callable[[], None] | None) -> None:
        self.claim = claim
        self.on_lost = on_lost

    def check(self) -> None:
        if self.claim.lost:
            reason = "its lease was taken over or could not be renewed"
            raise LeaseLost(worker=self.claim.worker, task_id=self.claim.task.task_id, reason=reason)


class LeaseKeeper:
    """One background activity for all claims of a queue: a thread per claim would cost more than most tasks."""

    def __init__(self, runtime: Runtime, renew: Callable[[LeasedClaim], None], *, lease_seconds: float) -> None:
        self._runtime = runtime
        self._renew = renew
        self._lease = lease_seconds
        self._interval = lease_seconds * _RENEW_SHARE
        self._lock = threading.Lock()
        self._holdings: dict[int, Holding] = {}
        self._activity: Activity | None = None

    @contextmanager
    def hold(self, claim: LeasedClaim, on_lost: Callable[[], None] | None = None) -> Iterator[Holding]:
        holding = Holding(claim, on_lost)
        with self._lock:
            self._holdings[id(holding)] = holding
            if self._activity is None:
                self._activity = self._runtime.every(self._interval / 2, self._tick)
        task = claim.task
        try:
            with logs.bound(campaign=task.campaign, queue=task.queue, task=task.task_id):
                yield holding
        finally:
            with self._lock:
                self._holdings.pop(id(holding), None)

    def close(self) -> None:
        with self._lock:
            activity, self._activity = self._activity, None
        if activity:
            activity.stop()

    def _tick(self) -> bool:
        for holding in list(self._holdings.values()):
            claim = holding.claim
            if claim.over or claim.lost or self._runtime.monotonic() - claim.written_at < self._interval:
                continue
            task = claim.task
            with logs.bound(campaign=task.campaign, queue=task.queue, task=task.task_id):
                self._renew_held(holding)
        return True

    def _renew_held(self, holding: Holding) -> None:
        claim = holding.claim
        try:
            self._renew(claim)
        except LeaseLost:
            if not claim.over:  # else it was ended by the worker itself in the meantime
                self._lose(holding)
        except StoreError as error:
            _LOG.warning("the lease could not be renewed: %s", error.message)
            # The store may come back; but a lease that is over by our own clock is somebody else's to take.
            if self._runtime.monotonic() - claim.written_at > self._lease:
                self._lose(holding)

    def _lose(self, holding: Holding) -> None:
        _LOG.warning("the task is lost while its work goes on", extra={"worker": holding.claim.worker})
        holding.claim.lost = True
        if holding.on_lost:
            holding.on_lost()
