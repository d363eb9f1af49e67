"""A queue at a glance, from listings alone; and one task in full."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from cocli.errors import FormatError, NotFound, StoreError
from cocli.formats import json_records, usv
from cocli.keys.paths import task_files, task_folder
from cocli.models.completion import Completion, ItemCompletion
from cocli.models.lease import Lease
from cocli.models.task import Task
from cocli.queue.base import Category, QueueStats, TaskPlace, TaskView
from cocli.store.base import ObjectInfo, StoredObject

if TYPE_CHECKING:
    from typing import Any

    from cocli.queue.places import Places
    from cocli.store.base import Store

_RECENT = timedelta(minutes=15)
_FEW = 500


class Statistics:
    def __init__(self, store: Store, places: Places, queue: str, expiry: timedelta) -> None:
        self._store = store
        self._places = places
        self._queue = queue
        self._expiry = expiry

    def stats(self) -> QueueStats:
        """Counts by listing, one request per thousand objects; leases are read only while they are few."""
        now, tasks, leases = self._store.now(), dict[str, datetime](), dict[str, ObjectInfo]()
        for info in self._store.list(self._places.pending):
            found = task_folder(info.key)
            if found is not None and found[1]:
                leases[found[0]] = info
            elif found is not None:
                tasks[found[0]] = info.modified
        completed = {
            spot: info.modified
            for info in self._store.list(self._places.completed)
            if (spot := self._places.spot_of_completion(info.key))
        }
        listed = (self._places.spot_of_sidelined(info.key) for info in self._store.list(self._places.sideline))
        aside = [found for found in listed if found is not None]
        # A task that has ended is not counted as waiting, though its folder may still be there.
        for spot in (*completed, *(spot for _, spot in aside)):
            tasks.pop(f"{self._places.pending}{spot}/", None)
        holding = {folder: lease for folder, lease in leases.items() if folder in tasks}
        leased, expired = self._judge(list(holding.values()), now)
        return QueueStats(
            queue=self._queue,
            pending=len(tasks),
            leased=leased,
            expired=expired,
            completed=len(completed),
            sidelined=dict(Counter(category for category, _ in aside)),
            oldest=min(tasks.values(), default=None),
            completed_recently=sum(now - at <= _RECENT for at in completed.values()),
            recent=_RECENT,
        )

    def _judge(self, leases: list[ObjectInfo], now: datetime) -> tuple[int, int]:
        """How many are held, and how many of their holders fell silent. A lease that was given back is neither."""
        old = [now - info.modified >= self._expiry for info in leases]
        if len(leases) > _FEW:
            return old.count(False), old.count(True)
        held = [self._is_held(answer) for answer in self._store.get_many([info.key for info in leases])]
        pairs = [overdue for overdue, is_held in zip(old, held, strict=True) if is_held]
        return pairs.count(False), pairs.count(True)

    def _is_held(self, answer: StoredObject | StoreError) -> bool:
        if isinstance(answer, StoreError):
            return False  # gone since it was listed
        try:
            return json_records.read(Lease, answer.data, file=answer.key).held
        except FormatError:
            return True  # nobody can tell: its age decides

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
