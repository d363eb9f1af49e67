"""The claiming half of the queue on a store: new tasks, expired leases, and what is met on the way.

A lease is created first and its task read afterwards, never the other way round: a task that was read before may have
been completed and removed since, lease and all. Several tasks are leased side by side and then read side by side.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from cocli import logs
from cocli.errors import CocliError, FormatError, InvalidKey, LeaseLost, NotFound, StoreError
from cocli.formats import json_records
from cocli.formats.json_form import JsonForm
from cocli.formats.moment_text import moment_texts
from cocli.keys.paths import task_files, task_id_of
from cocli.models.lease import Lease
from cocli.models.task import Attempt
from cocli.queue.base import Category
from cocli.queue.custody import HISTORY, RENEWALS, HoldingQueue
from cocli.queue.leased.claim import LeasedClaim
from cocli.store import settled
from cocli.store.base import Put, StoredObject

if TYPE_CHECKING:
    import threading
    from abc import abstractmethod
    from collections.abc import Callable, Sequence

    from cocli.formats.task_form import TaskForm
    from cocli.models.task import Task
    from cocli.queue.leased.discovery import Discovery, TaskCandidate
    from cocli.queue.leased.leftovers import Leftovers
    from cocli.queue.leased.removal import Cleaner
    from cocli.queue.places import Places

_LOG = logs.get_logger(__name__)

LOST_WORKER = "unknown (power cut)"
"""Who held a task whose lease was left in halves."""


class Leasing(NamedTuple):
    """A lease that is about to be created. `written_at` and `now` are from before: it is younger than they say."""

    folder: str
    task_id: str
    task_key: str
    put: Put
    written_at: float
    now: datetime


class ClaimingQueue(HoldingQueue[LeasedClaim]):
    """How a worker comes by a claim."""

    _claim_type = LeasedClaim
    _lock: threading.Lock
    """For what is remembered between claims, not while leases are written: threads do not wait in line for that."""
    _margin: timedelta
    _length: timedelta
    """Of a lease."""
    _task_form: TaskForm
    _places: Places
    _discovery: Discovery
    _cleaner: Cleaner
    _leftovers: Leftovers

    if TYPE_CHECKING:

        @abstractmethod
        def _replace_lease(self, claim: LeasedClaim, lease: Lease) -> None: ...

    def claim(self) -> LeasedClaim | None:
        """A task to work on, or None if a whole round of the queue gave nothing."""
        return next(iter(self.claim_many(1)), None)

    def claim_many(self, limit: int) -> list[LeasedClaim]:
        """Up to so many tasks, each under a lease of its own; none if a whole round gave nothing."""
        self._gate()
        # Gathering may take longer than a lease lasts: then some, or all, are somebody else's by now. A store that is
        # so slow is not asked again at once.
        return self._still_ours(self._gather(limit))

    def _gather(self, limit: int) -> list[LeasedClaim]:
        claims: list[LeasedClaim] = []
        with self._lock:
            whole_round = self._discovery.between_rounds
        while len(claims) < limit:
            candidates, ended = self._candidates(limit - len(claims))
            try:
                claims += self._take(candidates)
            except StoreError:
                if not claims:
                    raise
                break  # what was found is not given up because of the rest; the next claim meets the error again
            if not ended:
                continue
            if claims:
                break  # what was found does not wait for another round
            if whole_round:
                self._cleaner.flush()
                with self._lock:
                    self._sideline.tidy()
                break
            whole_round = True
        return claims

    def _candidates(self, limit: int) -> tuple[list[TaskCandidate], bool]:
        """The next tasks to try, and whether they are the last of a round."""
        found: list[TaskCandidate] = []
        with self._lock:
            while len(found) < limit:
                candidate = self._discovery.next()
                if candidate is None:
                    return found, True
                found.append(candidate)
        return found, False

    def _take(self, candidates: list[TaskCandidate]) -> list[LeasedClaim]:
        """What can be had of them: new ones side by side, the others one after the other."""
        fresh: list[TaskCandidate] = []
        others = candidates
        if len(candidates) > 1:
            fresh = [candidate for candidate in candidates if candidate.is_new]
            others = [candidate for candidate in candidates if not candidate.is_new]
        claims = [claim for candidate in others if (claim := self._try(candidate)) is not None]
        if fresh:
            written_at, now = self._runtime.monotonic(), self._store.now()  # one look at the clocks for all of them
            all_leasings = [self._leasing(candidate.folder, written_at, now) for candidate in fresh]
            leasings = [leasing for leasing in all_leasings if leasing is not None]
            created = settled.create_many(self._store, [leasing.put for leasing in leasings])
            claims += self._read_leased(leasings, created)
        if claims:
            with self._lock:
                self._discovery.won()
        return claims

    def _lost_race(self, task_id: str) -> None:
        self._tell(_LOG, "claim lost: somebody else was faster", task_id)
        with self._lock:
            self._discovery.lost_race()

    def _still_ours(self, claims: list[LeasedClaim]) -> list[LeasedClaim]:
        lost = self._make_all_sure(claims)
        return [claim for claim in claims if claim.folder not in lost]

    def _make_all_sure(self, claims: list[LeasedClaim]) -> dict[str, CocliError]:
        """Those that are not ours any more, by their folders. Making sure of one must not make another too old."""
        lost: dict[str, CocliError] = {}
        for _ in range(RENEWALS):
            renewed = False
            for claim in claims:
                if claim.folder not in lost:
                    before = claim.written_at
                    try:
                        self._make_sure(claim)
                    except (LeaseLost, StoreError) as error:
                        lost[claim.folder] = error
                    renewed = renewed or claim.written_at != before
            if not renewed:
                return lost
        return lost | {claim.folder: self._lost(claim, "the store is slower than leases run out") for claim in claims}

    def _try(self, candidate: TaskCandidate) -> LeasedClaim | None:
        if candidate.is_new:
            leasing = self._leasing(candidate.folder, self._runtime.monotonic(), self._store.now())
            return None if leasing is None else self._take_new(leasing)
        if self._cleaner.is_done(candidate.folder):
            return None
        if not candidate.has_task:
            if self._leftovers.remove(candidate.folder):
                self._tell(_LOG, "lease without a task removed", self._places.spot_of_folder(candidate.folder))
            return None
        try:
            return self._take_over(candidate.folder)
        except InvalidKey:
            return None  # a folder that no task is named like: somebody else's, and not ours to touch

    # --- tasks that nobody has had

    def _leasing(self, folder: str, written_at: float, now: datetime) -> Leasing | None:
        """The first lease of a task; None if there is nothing to lease. The times are from before it is written."""
        if self._cleaner.is_done(folder):
            return None
        try:
            task_id = task_id_of(folder)
        except InvalidKey:
            return None  # a folder that no task is named like: somebody else's, and not ours to touch
        task_key, lease_key = task_files(folder)
        data = self._first_lease.fill(
            self._expiry_text(now + self._length), f'"{self._nonce()}"', json_records.text(task_id)
        )
        put = Put(lease_key, data, True, None, False)  # created, and a power cut may undo it
        return Leasing(folder, task_id, task_key, put, written_at, now)

    @cached_property
    def _expiry_text(self) -> Callable[[datetime], str]:
        return moment_texts()

    @cached_property
    def _first_lease(self) -> JsonForm:
        """The lease of a task that nobody has had."""
        nobody = datetime.min.replace(tzinfo=UTC)
        example = Lease(task_id="…", token=1, attempt=1, worker=self.worker, expires=nobody, nonce=self.NO_NONCE)
        return JsonForm(example, "expires", "nonce", "task_id")

    def _take_new(self, leasing: Leasing) -> LeasedClaim | None:
        (created,) = settled.create_many(self._store, [leasing.put])
        return self._read_one(leasing, created)

    def _read_one(self, leasing: Leasing, created: str | StoreError | None) -> LeasedClaim | None:
        """Its lease has been asked for: read the task if we got it."""
        if created is None:
            self._lost_race(leasing.task_id)
            return None
        if isinstance(created, StoreError):
            raise created
        try:
            stored: StoredObject | StoreError = self._store.get(leasing.task_key)
        except StoreError as error:
            stored = error
        return self._leased(leasing, created, stored)

    def _read_leased(self, leasings: list[Leasing], answers: Sequence[str | StoreError | None]) -> list[LeasedClaim]:
        """Their leases have been asked for: read the tasks of those that we got."""
        won: list[tuple[Leasing, str]] = []
        failures: list[StoreError] = []
        for leasing, created in zip(leasings, answers, strict=True):
            if isinstance(created, str):
                won.append((leasing, created))
            elif created is None:
                self._lost_race(leasing.task_id)
            else:
                failures.append(created)
        if not won:
            stored: Sequence[StoredObject | StoreError] = ()
        else:
            stored = self._store.get_many([leasing.task_key for leasing, _ in won])
        claims: list[LeasedClaim] = []
        for (leasing, etag), task in zip(won, stored, strict=True):
            try:
                claim = self._leased(leasing, etag, task)
            except StoreError as error:
                failures.append(error)  # its lease runs out, and somebody takes it over
            else:
                if claim is not None:
                    claims.append(claim)
        if failures and not claims:
            raise failures[0]
        return claims

    def _leased(self, leasing: Leasing, etag: str, stored: StoredObject | StoreError) -> LeasedClaim | None:
        """The lease is ours; `stored` is the task as it was read after that."""
        try:
            task, task_etag = self._task_in(leasing.folder, stored, leasing.task_id)
        except NotFound:
            # Completed and removed since it was listed: the lease is ours and of no use.
            self._tell(_LOG, "lease given up: the task ended since it was listed", leasing.task_id)
            self._cleaner.remove_lease(leasing.put.key, etag)
            with self._lock:
                self._discovery.gone()
            return None
        except FormatError as error:
            self._set_aside_malformed(leasing.folder, error)
            return None
        claim = LeasedClaim(
            task=task,
            token=1,
            attempt=1,
            worker=self.worker,
            claimed_at=leasing.now,
            folder=leasing.folder,
            written=leasing.put.data,
            etag=etag,
            task_etag=task_etag,
            written_at=leasing.written_at,
        )
        if _LOG.isEnabledFor(logging.DEBUG):  # looked at here as well: this is done for every task
            self._tell(_LOG, "claim won", task.task_id, token=claim.token, attempt=claim.attempt)
        # Also a task that somebody moved back by hand: nobody counted that as a recovery.
        return self._go_on_counting(claim) if task.recoveries or task.last_token else claim

    def _go_on_counting(self, claim: LeasedClaim) -> LeasedClaim | None:
        """A task that came back from the sideline: its tokens go on where they were."""
        lease = claim.lease.with_changes(token=claim.task.last_token + 1, recoveries=claim.task.recoveries)
        try:
            self._replace_lease(claim, lease)
        except LeaseLost:
            return None
        claim.token = lease.token
        return claim

    # --- tasks that somebody had

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
            self._tell(_LOG, "task removed: it had ended", task.task_id)
            self._sideline.keep_token(self._places.spot(task.task_id), lease.token)
            self._cleaner.remove(folder, task_etag=task_etag, lease_etag=etag)
            return None
        mine = self._held(_successor(lease, task, now), now)
        new_etag = settled.swap(self._store, lease_key, json_records.render(mine), etag)
        if new_etag is None:
            self._lost_race(task.task_id)
            return None
        claim = self._claim(task, mine, folder, new_etag, task_etag, written_at, now)
        self._tell(_LOG, "claim taken over", task.task_id, token=mine.token, attempt=mine.attempt, held_by=lease.worker)
        if mine.attempt > self._attempts:
            last = lease.error.message if lease.error else "its worker fell silent"
            with suppress(LeaseLost):  # then its next holder sets it aside
                self._set_aside(claim, Category.ATTEMPTS, f"{self._attempts} attempts did not finish it; last: {last}")
            return None
        return claim

    def _read_both(self, folder: str, lease_key: str) -> tuple[Task, str, Lease, str] | None:
        try:
            stored = self._store.get(lease_key)
            lease = self._lease_in(folder, stored)
            return *self._task_in(folder, self._store.get(task_files(folder)[0])), lease, stored.etag
        except NotFound:
            return None  # ended by somebody else meanwhile
        except FormatError as error:
            self._set_aside_malformed(folder, error)
            return None

    def _lease_in(self, folder: str, stored: StoredObject) -> Lease:
        """The lease, or what stands for one that a power cut left in halves. That was the first of its task, because
        no other is written without waiting for the disk: so its token was 1, and its holder is gone."""
        if stored.data.endswith(json_records.END):
            return json_records.read(Lease, stored.data, file=stored.key)
        return Lease(
            task_id=task_id_of(folder),
            token=1,
            attempt=1,
            worker=LOST_WORKER,
            expires=stored.modified + self._length,
            nonce=self.NO_NONCE,
        )

    def _is_free(self, lease: Lease, now: datetime) -> bool:
        if lease.expires is not None:
            return now >= lease.expires + self._margin
        return lease.not_before is None or now >= lease.not_before

    # --- what both share

    def _task_in(self, folder: str, stored: StoredObject | StoreError, named: str = "") -> tuple[Task, str]:
        """The task and its etag. `named` is the id that the folder is named by, where it was read already."""
        if isinstance(stored, StoreError):
            raise stored
        task = self._task_form.read(stored.data, file=stored.key)
        task_id = task.task_id
        is_here = self._places.is_in_its_shard(folder, task_id) if task_id == named else False
        if not is_here and self._places.folder(task_id) != folder:
            raise FormatError(
                file=stored.key, line=1, reason=f'it holds the task "{task.task_id}", which belongs elsewhere'
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
            written=lease,
            etag=etag,
            task_etag=task_etag,
            written_at=written_at,
        )

    def _held(self, lease: Lease, now: datetime) -> Lease:
        return lease.with_changes(worker=self.worker, expires=self._expiry(now), not_before=None, error=None)

    def _expiry(self, now: datetime) -> datetime:
        return now + self._length

    def _set_aside_malformed(self, folder: str, error: FormatError) -> None:
        """A task or lease that cannot be read: kept as it is on the sideline, if it is still the same afterwards."""
        extra = {"campaign": self.campaign, "queue": self.name, "task": self._places.spot_of_folder(folder)}
        _LOG.warning("a task or its lease cannot be read and is set aside: %s", error.message, extra=extra)
        task, lease = self._store.get_many(task_files(folder))
        self._sideline.add_malformed(folder, error, self.campaign, self.name)
        if isinstance(task, StoredObject) and isinstance(lease, StoredObject):
            self._cleaner.remove(folder, task_etag=task.etag, lease_etag=lease.etag)


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
