"""What SQS cannot keep with a message: how earlier attempts ended, and which items of a batch are done.

It is kept as a lease beside the place where the task would lie on a store (`pending/…/{id}/lease.json`), and only once
there is something to tell: a task that succeeds at once has none. The message's visibility is what holds the task; the
note makes a release not count, gives the sideline its history, and refuses a worker that another one has passed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from cocli.errors import LeaseLost, NotFound
from cocli.formats import json_records
from cocli.keys.paths import task_files
from cocli.models.lease import Lease
from cocli.models.task import Attempt
from cocli.queue.custody import HISTORY
from cocli.queue.leased.claim import LeasedClaim
from cocli.store import settled

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from cocli.models.task import Task, TaskError
    from cocli.queue.places import Places
    from cocli.queue.sqs.connection import SqsMessage
    from cocli.store.base import Store


@dataclass(slots=True)
class SqsClaim(LeasedClaim):
    """`written_at` is when its visibility was last counted anew; `etag` is that of the note, empty if there is none."""

    message: SqsMessage = field(kw_only=True)
    received_at: float = field(kw_only=True)


class Notes:
    def __init__(self, store: Store, places: Places, nonce: Callable[[], str]) -> None:
        self._store = store
        self._places = places
        self._nonce = nonce

    def read(self, task: Task) -> tuple[Lease, str] | None:
        """What was noted of a task, with the etag to swap it against."""
        key = self._key(task)
        try:
            stored = self._store.get(key)
        except NotFound:
            return None
        return json_records.read(Lease, stored.data, file=key), stored.etag

    def start(self, task: Task, receives: int, noted: Lease | None, now: datetime) -> Lease:
        """How a task stands that was received once more: its token, its attempt and its history."""
        first = Lease(
            task_id=task.task_id,
            token=task.last_token + receives,
            attempt=receives,
            recoveries=task.recoveries,
            nonce=self._nonce(),
        )
        if noted is None:
            return first
        token = max(first.token, noted.token + 1)
        if noted.recoveries != task.recoveries:
            return first.with_changes(token=token, sequence=noted.sequence)
        history = noted.history
        if noted.worker is not None:
            silent = Attempt(
                attempt=noted.attempt, token=noted.token, worker=noted.worker, ended_at=now, outcome="expired"
            )
            history = (*history, silent)[-HISTORY:]
        given_back = noted.worker is None and bool(history) and history[-1].outcome == "released"
        unnoticed = max(0, first.token - noted.token - 1)
        return noted.with_changes(
            token=token,
            attempt=noted.attempt + (not given_back) + unnoticed,
            history=history,
            worker=None,
            expires=None,
        )

    def keep_items(self, claim: SqsClaim, seconds: int) -> None:
        """Note which items of a batch are done, so that a successor does not repeat them."""
        finished = tuple(claim.finished.values())
        expires = self._store.now() + timedelta(seconds=seconds)
        self._write(
            claim, claim.lease.with_changes(worker=claim.worker, expires=expires, error=None, finished=finished)
        )
        claim.kept = len(finished)

    def give_back(self, claim: SqsClaim, attempt: Attempt, error: TaskError | None) -> None:
        """Note how this attempt ended."""
        history = (*claim.lease.history, attempt)[-HISTORY:]
        finished = tuple(claim.finished.values())
        self._write(
            claim,
            claim.lease.with_changes(worker=None, expires=None, error=error, history=history, finished=finished),
        )

    def remove(self, task: Task) -> None:
        self._store.delete(self._key(task))

    def _write(self, claim: SqsClaim, lease: Lease) -> None:
        lease = lease.with_changes(sequence=claim.lease.sequence + 1, nonce=self._nonce())
        key, data = self._key(claim.task), json_records.render(lease)
        if claim.etag:
            etag = settled.swap(self._store, key, data, claim.etag)
        else:
            etag = settled.create(self._store, key, data)
        if etag is None:
            claim.lost = True
            reason = "another worker has taken note of it meanwhile"
            raise LeaseLost(worker=claim.worker, task_id=claim.task.task_id, reason=reason)
        claim.lease, claim.etag = lease, etag

    def _key(self, task: Task) -> str:
        return task_files(self._places.folder(task.task_id))[1]
