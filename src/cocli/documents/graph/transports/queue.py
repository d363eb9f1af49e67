"""References in our own queues: one queue per node and cluster, one task per reference."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cocli import logs
from cocli.documents.graph.transports.base import require_a_road
from cocli.errors import CocliError
from cocli.models.completion import Failed, Ok
from cocli.queue.base import NewTask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pydantic import JsonValue

    from cocli.documents.graph.destination import Destination
    from cocli.documents.graph.transports.base import NodeMessage
    from cocli.models.document import DocumentReference
    from cocli.models.task import TaskError
    from cocli.queue.base import Claim, Queue, Work

_POLL_SECONDS = 0.2


class QueueDelivery:
    """A claim, as the worker of a node sees it."""

    def __init__(self, queue: Queue, claim: Claim, work: Work) -> None:
        self._queue = queue
        self._claim = claim
        self._work = work

    @property
    def message_id(self) -> str:
        return self._claim.task.task_id

    @property
    def reference(self) -> DocumentReference | None:
        return self._claim.task.document

    @property
    def problem(self) -> str | None:
        return None if self._claim.task.document else "the task has no reference to a document"

    @property
    def attempt(self) -> int:
        return self._claim.attempt

    def check(self) -> None:
        self._work.check()

    def done(self, result: Mapping[str, JsonValue]) -> None:
        self._queue.ack(self._claim, Ok(result=dict(result)))

    def retry(self, error: TaskError) -> None:
        """The queue's own backoff; after its last attempt the task is set aside there."""
        self._queue.ack(self._claim, Failed(error=error.model_copy(update={"retryable": True})))

    def reject(self, error: TaskError) -> None:
        self._queue.ack(self._claim, Failed(error=error.model_copy(update={"retryable": False})))

    def release(self) -> None:
        self._queue.release(self._claim)


class QueueConsumer:
    def __init__(self, queue: Queue, *, clock: Callable[[], float], sleep: Callable[[float], None]) -> None:
        self._queue = queue
        self._clock = clock
        self._sleep = sleep

    @contextmanager
    def receive(self, timeout: float) -> Iterator[QueueDelivery | None]:
        claim = self._wait(timeout)
        if claim is None:
            yield None
            return
        task = claim.task
        with logs.bound(campaign=task.campaign, queue=task.queue, task=task.task_id), self._queue.held(claim) as work:
            yield QueueDelivery(self._queue, claim, work)

    def _wait(self, timeout: float) -> Claim | None:
        until = self._clock() + timeout
        while (claim := self._queue.claim()) is None and (left := until - self._clock()) > 0:
            self._sleep(min(_POLL_SECONDS, left))
        return claim

    def close(self) -> None:
        self._queue.close()


class QueueTransport:
    """`open_queue` gives the queue of a name: `LeasedQueue` on a store, or whatever the configuration says."""

    def __init__(
        self,
        open_queue: Callable[[str], Queue],
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._open = open_queue
        self._queues: dict[str, Queue] = {}
        self._clock = clock
        self._sleep = sleep

    def publish(self, messages: Sequence[NodeMessage]) -> Mapping[str, CocliError]:
        by_queue: dict[str, list[NewTask]] = {}
        for message in messages:
            by_queue.setdefault(message.destination.queue, []).append(_task(message))
        failed: dict[str, CocliError] = {}
        for name, tasks in by_queue.items():
            try:
                self._queue(name).put_many(tasks)
            except CocliError as error:  # of this queue: the others are tried all the same
                failed |= {task.task_id: error for task in tasks}
        return require_a_road(failed, len(messages))

    def consumer(self, destination: Destination) -> QueueConsumer:
        """With a queue of its own: what a queue remembers of its listings serves one worker."""
        return QueueConsumer(self._open(destination.queue), clock=self._clock, sleep=self._sleep)

    def close(self) -> None:
        for queue in self._queues.values():
            queue.close()

    def _queue(self, name: str) -> Queue:
        if name not in self._queues:
            self._queues[name] = self._open(name)
        return self._queues[name]


def _task(message: NodeMessage) -> NewTask:
    return NewTask(message.message_id, {"destination": str(message.destination)}, message.reference)
