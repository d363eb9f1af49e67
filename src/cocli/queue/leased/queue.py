"""The queue on any store: tasks and leases as objects, coordinated by conditional writes alone.

A task is `pending/{shard}/{id}/task.json`; claiming it creates `lease.json` beside it. The lease is replaced, never
deleted and made again, so its token only grows; it is deleted only after its task. The completion is created once.

How a worker knows that it still holds a task when it ends it: nobody may take a lease over before it is as old, by the
store's clock, as a lease lasts. A worker whose own count of seconds says that its last write is clearly younger than
that needs no request; one that overslept has to renew first, which fails if somebody else was there.
"""

from __future__ import annotations

import logging
import random
import secrets
import socket
import threading
from contextlib import ExitStack, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from cocli import logs
from cocli.errors import CocliError, HostEvicted, LeaseLost, StoreError
from cocli.formats import json_records
from cocli.formats.task_form import TaskForm
from cocli.keys.paths import task_files
from cocli.models.campaign import LEASE_SECONDS
from cocli.models.completion import Empty, Ok
from cocli.queue.base import AckOutcome, Category, NewTask, PutOutcome, PutReport
from cocli.queue.custody import HISTORY, WhyAside, always_open
from cocli.queue.keeper import LeaseKeeper
from cocli.queue.leased.census import QueueCensus
from cocli.queue.leased.discovery import Discovery
from cocli.queue.leased.group_ending import GroupEndingQueue
from cocli.queue.leased.leftovers import Leftovers
from cocli.queue.leased.removal import Cleaner
from cocli.queue.leased.sideline import NewEntry, Sideline
from cocli.queue.leased.statistics import Statistics
from cocli.queue.leased.submission import Putter
from cocli.queue.leased.tally import NoTally, Tally
from cocli.queue.places import Places
from cocli.queue.runtime import ThreadRuntime
from cocli.store import settled
from cocli.store.base import Put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cocli.models.lease import Lease
    from cocli.models.task import TaskError
    from cocli.queue.base import Claim, QueueStats, Verdict
    from cocli.queue.leased.claim import LeasedClaim
    from cocli.queue.leased.claimer import Leasing
    from cocli.queue.leased.tally import QueueChange
    from cocli.queue.runtime import Runtime
    from cocli.store.base import Store

_LOG = logs.get_logger(__name__)

CLOCK_MARGIN = 2.0
"""Seconds by which a lease must be overdue: S3 dates its objects in whole seconds."""


def default_worker() -> str:
    return f"{socket.gethostname()}-{secrets.token_hex(3)}"


class LeasedQueue(GroupEndingQueue):
    """One queue of one campaign on a store."""

    def __init__(
        self,
        store: Store,
        campaign: str,
        name: str,
        *,
        worker: str | None = None,
        lease_seconds: float = LEASE_SECONDS,
        attempts: int = 5,
        margin: float = CLOCK_MARGIN,
        runtime: Runtime | None = None,
        rng: random.Random | None = None,
        gate: Callable[[], None] = always_open,
        counted: bool = False,
    ) -> None:
        """`counted`: what is changed here is told in a tally, so that whoever counts need not list the queue. All who
        change a queue do so, or its numbers are some minutes old."""
        self.campaign = campaign
        self.name = name
        self.worker = worker or default_worker()
        self._store = store
        self._gate = gate
        self._attempts = attempts
        self._seconds = lease_seconds
        self._margin = timedelta(seconds=margin)
        self._length = timedelta(seconds=lease_seconds)
        self._task_form = TaskForm(campaign, name)
        self._runtime = runtime or ThreadRuntime()
        self._random = rng or random.Random(secrets.randbits(64))  # noqa: S311 - for spreading, not for secrets
        self._lock = threading.Lock()
        self._places = Places(campaign, name)
        expiry = self._length + self._margin
        self._keeper = LeaseKeeper(self._runtime, self._renew, lease_seconds=lease_seconds, renew_many=self._renew_many)
        self._cleaner = Cleaner(store, self._runtime, lease_seconds=lease_seconds)
        self._discovery = Discovery(
            store, self._places.pending, self._random, expiry=expiry, listed=self._cleaner.listed
        )
        self._tally, census = NoTally(), None
        if counted:
            self._tally = Tally(store, campaign, name, self.worker, self._runtime, self._nonce)
            census = QueueCensus(store, self._places, campaign, name, expiry, self._nonce, self._runtime.monotonic)
        self._putter = Putter(store, self._places, campaign, name, self._nonce, self._tally)
        self._sideline = Sideline(store, self._places, self._nonce, settled_after=expiry, tally=self._tally)
        self._leftovers = Leftovers(store, self._places, self._sideline)
        self._statistics = Statistics(store, self._places, name, expiry, census)

    # --- putting

    def put(self, task: NewTask) -> PutOutcome:
        return self._putter.put(task)

    def put_many(self, tasks: Iterable[NewTask]) -> PutReport:
        return self._putter.put_many(tasks)

    # --- holding

    def _renew(self, claim: LeasedClaim) -> None:
        with claim.writing:
            finished = tuple(claim.finished.values())
            renewed = self._held(claim.lease.with_changes(finished=finished), self._store.now())
            self._replace_lease(claim, renewed)
            claim.kept = len(finished)
        self._tell(_LOG, "lease renewed", claim.task.task_id, token=claim.token, finished_items=claim.kept)

    def _renew_many(self, claims: Sequence[LeasedClaim]) -> list[CocliError | None]:
        """Renew several leases side by side. One that its worker is ending at this moment is left alone."""
        answers: dict[int, CocliError | None] = {}
        renewals: list[tuple[int, LeasedClaim, Lease]] = []
        with ExitStack() as writing:
            for number, claim in enumerate(claims):
                if not claim.writing.acquire(blocking=False):
                    continue
                writing.callback(claim.writing.release)
                try:
                    self._check(claim)
                except LeaseLost as error:
                    answers[number] = error
                    continue
                kept = claim.lease.with_changes(finished=tuple(claim.finished.values()))
                renewals.append((number, claim, self._next_lease(claim, self._held(kept, self._store.now()))))
            replaced = self._replace_leases([(claim, lease) for _, claim, lease in renewals])
            for (number, claim, _), failure in zip(renewals, replaced, strict=True):
                answers[number] = failure
                if failure is None:
                    told = {"token": claim.token, "finished_items": claim.kept}
                    self._tell(_LOG, "lease renewed", claim.task.task_id, **told)
        return [answers.get(number) for number in range(len(claims))]

    def _replace_leases(self, leases: Sequence[tuple[LeasedClaim, Lease]]) -> list[CocliError | None]:
        """Side by side: for each None, or why it was not replaced."""
        written_at = self._runtime.monotonic()
        swapped = settled.swap_many(self._store, [self._lease_put(claim, lease) for claim, lease in leases])
        return [
            self._replaced(claim, lease, etag, written_at) for (claim, lease), etag in zip(leases, swapped, strict=True)
        ]

    def _replaced(
        self, claim: LeasedClaim, lease: Lease, etag: str | StoreError | None, written_at: float
    ) -> CocliError | None:
        if isinstance(etag, StoreError):
            return etag
        if etag is None:
            claim.lost = True
            return self._lost(claim, "its lease was replaced")
        claim.lease, claim.etag, claim.written_at = lease, etag, written_at
        claim.kept = len(lease.finished)
        return None

    def _replace_lease(self, claim: LeasedClaim, lease: Lease) -> None:
        with claim.writing:
            self._check(claim)
            written_at = self._runtime.monotonic()
            lease = self._next_lease(claim, lease)
            put = self._lease_put(claim, lease)
            etag = settled.swap(self._store, put.key, put.data, claim.etag)
            if etag is None:
                claim.lost = True
                raise self._lost(claim, "its lease was replaced")
            claim.lease, claim.etag, claim.written_at = lease, etag, written_at

    def _next_lease(self, claim: LeasedClaim, lease: Lease) -> Lease:
        return lease.with_changes(sequence=claim.lease.sequence + 1, nonce=self._nonce())

    def _lease_put(self, claim: LeasedClaim, lease: Lease) -> Put:
        return Put(task_files(claim.folder)[1], json_records.render(lease), if_match=claim.etag)

    # --- ending

    def _complete(self, claim: LeasedClaim, data: bytes, *, batch: bool) -> AckOutcome:
        with claim.writing:
            self._make_sure(claim)
            with self._tally.change() as change:
                key = self._places.completion_at(self._places.spot_of_folder(claim.folder), batch=batch)
                created = settled.create(self._store, key, data)
                self._count(change, [claim], [created])
            claim.over = True
        return self._completed(claim, created)

    def _count(
        self, change: QueueChange, claims: Iterable[LeasedClaim], created: Sequence[str | CocliError | None]
    ) -> None:
        """Who is late cannot tell what the task was before: another may have ended it. Nor can who finds it ended."""
        if not self._tally.counts:
            return
        change.complete(sum(isinstance(etag, str) for etag in created))
        since = self._runtime.monotonic() - self._seconds
        if any(claim.written_at <= since or claim.task.recoveries for claim in claims):
            change.doubt()
        if not all(isinstance(etag, str) for etag in created):
            change.doubt()

    def _completed(self, claim: LeasedClaim, created: str | None) -> AckOutcome:
        if claim.task.recoveries:
            # The recovery that brought it back may have been cut off before it removed what was set aside.
            with self._tally.change() as change:
                change.doubt()
                self._store.delete_many(self._places.sidelines(claim.task.task_id))
        self._cleaner.done(claim.folder, claim.token)
        outcome = AckOutcome.ALREADY_COMPLETED if created is None else AckOutcome.COMPLETED
        if _LOG.isEnabledFor(logging.DEBUG):  # looked at here as well: this is done for every task
            told = {"outcome": outcome, "token": claim.token, "attempt": claim.attempt}
            self._tell(_LOG, "task ended", claim.task.task_id, **told)
        return outcome

    def ack_and_claim(self, claim: Claim, verdict: Verdict) -> tuple[AckOutcome, LeasedClaim | None]:
        """End a claim and take the next task: its completion and the next lease are written side by side."""
        if not isinstance(verdict, (Ok, Empty)):
            return super().ack_and_claim(claim, verdict)
        mine = self._ours(claim)
        with mine.writing:
            self._make_sure(mine)  # before the next lease is asked for: who may not end this takes no other
            leasing = self._next_leasing()
            ended = None if leasing is None else self._complete_beside(mine, verdict, leasing)
        if leasing is None or ended is None:
            return super().ack_and_claim(claim, verdict)
        outcome, leased = ended
        try:
            taken = self._read_one(leasing, leased)
            if taken is None or not (self._is_young(taken) or self._still_ours([taken])):
                return outcome, self.claim()
            self._tally.hold((taken,))
        except (StoreError, HostEvicted):
            return outcome, None  # the result is kept, and must be told; the next claim meets the error again
        return outcome, taken

    def _next_leasing(self) -> Leasing | None:
        """The lease of the next task, if one is known that nobody had."""
        with self._lock:
            following = self._discovery.next_new()
        if following is None:
            return None
        return self._leasing(following.folder, self._runtime.monotonic(), self._store.now())

    def _complete_beside(
        self, claim: LeasedClaim, verdict: Ok | Empty, leasing: Leasing
    ) -> tuple[AckOutcome, str | StoreError | None]:
        """End a claim that is ours while the lease of another task is created: what came of each."""
        data = self._completion(claim, verdict, leasing.now)
        put = Put(self._places.completion_of_folder(claim.folder), data, True, None)
        with self._tally.change() as change:
            created, leased = settled.create_many(self._store, [put, leasing.put])
            self._count(change, (claim,), (created,))
        if isinstance(created, StoreError):
            with suppress(CocliError):  # a lease that cannot be given back runs out
                unwanted = self._read_one(leasing, leased)
                if unwanted is not None:
                    self.release(unwanted)
            raise created
        claim.over = True
        return self._completed(claim, created), leased

    def _give_back(
        self, claim: LeasedClaim, outcome: Literal["failed", "released"], error: TaskError | None, seconds: float
    ) -> None:
        self._replace_lease(claim, self._free_lease(claim, outcome, error, seconds))
        claim.over = True
        self._tell(_LOG, "task given back", claim.task.task_id, outcome=outcome, wait_seconds=round(seconds, 1))

    def _free_lease(
        self, claim: LeasedClaim, outcome: Literal["failed", "released"], error: TaskError | None, seconds: float
    ) -> Lease:
        now = self._store.now()
        return claim.lease.with_changes(
            worker=None,
            expires=None,
            not_before=(now + timedelta(seconds=seconds)) if seconds else None,
            error=error,
            history=(*claim.lease.history, self._attempt(claim, outcome, error))[-HISTORY:],
            finished=tuple(claim.finished.values()),
        )

    def _set_aside(
        self, claim: LeasedClaim, category: Category, reason: str, error: TaskError | None = None
    ) -> AckOutcome:
        with claim.writing, self._tally.change():  # where it is lost on the way, nobody can tell what that did
            self._make_sure(claim)
            entry = self._new_entry(claim, WhyAside(category, reason, error))
            self._sideline.add(*entry, self._store.now())
            # Only who still holds the task removes it. If we do not, the entry stays all the same: somebody may have
            # met it and removed the task on the strength of it; else its next holder does, or completes it.
            self._renew(claim)
            claim.over = True
        self._cleaner.remove(claim.folder, task_etag=claim.task_etag, lease_etag=claim.etag)
        self._tell(_LOG, "task set aside", claim.task.task_id, category=category, reason=reason)
        return AckOutcome.SIDELINED

    def _new_entry(self, claim: LeasedClaim, why: WhyAside) -> NewEntry:
        """What is kept of a task that is set aside."""
        outcome: Literal["failed", "blocked"] = "blocked" if why.category is Category.BLOCKED else "failed"
        history = (*claim.lease.history, self._attempt(claim, outcome, why.error))[-HISTORY:]
        return NewEntry(claim.task.with_changes(last_token=claim.token), why.category, why.reason, history)

    # --- looking after

    def claim_many(self, limit: int) -> list[LeasedClaim]:
        claims = super().claim_many(limit)
        self._tally.hold(claims)
        return claims

    def stats(self) -> QueueStats:
        self._cleaner.flush()
        self._tally.tell()
        return self._statistics.stats()

    def close(self) -> None:
        self._keeper.close()
        try:
            self._cleaner.flush()
        finally:
            self._tally.close()
