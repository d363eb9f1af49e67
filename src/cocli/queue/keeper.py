"""Renews the leases of a process while its work goes on: the library's task, never the worker's."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import LeaseLost, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from cocli.errors import CocliError
    from cocli.queue.leased.claim import LeasedClaim
    from cocli.queue.runtime import Activity, Runtime

_LOG = logs.get_logger(__name__)

_RENEW_SHARE = 1 / 3
_GROUP = 128
"""Leases that are renewed together: more would wait too long for the slowest of them."""


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

    def __init__(
        self,
        runtime: Runtime,
        renew: Callable[[LeasedClaim], None],
        *,
        lease_seconds: float,
        renew_many: Callable[[Sequence[LeasedClaim]], Sequence[CocliError | None]] | None = None,
    ) -> None:
        """`renew_many` renews several with as few round trips and synchronisations as one; what failed stands in its
        place. Without it they are renewed one after the other."""
        self._runtime = runtime
        self._renew = renew
        self._renew_many = renew_many
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
        try:
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
        due = [holding for holding in list(self._holdings.values()) if self._is_due(holding.claim)]
        for start in range(0, len(due), _GROUP):
            group = due[start : start + _GROUP]
            if self._renew_many is not None and len(group) > 1:
                self._renew_together(group, self._renew_many)
            else:
                for holding in group:
                    self._renew_held(holding)
        return True

    def _is_due(self, claim: LeasedClaim) -> bool:
        if claim.over or claim.lost:
            return False
        return self._runtime.monotonic() - claim.written_at >= self._interval

    def _renew_together(
        self, group: list[Holding], renew_many: Callable[[Sequence[LeasedClaim]], Sequence[CocliError | None]]
    ) -> None:
        answers = renew_many([holding.claim for holding in group])
        for holding, error in zip(group, answers, strict=True):
            if error is not None:
                with _told_of(holding.claim):
                    self._not_renewed(holding, error)

    def _renew_held(self, holding: Holding) -> None:
        with _told_of(holding.claim):
            try:
                self._renew(holding.claim)
            except (LeaseLost, StoreError) as error:
                self._not_renewed(holding, error)

    def _not_renewed(self, holding: Holding, error: CocliError) -> None:
        claim = holding.claim
        if isinstance(error, LeaseLost):
            if not claim.over:  # else it was ended by the worker itself in the meantime
                self._lose(holding)
            return
        _LOG.warning("the lease could not be renewed: %s", error.message)
        # The store may come back; but a lease that is over by our own clock is somebody else's to take.
        if self._runtime.monotonic() - claim.written_at > self._lease:
            self._lose(holding)

    def _lose(self, holding: Holding) -> None:
        _LOG.warning("the task is lost while its work goes on", extra={"worker": holding.claim.worker})
        holding.claim.lost = True
        if holding.on_lost:
            holding.on_lost()


def _told_of(claim: LeasedClaim) -> AbstractContextManager[None]:
    """Whatever is logged in the block names the task."""
    task = claim.task
    return logs.bound(campaign=task.campaign, queue=task.queue, task=task.task_id)
