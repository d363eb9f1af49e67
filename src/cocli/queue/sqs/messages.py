"""Tasks as messages of SQS: the task's record as JSON, in as few requests as fit."""

from __future__ import annotations

import random
import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import CocliError, FormatError, InvalidKey, QueueError, StoreError, Unavailable
from cocli.formats import json_records
from cocli.models.task import Task
from cocli.queue.sqs.connection import BATCH
from cocli.retries import Backoff, call_again
from cocli.store.base import Put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cocli.queue.places import Places
    from cocli.queue.sqs.connection import SqsConnection, SqsMessage
    from cocli.store.base import Store

_LOG = logs.get_logger(__name__)

LARGEST = 1 << 20
"""Bytes of a message, and of a request: what SQS allows; a queue may be set to less."""
_LEAST_REQUEST = 1 << 18
_SENDERS = 8
_TRIES = 5
_BACKOFF = Backoff(first=0.2)


def body_of(record: bytes) -> str:
    """A rendered task as the text of a message: two characters that JSON allows and SQS does not are escaped."""
    return record.decode().rstrip("\n").replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")


def task_of(message: SqsMessage, places: Places, campaign: str, queue: str) -> Task:
    """The task in a message. `FormatError` where there is none, or one that belongs elsewhere."""
    file = f"message {message.message_id}"
    task = json_records.read(Task, message.body.encode("utf-8", "backslashreplace"), file=file)
    if (task.campaign, task.queue) != (campaign, queue):
        reason = f"it belongs to the queue {task.queue} of the campaign {task.campaign}"
        raise FormatError(file=file, line=1, reason=reason)
    try:
        places.folder(task.task_id)
    except InvalidKey as error:
        raise FormatError(file=file, line=1, reason=error.message) from error
    return task


class _NotTaken(Exception):
    """SQS did not take some messages, for a reason of its own."""


class Outbox:
    """Sends messages in batches; what a batch did not take is sent again, entry by entry."""

    def __init__(self, connection: SqsConnection, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._connection = connection
        self._sleep = sleep
        self._random = random.Random(secrets.randbits(64))  # noqa: S311 - spreads waits, hides nothing
        self._limit: int | None = None

    def send(self, records: Iterable[tuple[str, bytes]]) -> None:
        """Send the rendered tasks under their ids. Nothing is sent if one of them is too large."""
        bodies = [self._checked(task_id, body_of(record)) for task_id, record in records]
        batches = list(self._batches(bodies))
        if len(batches) < 2:
            for batch in batches:
                self._send(batch)
            return
        with ThreadPoolExecutor(_SENDERS) as pool:
            list(pool.map(self._send, batches))

    def forget(self, task_id: str) -> None:
        """A task has ended: what is kept of it while it waits may go. Nothing is, here."""

    def _send(self, bodies: list[str]) -> None:
        left = bodies

        def attempt() -> None:
            nonlocal left
            refused = self._connection.send(left)
            for entry in refused:
                if entry.ours:
                    raise QueueError(queue=self._connection.queue_name, reason=f"a message was refused: {entry.reason}")
            left = [left[entry.position] for entry in refused]
            if left:
                _LOG.warning("%d messages were not taken: %s", len(left), refused[0].reason)
                raise _NotTaken(refused[0].reason)

        try:
            call_again(
                attempt,
                retryable=lambda error: isinstance(error, _NotTaken),
                attempts=_TRIES,
                wait=_BACKOFF.waits(self._random),
                sleep=self._sleep,
            )
        except _NotTaken as error:
            reason = f"{len(left)} messages were not taken, tried {_TRIES} times; last: {error}"
            raise Unavailable(address=f"{self._connection.queue_name} (SQS)", reason=reason) from error

    def _batches(self, bodies: list[str]) -> Iterator[list[str]]:
        most = max(self._message_limit(), _LEAST_REQUEST)
        batch: list[str] = []
        size = 0
        for body in bodies:
            length = len(body.encode())
            if batch and (len(batch) == BATCH or size + length > most):
                yield batch
                batch, size = [], 0
            batch.append(body)
            size += length
        if batch:
            yield batch

    def _checked(self, task_id: str, body: str) -> str:
        size, limit = len(body.encode()), self._message_limit()
        if size <= limit:
            return body
        raise QueueError(
            queue=self._connection.queue_name,
            reason=f'task "{task_id}" takes {size} bytes as a message, and this queue allows {limit}',
            hint="Put less into the task (a reference to a document, smaller batches of items), or raise the queue's "
            f"MaximumMessageSize (at most {LARGEST}).",
        )

    def _message_limit(self) -> int:
        if self._limit is None:
            self._limit = self._connection.numbers("MaximumMessageSize")[0] or LARGEST
        return self._limit


class ListedOutbox(Outbox):
    """Leaves a copy of what it sends in the store, for those who want to see what waits."""

    def __init__(self, connection: SqsConnection, store: Store, places: Places) -> None:
        super().__init__(connection)
        self._store = store
        self._places = places

    def send(self, records: Iterable[tuple[str, bytes]]) -> None:
        """The copies first: what is sent may have been done a moment later."""
        records = list(records)
        copies = [Put(self._places.task(task_id), record) for task_id, record in records]
        try:
            for answer in self._store.put_many(copies):
                if isinstance(answer, StoreError):
                    raise answer
            super().send(records)
        except CocliError:
            self._store.delete_many([copy.key for copy in copies])
            raise

    def forget(self, task_id: str) -> None:
        self._store.delete(self._places.task(task_id))
