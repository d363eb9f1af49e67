"""Which supervisor finishes a campaign: one at a time, and another one once it falls silent.

There is one task, `finish`, in a queue of its own, and it never ends: whoever holds its lease is elected. So the
election has the rules of every task: a lease is renewed while its holder lives, is taken over no earlier than it runs
out, and its token only grows. The queue lies in the store, also where SQS carries the campaign's tasks.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import CocliError, FormatError, LeaseLost, NotFound, QueueUnusable
from cocli.formats import json_records
from cocli.keys.paths import task_files
from cocli.models.lease import Lease
from cocli.queue.base import NewTask, PutOutcome
from cocli.queue.custody import always_open
from cocli.queue.leased.queue import LeasedQueue
from cocli.queue.places import UPKEEP, Places
from cocli.queue.runtime import ThreadRuntime

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from cocli.queue.leased.claim import LeasedClaim
    from cocli.queue.runtime import Runtime
    from cocli.store.base import Store

_LOG = logs.get_logger(__name__)

TASK = "finish"
LEASE_SECONDS = 20.0
LOOK_SECONDS = 5.0
"""Between two looks of those that are not elected."""
_SAFE_SHARE = 0.8
"""Of a lease's length: an older one is renewed before anything is done on the strength of it."""
_ENDLESS = 1 << 30
"""Attempts. Every election is one, and the task is never given up."""
_MISSING_LOOKS = 12
"""After so many looks without success somebody looks whether the task is there at all."""


class Election:
    """One supervisor's part in it. `stand` is called again and again, and asks the store only when it is time to."""

    def __init__(
        self,
        store: Store,
        campaign: str,
        worker: str,
        *,
        lease_seconds: float = LEASE_SECONDS,
        look_seconds: float = LOOK_SECONDS,
        exists: Callable[[], bool] = lambda: True,
        runtime: Runtime | None = None,
        rng: random.Random | None = None,
        gate: Callable[[], None] = always_open,
    ) -> None:
        """`exists` tells whether the campaign is still there: in the folder of one that was removed nothing is put."""
        self._store = store
        self._exists = exists
        self._campaign = campaign
        self._seconds = lease_seconds
        self._look_seconds = look_seconds
        self._runtime = runtime or ThreadRuntime()
        self._places = Places(campaign, UPKEEP)
        self._queue = LeasedQueue(
            store,
            campaign,
            UPKEEP,
            worker=worker,
            lease_seconds=lease_seconds,
            attempts=_ENDLESS,
            runtime=self._runtime,
            rng=rng,
            gate=gate,
        )
        self._holding = ExitStack()
        self._claim: LeasedClaim | None = None
        self._look_at: float | None = None
        self._looks = 0

    @property
    def token(self) -> int:
        """Grows with every election; 0 for who is not elected."""
        if self._claim is None:
            return 0
        return self._claim.token

    def stand(self) -> bool:
        """Whether this supervisor is elected now. What it says holds for a fifth of a lease at least."""
        if self._claim is not None and self._is_still_ours(self._claim):
            return True
        self._leave()
        now = self._runtime.monotonic()
        if self._look_at is not None and now < self._look_at:
            return False
        self._look_at = now + self._look_seconds
        self._prepare()
        claim = self._queue.claim()
        self._looks += 1
        if claim is None:
            return False
        _LOG.info("elected to finish the campaign", extra={"campaign": self._campaign, "token": claim.token})
        self._looks = 0
        self._claim = claim
        self._holding.enter_context(self._queue.held(claim))
        return True

    def resign(self) -> None:
        """Let another one have it at once."""
        claim = self._claim
        self._leave()
        if claim is not None and not claim.lost:
            with suppress(CocliError):  # then its lease runs out
                self._queue.release(claim)

    def close(self) -> None:
        self.resign()
        self._queue.close()

    def _is_still_ours(self, claim: LeasedClaim) -> bool:
        if claim.lost:
            return False
        if self._runtime.monotonic() - claim.written_at <= self._seconds * _SAFE_SHARE:
            return True
        try:
            self._queue.renew(claim)
        except LeaseLost:
            _LOG.info("another supervisor finishes the campaign now", extra={"campaign": self._campaign})
            return False
        return self._runtime.monotonic() - claim.written_at <= self._seconds * _SAFE_SHARE

    def _leave(self) -> None:
        self._claim = None
        self._holding.close()

    def _prepare(self) -> None:
        """See that the task is there: before the first look, and now and then while nobody gets it."""
        if self._looks % _MISSING_LOOKS:
            return
        try:
            self._store.head(self._places.task(TASK))
        except NotFound:
            if self._exists():
                self._put()

    def _put(self) -> None:
        outcome = self._queue.put(NewTask(TASK))
        if (
            outcome is PutOutcome.ALREADY_SIDELINED
        ):  # it, or its lease, could not be read; it says nothing worth keeping
            self._store.delete_many(self._places.sidelines(TASK))
            self._queue.put(NewTask(TASK))
        elif outcome is PutOutcome.ALREADY_COMPLETED:
            raise QueueUnusable(
                provider="store",
                queue=UPKEEP,
                reason=f"its task {TASK} is completed, which no supervisor does: nobody finishes {self._campaign}",
                hint=f"Remove it with: cocli store rm {self._places.completion(TASK, batch=False)}",
            )


def elected_worker(store: Store, campaign: str) -> str | None:
    """Who is elected, as far as the lease tells: its name, or None."""
    _, lease_key = task_files(Places(campaign, UPKEEP).folder(TASK))
    try:
        stored = store.get(lease_key)
        lease = json_records.read(Lease, stored.data, file=lease_key)
    except (NotFound, FormatError):
        return None  # nobody ever was; what cannot be read is set aside by the next supervisor that looks
    if lease.expires is None or store.now() > lease.expires:
        return None
    return lease.worker
