"""The queue on any store: tasks and leases as objects, coordinated by conditional writes alone.

A task is `pending/{shard}/{id}/task.json`; claiming it creates `lease.json` beside it. The lease is replaced, never
deleted and made again, so its token only grows; it is deleted only after its task. The completion is created once.

How a worker knows that it still holds a task when it ends it: nobody may take a lease over before it is as old, by the
store's clock, as a lease lasts. A worker whose own count of seconds says that its last write is clearly younger than
that needs no request; one that overslept has to renew first, which fails if somebody else was there.
"""

from __future__ import annotations

import random
import secrets
import socket
import threading
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from cocli.errors import FormatError, InvalidKey, LeaseLost, NotFound
from cocli.formats import json_records
from cocli.models.lease import Lease
from cocli.models.task import Attempt, Task, TaskError
from cocli.paths import task_files, task_id_of
from cocli.queue.base import AckOutcome, Category, NewTask, PutOutcome, PutReport
from cocli.queue.claims import LeasedClaim
from cocli.queue.cleaning import Cleaner
from cocli.queue.discovery import Candidate, Discovery
from cocli.queue.holding import HISTORY, HoldingQueue
from cocli.queue.keeper import LeaseKeeper
from cocli.queue.places import Places
from cocli.queue.putting import Putter
from cocli.queue.runtime import ThreadRuntime
from cocli.queue.sideline import Sideline
from cocli.queue.statistics import Statistics
from cocli.store import settled
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from cocli.queue.base import QueueStats
    from cocli.queue.runtime import Runtime
    from cocli.store.base import Store

CLOCK_MARGIN = 2.0
"""Seconds by which a lease must be overdue: S3 dates its objects in whole seconds."""


def default_worker() -> str:
    return f"{socket.gethostname()}-{secrets.token_hex(3)}"


class LeasedQueue(HoldingQueue[LeasedClaim]):
    """One queue of one campaign on a store."""

    _claim_type = LeasedClaim

    def __init__(
        self,
        store: Store,
        campaign: str,
        name: str,
        *,
        worker: str | None = None,
        lease_seconds: float = 300,
        attempts: int = 5,
        margin: float = CLOCK_MARGIN,
        runtime: Runtime | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self.campaign = campaign
        self.name = name
        self.worker = worker or default_worker()
        self._store = store
        self._attempts = attempts
        self._seconds = lease_seconds
        self._margin = timedelta(seconds=margin)
        self._runtime = runtime or ThreadRuntime()
        self._random = rng or random.Random(secrets.randbits(64))  # noqa: S311 - for spreading, not for secrets
        self._lock = threading.Lock()
        self._places = Places(campaign, name)
        expiry = timedelta(seconds=lease_seconds) + self._margin
        self._discovery = Discovery(store, self._places.pending, self._random, expiry=expiry)
        self._keeper = LeaseKeeper(self._runtime, self._renew, lease_seconds=lease_seconds)
        self._cleaner = Cleaner(store, self._runtime)
        self._putter = Putter(store, self._places, campaign, name, self._nonce)
        self._sideline = Sideline(store, self._places, self._nonce, settled_after=expiry)
        self._statistics = Statistics(store, self._places, name, expiry)

    # --- putting

    def put(self, task: NewTask) -> PutOutcome:
        return self._putter.put(task)

    def put_many(self, tasks: Iterable[NewTask]) -> PutReport:
        return self._putter.put_many(tasks)

    # --- claiming

    def claim(self) -> LeasedClaim | None:
        """A task to work on, or None once everything was looked at in vain."""
        with self._lock:
            whole_round = self._discovery.between_rounds
            while True:
                candidate = self._discovery.next()
                if candidate is None:
                    if whole_round:
                        self._cleaner.flush()
                        self._sideline.tidy()
                        return None
                    whole_round = True
                    continue
                claim = self._try(candidate)
                if claim is not None and self._is_ours(claim):
                    self._discovery.won()
                    return claim

    def _try(self, candidate: Candidate) -> LeasedClaim | None:
        if self._cleaner.is_done(candidate.folder):
            return None
        if not candidate.has_task:
            self._remove_orphan(candidate.folder)
            return None
        try:
            return self._take_new(candidate.folder) if candidate.lease is None else self._take_over(candidate.folder)
        except InvalidKey:
            return None  # a folder that no task is named like: somebody else's, and not ours to touch

    def _remove_orphan(self, folder: str) -> None:
        """A lease without a task: its worker died while cleaning up, or is about to finish doing so."""
        task_key, lease_key = task_files(folder)
        lease, task = self._store.get_many([lease_key, task_key])
        if isinstance(lease, StoredObject) and isinstance(task, NotFound):
            with suppress(FormatError):  # an unreadable lease has no token to keep
                token = json_records.read(Lease, lease.data, file=lease_key).token
                self._sideline.keep_token(self._places.spot_of_folder(folder), token)
            self._cleaner.remove_lease(lease_key, lease.etag)

    def _take_new(self, folder: str) -> LeasedClaim | None:
        _, lease_key = task_files(folder)
        written_at, now = self._runtime.monotonic(), self._store.now()
        lease = self._held(Lease(task_id=task_id_of(folder), token=1, attempt=1, nonce=self._nonce()), now)
        etag = settled.create(self._store, lease_key, json_records.render(lease))
        if etag is None:
            self._discovery.lost_race()
            return None
        try:
            task, task_etag = self._read_task(folder)
        except NotFound:
            # Completed and removed since it was listed: the lease is ours and of no use.
            self._cleaner.remove_lease(lease_key, etag)
            return None
        except FormatError as error:
            self._set_aside_malformed(folder, error)
            return None
        claim = self._claim(task, lease, folder, etag, task_etag, written_at, now)
        return self._go_on_counting(claim) if task.recoveries else claim

    def _go_on_counting(self, claim: LeasedClaim) -> LeasedClaim | None:
        """A task that came back from the sideline: its tokens go on where they were."""
        lease = claim.lease.with_changes(token=claim.task.last_token + 1, recoveries=claim.task.recoveries)
        try:
            self._replace_lease(claim, lease)
        except LeaseLost:
            return None
        claim.token = lease.token
        return claim

    def _take_over(self, folder: str) -> LeasedClaim | None:
        """A task whose lease is old, or was given back: look where it ended first, then replace the lease."""
        _, lease_key = task_files(folder)
        found = self._read_both(folder, lease_key)
        if found is None:
            return None
        task, task_etag, lease, etag = found
        written_at, now = self._runtime.monotonic(), self._store.now()
        if not self._is_free(lease, now):
            return None
        if self._sideline.is_final(task):
            self._sideline.keep_token(self._places.spot(task.task_id), lease.token)
            self._cleaner.remove(folder, task_etag=task_etag, lease_etag=etag)
            return None
        mine = self._held(_successor(lease, task, now), now)
        new_etag = settled.swap(self._store, lease_key, json_records.render(mine), etag)
        if new_etag is None:
            self._discovery.lost_race()
            return None
        claim = self._claim(task, mine, folder, new_etag, task_etag, written_at, now)
        if mine.attempt > self._attempts:
            last = lease.error.message if lease.error else "its worker fell silent"
            with suppress(LeaseLost):  # then its next holder sets it aside
                self._set_aside(claim, Category.ATTEMPTS, f"{self._attempts} attempts did not finish it; last: {last}")
            return None
        return claim

    def _read_both(self, folder: str, lease_key: str) -> tuple[Task, str, Lease, str] | None:
        try:
            stored = self._store.get(lease_key)
            lease = json_records.read(Lease, stored.data, file=lease_key)
            return *self._read_task(folder), lease, stored.etag
        except NotFound:
            return None  # ended by somebody else meanwhile
        except FormatError as error:
            self._set_aside_malformed(folder, error)
            return None

    def _is_free(self, lease: Lease, now: datetime) -> bool:
        if lease.expires is not None:
            return now >= lease.expires + self._margin
        return lease.not_before is None or now >= lease.not_before

    def _read_task(self, folder: str) -> tuple[Task, str]:
        """The task and its etag."""
        task_key, _ = task_files(folder)
        stored = self._store.get(task_key)
        task = json_records.read(Task, stored.data, file=task_key)
        if self._places.folder(task.task_id) != folder:
            raise FormatError(
                file=task_key, line=1, reason=f'it holds the task "{task.task_id}", which belongs elsewhere'
            )
        return task, stored.etag

    def _claim(
        self, task: Task, lease: Lease, folder: str, etag: str, task_etag: str, written_at: float, now: datetime
    ) -> LeasedClaim:
        finished = {item.item_id: item for item in lease.finished}
        return LeasedClaim(
            task=task,
            token=lease.token,
            attempt=lease.attempt,
            worker=self.worker,
            claimed_at=now,
            finished=finished,
            kept=len(finished),
            folder=folder,
            lease=lease,
            etag=etag,
            task_etag=task_etag,
            written_at=written_at,
        )

    # --- holding

    def _renew(self, claim: LeasedClaim) -> None:
        with claim.writing:
            finished = tuple(claim.finished.values())
            renewed = self._held(claim.lease.with_changes(finished=finished), self._store.now())
            self._replace_lease(claim, renewed)
            claim.kept = len(finished)

    def _replace_lease(self, claim: LeasedClaim, lease: Lease) -> None:
        with claim.writing:
            self._check(claim)
            _, lease_key = task_files(claim.folder)
            written_at = self._runtime.monotonic()
            lease = lease.with_changes(sequence=claim.lease.sequence + 1, nonce=self._nonce())
            etag = settled.swap(self._store, lease_key, json_records.render(lease), claim.etag)
            if etag is None:
                claim.lost = True
                raise self._lost(claim, "its lease was replaced")
            claim.lease, claim.etag, claim.written_at = lease, etag, written_at

    def _held(self, lease: Lease, now: datetime) -> Lease:
        expires = now + timedelta(seconds=self._seconds)
        return lease.with_changes(worker=self.worker, expires=expires, not_before=None, error=None)

    # --- ending

    def _complete(self, claim: LeasedClaim, data: bytes, *, batch: bool) -> AckOutcome:
        key = self._places.completion(claim.task.task_id, batch=batch)
        with claim.writing:
            self._make_sure(claim)
            created = settled.create(self._store, key, data)
            claim.over = True
        if claim.task.recoveries:
            # The recovery that brought it back may have been cut off before it removed what was set aside.
            self._store.delete_many(self._places.sidelines(claim.task.task_id))
        self._cleaner.done(claim.folder)
        return AckOutcome.ALREADY_COMPLETED if created is None else AckOutcome.COMPLETED

    def _give_back(
        self, claim: LeasedClaim, outcome: Literal["failed", "released"], error: TaskError | None, seconds: float
    ) -> None:
        now = self._store.now()
        free = claim.lease.with_changes(
            worker=None,
            expires=None,
            not_before=now + timedelta(seconds=seconds) if seconds else None,
            error=error,
            history=(*claim.lease.history, self._attempt(claim, outcome, error))[-HISTORY:],
            finished=tuple(claim.finished.values()),
        )
        self._replace_lease(claim, free)
        claim.over = True

    def _set_aside(
        self, claim: LeasedClaim, category: Category, reason: str, error: TaskError | None = None
    ) -> AckOutcome:
        outcome: Literal["failed", "blocked"] = "blocked" if category is Category.BLOCKED else "failed"
        with claim.writing:
            self._make_sure(claim)
            history = (*claim.lease.history, self._attempt(claim, outcome, error))[-HISTORY:]
            task = claim.task.with_changes(last_token=claim.token)
            self._sideline.add(task, category, reason, history, self._store.now())
            # Only who still holds the task removes it. If we do not, the entry stays all the same: somebody may have
            # met it and removed the task on the strength of it; else its next holder does, or completes it.
            self._renew(claim)
            claim.over = True
        self._cleaner.remove(claim.folder, task_etag=claim.task_etag, lease_etag=claim.etag)
        return AckOutcome.SIDELINED

    def _set_aside_malformed(self, folder: str, error: FormatError) -> None:
        """A task or lease that cannot be read: kept as it is on the sideline, if it is still the same afterwards."""
        task, lease = self._store.get_many(task_files(folder))
        self._sideline.add_malformed(folder, error, self.campaign, self.name)
        if isinstance(task, StoredObject) and isinstance(lease, StoredObject):
            self._cleaner.remove(folder, task_etag=task.etag, lease_etag=lease.etag)

    # --- looking after

    def stats(self) -> QueueStats:
        self._cleaner.flush()
        return self._statistics.stats()

    def close(self) -> None:
        self._keeper.close()
        self._cleaner.flush()


def _successor(lease: Lease, task: Task, now: datetime) -> Lease:
    """The next holder's lease: a greater token, and another attempt unless the last holder gave it back unused."""
    history = lease.history
    if lease.worker is not None:
        expired = Attempt(
            attempt=lease.attempt, token=lease.token, worker=lease.worker, ended_at=now, outcome="expired"
        )
        history = (*history, expired)[-HISTORY:]
    released = lease.worker is None and bool(history) and history[-1].outcome == "released"
    attempt = lease.attempt if released else lease.attempt + 1
    if task.recoveries != lease.recoveries:
        attempt, history = 1, ()
    return lease.with_changes(
        token=max(lease.token, task.last_token) + 1,
        attempt=attempt,
        history=history,
        recoveries=task.recoveries,
        worker=None,
        expires=None,
        not_before=None,
        error=None,
        sequence=lease.sequence + 1,
        nonce=lease.nonce,
    )
