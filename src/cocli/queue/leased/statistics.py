"""A queue at a glance, and one task in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.errors import FormatError, NotFound
from cocli.formats import json_records, usv
from cocli.keys.paths import task_files
from cocli.models.completion import Completion, ItemCompletion
from cocli.models.lease import Lease
from cocli.models.task import Task
from cocli.queue.base import Category, TaskPlace, TaskView
from cocli.queue.leased.listing import list_queue

if TYPE_CHECKING:
    from datetime import timedelta
    from typing import Any

    from cocli.queue.base import QueueStats
    from cocli.queue.leased.census import QueueCensus
    from cocli.queue.places import Places
    from cocli.store.base import Store


class Statistics:
    def __init__(
        self, store: Store, places: Places, queue: str, expiry: timedelta, census: QueueCensus | None = None
    ) -> None:
        """Without a census the queue is listed whenever somebody asks."""
        self._store = store
        self._places = places
        self._queue = queue
        self._expiry = expiry
        self._census = census

    def stats(self) -> QueueStats:
        if self._census is None:
            return list_queue(self._store, self._places).stats(self._store, self._queue, self._expiry)
        return self._census.stats()

    def inspect(self, task_id: str) -> TaskView:
        """Everything that is known of a task, read now."""
        task_key, lease_key = task_files(self._places.folder(task_id))
        problems: list[str] = []
        task = self._read(Task, task_key, problems)
        lease = self._read(Lease, lease_key, problems)
        completion = self._read(Completion, self._places.completion(task_id, batch=False), problems)
        items = self._read_items(self._places.completion(task_id, batch=True), problems)
        aside = next(
            (
                found
                for category in Category
                if (found := self._read(Task, self._places.sidelined(task_id, category), problems))
            ),
            None,
        )
        present = {
            TaskPlace.PENDING: task is not None or lease is not None,
            TaskPlace.COMPLETED: completion is not None or items is not None,
            TaskPlace.SIDELINED: aside is not None,
        }
        return TaskView(
            task_id=task_id,
            states=[state for state, there in present.items() if there],
            task=task or aside,
            lease=lease,
            completion=completion,
            items=items or (),
            sidelined=aside.sidelined if aside else None,
            problem="; ".join(problems) or None,
        )

    def _read(self, model: type[Any], key: str, problems: list[str]) -> Any:
        try:
            return json_records.read(model, self._store.get(key).data, file=key)
        except NotFound:
            return None
        except FormatError as error:
            problems.append(error.message)
            return None

    def _read_items(self, key: str, problems: list[str]) -> list[ItemCompletion] | None:
        try:
            reader = usv.read(ItemCompletion, self._store.get(key).data, file=key)
            items = list(reader)
        except NotFound:
            return None
        except FormatError as error:
            problems.append(error.message)
            return []
        problems += [f"{row.file}, line {row.line}: {row.reason}" for row in reader.rejected]
        return items
