"""Puts tasks into SQS, and not again after they have ended.

What waits in SQS cannot be looked up, so a task that is put twice may be carried twice. What this process put in the
last minutes is remembered; the rest is settled by the completion, which is created once.
"""

from __future__ import annotations

import threading
from collections import Counter
from itertools import chain, islice
from typing import TYPE_CHECKING

from cocli.queue.base import NewTask, PutOutcome, PutReport
from cocli.queue.leased.submission import Putter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cocli.queue.places import Places
    from cocli.queue.runtime import Runtime
    from cocli.queue.sqs.messages import Outbox
    from cocli.store.base import Store

_FEW = 20
"""Up to here a look for each task is cheaper than a listing of what has ended."""
_REMEMBERED_SECONDS = 300.0
"""As long as a FIFO queue of SQS remembers. Not longer: a queue can be purged, and a message can grow too old."""


class SqsPutter(Putter):
    """The store's putter, with messages instead of objects."""

    def __init__(
        self,
        store: Store,
        places: Places,
        campaign: str,
        queue: str,
        nonce: Callable[[], str],
        *,
        outbox: Outbox,
        runtime: Runtime,
    ) -> None:
        super().__init__(store, places, campaign, queue, nonce)
        self._outbox = outbox
        self._runtime = runtime
        self._lock = threading.Lock()
        self._sent: dict[str, float] = {}
        """When each task was sent, oldest first."""

    def put(self, new: NewTask) -> PutOutcome:
        return self._ended(new.task_id) or self._create([new])[0]

    def put_many(self, tasks: Iterable[NewTask]) -> PutReport:
        """Few tasks share requests as well: each is looked up by itself, and what has not ended is sent together."""
        remaining = iter(tasks)
        first = list(islice(remaining, _FEW))
        if len(first) == _FEW:
            return super().put_many(chain(first, remaining))
        ended = [self._ended(task.task_id) for task in first]
        sent = self._create([task for task, end in zip(first, ended, strict=True) if end is None])
        return PutReport(Counter([*filter(None, ended), *sent]))

    def _create(self, tasks: list[NewTask]) -> list[PutOutcome]:
        fresh: dict[str, NewTask] = {}
        outcomes = []
        with self._lock:
            self._forget_old()
            for task in tasks:
                known = task.task_id in fresh or task.task_id in self._sent
                outcomes.append(PutOutcome.ALREADY_PENDING if known else PutOutcome.QUEUED)
                if not known:
                    fresh[task.task_id] = task
            created_at = self._store.now()
            self._outbox.send((task_id, self._render(task, created_at)) for task_id, task in fresh.items())
            now = self._runtime.monotonic()
            self._sent.update(dict.fromkeys(fresh, now))
        return outcomes

    def _forget_old(self) -> None:
        before = self._runtime.monotonic() - _REMEMBERED_SECONDS
        while self._sent:
            oldest = next(iter(self._sent))
            if self._sent[oldest] > before:
                return
            del self._sent[oldest]
