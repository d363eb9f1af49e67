"""A queue as a listing shows it: one request per thousand objects."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from cocli.errors import FormatError, StoreError
from cocli.formats import json_records
from cocli.keys.paths import task_folder
from cocli.models.lease import Lease
from cocli.queue.base import QueueStats
from cocli.queue.leased.tally import RECENT, minute_of
from cocli.store.base import ObjectInfo

if TYPE_CHECKING:
    from cocli.queue.places import Places
    from cocli.store.base import Store, StoredObject

_FEW = 500


@dataclass(frozen=True, slots=True)
class ListedQueue:
    """What a listing showed. A task that has ended is not waiting, though its folder may still be there."""

    at: datetime
    objects: int
    tasks: dict[str, datetime]
    """The folders of the tasks that wait, or are in somebody's hands → since when."""
    leases: list[ObjectInfo]
    """Of these tasks."""
    leftovers: list[str]
    """The folders of tasks that have ended."""
    completed: dict[str, datetime]
    """By their spots."""
    aside: list[tuple[str, str]]
    """Categories and spots."""

    def stats(self, store: Store, queue: str, expiry: timedelta) -> QueueStats:
        """Leases are read only while they are few."""
        leased, expired = _judge(store, self.leases, self.at, expiry)
        return QueueStats(
            queue=queue,
            pending=len(self.tasks),
            leased=leased,
            expired=expired,
            completed=len(self.completed),
            sidelined=dict(Counter(category for category, _ in self.aside)),
            oldest=min(self.tasks.values(), default=None),
            completed_recently=sum(self.lately.values()),
            recent=RECENT,
        )

    @property
    def lately(self) -> dict[str, int]:
        """The completions of the last quarter of an hour, by their minutes."""
        return dict(Counter(minute_of(at) for at in self.completed.values() if self.at - at <= RECENT))


def list_queue(store: Store, places: Places) -> ListedQueue:
    now = store.now()
    tasks, leases = list_pending_tasks(store, places)
    # Listed after the tasks: one that ends meanwhile is found here.
    completed = {
        spot: info.modified for info in store.list(places.completed) if (spot := places.spot_of_completion(info.key))
    }
    aside = list_sideline(store, places)
    ended = completed.keys() | {spot for _, spot in aside}
    waiting = {folder: at for folder, at in tasks.items() if places.spot_of_folder(folder) not in ended}
    return ListedQueue(
        at=now,
        objects=len(tasks) + len(leases) + len(completed) + len(aside),
        tasks=waiting,
        leases=[lease for folder, lease in leases.items() if folder in waiting],
        leftovers=[folder for folder in dict.fromkeys((*tasks, *leases)) if folder not in waiting],
        completed=completed,
        aside=aside,
    )


def list_pending_tasks(store: Store, places: Places) -> tuple[dict[str, datetime], dict[str, ObjectInfo]]:
    """The folders of tasks, since when they are there, and the leases by their folders."""
    tasks, leases = dict[str, datetime](), dict[str, ObjectInfo]()
    for info in store.list(places.pending):
        found = task_folder(info.key)
        if found is not None and found[1]:
            leases[found[0]] = info
        elif found is not None:
            tasks[found[0]] = info.modified
    return tasks, leases


def list_sideline(store: Store, places: Places) -> list[tuple[str, str]]:
    """Category and spot of every task that was set aside."""
    listed = (places.spot_of_sidelined(info.key) for info in store.list(places.sideline))
    return [found for found in listed if found is not None]


def _judge(store: Store, leases: list[ObjectInfo], now: datetime, expiry: timedelta) -> tuple[int, int]:
    """How many are held, and how many of their holders fell silent. A lease that was given back is neither."""
    old = [now - info.modified >= expiry for info in leases]
    if len(leases) > _FEW:
        return old.count(False), old.count(True)
    held = [_is_held(answer) for answer in store.get_many([info.key for info in leases])]
    pairs = [overdue for overdue, is_held in zip(old, held, strict=True) if is_held]
    return pairs.count(False), pairs.count(True)


def _is_held(answer: StoredObject | StoreError) -> bool:
    if isinstance(answer, StoreError):
        return False  # gone since it was listed
    try:
        return json_records.read(Lease, answer.data, file=answer.key).held
    except FormatError:
        return True  # nobody can tell: its age decides
