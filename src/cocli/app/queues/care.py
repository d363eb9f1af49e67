"""What a person does to one task without a worker's claim: free its lease, or set it aside.

The same protocol as a worker's. A lease is only ever replaced against its etag, and keeps its token and attempts; a
task is set aside by whoever holds its lease, so that is taken first, with the next token. A crash between any two
steps leaves what a worker's crash would leave: a lease that expires, or a task whose end is recorded already.

Nobody may take a lease over before it has expired, and workers rely on that: one whose lease was taken from it by
force notices at its next renewal, a third of a lease's length away at most. If it completes the task before,
the completion counts.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from shlex import quote
from typing import TYPE_CHECKING, Literal, TypeVar

from cocli.app.queues.queues import unknown_task
from cocli.errors import Conflict, FormatError, NotFound, QueueError
from cocli.formats import json_records
from cocli.keys.paths import task_files
from cocli.models.lease import Lease
from cocli.models.task import Attempt, Task
from cocli.queue.base import Category
from cocli.queue.leased.queue import CLOCK_MARGIN, default_worker
from cocli.queue.leased.sideline import Sideline
from cocli.queue.leased.tally import doubted
from cocli.store import settled
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from cocli.app.queues.queues import QueueOnStore

_Kind = TypeVar("_Kind", Task, Lease)
_HOLD_SECONDS = 60
_TRIES = 5
_HISTORY = 20
_Held = tuple[Lease, str]


@dataclass(frozen=True, slots=True)
class CareOutcome:
    """What was done to a task. `worker` is who held it before."""

    task_id: str
    status: str
    worker: str | None = None
    token: int | None = None
    attempt: int | None = None
    until: datetime | None = None
    """Until when a free task still waits."""


class TaskCare:
    def __init__(self, place: QueueOnStore) -> None:
        self._place = place
        self._store = place.store
        self._places = place.places
        hold = timedelta(seconds=_HOLD_SECONDS)
        self._sideline = Sideline(place.store, place.places, _nonce, settled_after=hold)
        self._name = f"by-hand-{default_worker()}"

    def release(self, task_id: str, *, force: bool = False) -> CareOutcome:
        """Free an expired lease now, or with `force` any; and with `force` end a wait after a failure."""
        folder = self._places.folder(task_id)
        for _ in range(_TRIES):
            if self._task(folder) is None:
                return self._ended(task_id)
            found = self._lease(folder)
            if found is None:
                return CareOutcome(task_id, "already_free")
            lease, etag = found
            now = self._store.now()
            waits = lease.not_before is not None and lease.not_before > now
            if not lease.held and not (waits and force):
                return _cared("already_free", lease, until=lease.not_before if waits else None)
            self._refuse_if_alive(lease, now, force=force, verb="release")
            free = _replacement(lease, history=_with_interruption(lease, now))
            if settled.swap(self._store, task_files(folder)[1], json_records.render(free), etag) is not None:
                return _cared("released", lease)
        raise Conflict(key=task_files(folder)[1])

    def take_from(self, folder: str, is_theirs: Callable[[str], bool]) -> Lease | None:
        """Free a lease under the next token, if one of theirs holds it: what they end later is not theirs to end.

        The lease as it was before, or None where somebody else holds it, or nobody."""
        lease_key = task_files(folder)[1]
        for _ in range(_TRIES):
            found = self._lease(folder)
            if found is None:
                return None
            lease, etag = found
            if lease.worker is None or not is_theirs(lease.worker):
                return None
            history = _with_interruption(lease, self._store.now())
            free = _replacement(lease, history=history, token=lease.token + 1)
            if settled.swap(self._store, lease_key, json_records.render(free), etag) is not None:
                return lease
        raise Conflict(key=lease_key)

    def sideline(self, task_id: str, reason: str, *, force: bool = False) -> CareOutcome:
        """Set a pending task aside in the category `manual`."""
        folder = self._places.folder(task_id)
        for _ in range(_TRIES):
            task = self._task(folder)
            if task is None:
                return self._ended(task_id)
            before = self._lease(folder)
            mine = self._take(folder, task, before, force=force)
            if mine is not None:
                return self._set_aside(task_id, mine, reason, before[0] if before else None)
        raise Conflict(key=task_files(folder)[1])

    def _take(self, folder: str, task: Task, before: _Held | None, *, force: bool) -> _Held | None:
        """Hold the task's lease, under the next token; None if somebody else was quicker."""
        lease_key = task_files(folder)[1]
        now = self._store.now()
        held = {"worker": self._name, "expires": now + timedelta(seconds=_HOLD_SECONDS)}
        if before is None:
            token, lives = task.last_token + 1, task.recoveries
            first = Lease(task_id=task.task_id, token=token, attempt=1, recoveries=lives, nonce=_nonce())
            mine = first.with_changes(**held)
            created = settled.create(self._store, lease_key, json_records.render(mine))
            if created is None:
                return None
            return (mine, created)
        lease, etag = before
        self._refuse_if_alive(lease, now, force=force, verb="sideline")
        history = _with_interruption(lease, now)
        token = max(lease.token, task.last_token) + 1
        mine = _replacement(lease, history=history, token=token, **held)
        swapped = settled.swap(self._store, lease_key, json_records.render(mine), etag)
        if swapped is None:
            return None
        return (mine, swapped)

    def _set_aside(self, task_id: str, held: _Held, reason: str, before: Lease | None) -> CareOutcome:
        """The lease is ours: the end is recorded first, then the task goes, then its lease."""
        mine, etag = held
        folder = self._places.folder(task_id)
        task_key, lease_key = task_files(folder)
        task = self._task(folder)
        if task is None:  # completed and removed between our look at it and our lease
            self._drop_lease(lease_key, etag)
            return self._ended(task_id)
        if self._sideline.is_final(task):
            done = self._ended(task_id)
        else:
            last = task.with_changes(last_token=mine.token)
            with doubted(self._store, self._place.campaign, self._place.name):
                self._sideline.add(last, Category.MANUAL, reason, mine.history, self._store.now())
            done = _cared("sidelined", before) if before else CareOutcome(task_id, "sidelined")
        self._store.delete(task_key)
        self._drop_lease(lease_key, etag)
        return done

    def _drop_lease(self, lease_key: str, etag: str) -> None:
        with suppress(Conflict):  # we were so slow that somebody took it over: then it is theirs
            self._store.delete(lease_key, if_match=etag)

    def _refuse_if_alive(self, lease: Lease, now: datetime, *, force: bool, verb: str) -> None:
        if force or lease.expires is None or now >= lease.expires + timedelta(seconds=CLOCK_MARGIN):
            return
        queue, campaign = self._place.name, self._place.campaign
        raise QueueError(
            queue=queue,
            reason=f"{lease.worker} works on {lease.task_id}; its lease lasts until {lease.expires:%H:%M:%S}Z",
            hint=f"Wait for it, or repeat it with --force: cocli queue {verb} {queue} {quote(lease.task_id)} --force"
            f" -c {campaign}",
            task_id=lease.task_id,
            worker=lease.worker,
        )

    def _ended(self, task_id: str) -> CareOutcome:
        """A task that is not pending: where it is instead."""
        completions = self._places.completions(task_id)
        for answer in self._store.get_many([*completions, *self._places.sidelines(task_id)]):
            if isinstance(answer, StoredObject):
                return CareOutcome(task_id, "already_completed" if answer.key in completions else "already_sidelined")
            if not isinstance(answer, NotFound):
                raise answer
        raise unknown_task(self._place.campaign, self._place.name, task_id)

    def _task(self, folder: str) -> Task | None:
        found = self._read(task_files(folder)[0])
        if found:
            return self._parsed(Task, found)
        return None

    def _lease(self, folder: str) -> _Held | None:
        found = self._read(task_files(folder)[1])
        if found:
            return (self._parsed(Lease, found), found.etag)
        return None

    def _read(self, key: str) -> StoredObject | None:
        try:
            return self._store.get(key)
        except NotFound:
            return None

    def _parsed(self, model: type[_Kind], stored: StoredObject) -> _Kind:
        try:
            return json_records.read(model, stored.data, file=stored.key)
        except FormatError as error:
            hint = f"Look at it with: cocli store cat {stored.key}; a worker that meets it sets it aside as malformed."
            raise FormatError(hint=hint, **error.details) from error


def _nonce() -> str:
    return secrets.token_hex(12)


def _replacement(lease: Lease, **changes: object) -> Lease:
    """The next version of a lease: free, unless the changes say who holds it."""
    fresh: dict[str, object] = {"worker": None, "expires": None, "not_before": None}
    return lease.with_changes(**{**fresh, **changes, "sequence": lease.sequence + 1, "nonce": _nonce()})


def _with_interruption(lease: Lease, now: datetime) -> tuple[Attempt, ...]:
    """The attempts so far. One that expired counts; one that a person cut short does not."""
    if lease.worker is None or lease.expires is None:
        return lease.history
    outcome: Literal["expired", "released"] = "released"
    if now >= lease.expires:
        outcome = "expired"
    cut = Attempt(attempt=lease.attempt, token=lease.token, worker=lease.worker, ended_at=now, outcome=outcome)
    return (*lease.history, cut)[-_HISTORY:]


def _cared(status: str, before: Lease, until: datetime | None = None) -> CareOutcome:
    return CareOutcome(before.task_id, status, before.worker, before.token, before.attempt, until)
