"""Puts tasks into a queue on a store: once, and not again after they have ended."""

from __future__ import annotations

import logging
from collections import Counter
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import AlreadyExists, NotFound, StoreError
from cocli.formats import json_records
from cocli.models.task import Task
from cocli.queue.base import NewTask, PutOutcome, PutReport
from cocli.queue.leased.ended import EndedTasks
from cocli.queue.leased.tally import NoTally
from cocli.store import settled
from cocli.store.base import Put, StoredObject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from cocli.queue.places import Places
    from cocli.store.base import Store

_LOG = logs.get_logger(__name__)

_AT_ONCE = timedelta(seconds=0.5)
"""What was looked at so shortly before has not ended since."""
_CHUNK = 5000
_LOOKED_UP = 500
"""Fewer, where each is looked for: what was looked for is to be put at once."""
_LIST_FROM = 20
"""From this many tasks on, what has ended is listed, if it is little."""


class Putter:
    def __init__(
        self,
        store: Store,
        places: Places,
        campaign: str,
        queue: str,
        nonce: Callable[[], str],
        tally: NoTally | None = None,
    ) -> None:
        self._tally = tally or NoTally()
        self._store = store
        self._places = places
        self._campaign = campaign
        self._queue = queue
        self._nonce = nonce

    def put(self, new: NewTask) -> PutOutcome:
        looked_at = self._store.now()
        ended = self._ended(new.task_id)
        if ended is not None:
            return ended
        with self._tally.change() as change:
            outcome = self._create_one(self._places.task(new.task_id), self._render(new, self._store.now()))
            change.put(outcome is PutOutcome.QUEUED)
            if self._store.now() - looked_at > _AT_ONCE:
                change.doubt()  # it may have ended since, and then it does not wait
        return outcome

    def put_many(self, tasks: Iterable[NewTask]) -> PutReport:
        counts: Counter[PutOutcome] = Counter()
        remaining = iter(tasks)
        first = list(islice(remaining, _LIST_FROM))
        if len(first) < _LIST_FROM:
            counts.update(self.put(task) for task in first)
            return self._report(counts)
        ended = EndedTasks(self._store, self._places)
        chunk = first + list(islice(remaining, _LOOKED_UP))
        while chunk:
            counts.update(self._put_chunk(chunk, ended, is_first=set(counts) <= {PutOutcome.QUEUED}))
            chunk = list(islice(remaining, _CHUNK if ended.lists else _LOOKED_UP))
        return self._report(counts)

    def _put_chunk(self, chunk: list[NewTask], ended: EndedTasks, *, is_first: bool) -> list[PutOutcome]:
        ends = ended.among([task.task_id for task in chunk])
        known = [end for end in ends if end is not None]
        with self._tally.change() as change:
            outcomes = self._create([task for task, end in zip(chunk, ends, strict=True) if end is None])
            change.put(outcomes.count(PutOutcome.QUEUED))
            is_first = is_first and ended.are_none and set(outcomes) <= {PutOutcome.QUEUED}
            if not is_first and self._store.now() - ended.looked_at > _AT_ONCE:
                change.doubt()  # some may have ended since, and then they do not wait
        return known + outcomes

    def _report(self, counts: Counter[PutOutcome]) -> PutReport:
        if _LOG.isEnabledFor(logging.DEBUG):
            told = {outcome.value: count for outcome, count in counts.items()}
            _LOG.debug("tasks put", extra={"campaign": self._campaign, "queue": self._queue, **told})
        return PutReport(counts)

    def _create(self, tasks: list[NewTask]) -> list[PutOutcome]:
        now = self._store.now()
        puts = [Put(self._places.task(task.task_id), self._render(task, now), if_absent=True) for task in tasks]
        outcomes = []
        for put, answer in zip(puts, self._store.put_many(puts), strict=True):
            if isinstance(answer, AlreadyExists):
                outcomes.append(PutOutcome.ALREADY_PENDING)
            elif isinstance(answer, StoreError):
                if not answer.retryable:
                    raise answer
                outcomes.append(self._create_one(put.key, put.data))
            else:
                outcomes.append(PutOutcome.QUEUED)
        return outcomes

    def _create_one(self, key: str, data: bytes) -> PutOutcome:
        created = settled.create(self._store, key, data)
        return PutOutcome.ALREADY_PENDING if created is None else PutOutcome.QUEUED

    def _ended(self, task_id: str) -> PutOutcome | None:
        completions, sidelines = self._places.completions(task_id), self._places.sidelines(task_id)
        for answer in self._store.get_many([*completions, *sidelines]):
            if isinstance(answer, StoredObject):
                completed = answer.key in completions
                return PutOutcome.ALREADY_COMPLETED if completed else PutOutcome.ALREADY_SIDELINED
            if not isinstance(answer, NotFound):
                raise answer
        return None

    def _render(self, new: NewTask, now: datetime) -> bytes:
        return json_records.render(
            Task(
                task_id=new.task_id,
                queue=self._queue,
                campaign=self._campaign,
                payload=dict(new.payload),
                document=new.document,
                items=tuple(new.items),
                created_at=now,
                nonce=self._nonce(),
            )
        )
