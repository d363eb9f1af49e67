"""A queue counted by listing it: one request per thousand objects. Leases are read only while they are few."""

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
    """What a listing told. `lately` has the completions of the last quarter of an hour by their minutes."""

    stats: QueueStats
    objects: int
    lately: dict[str, int]


def list_queue(store: Store, places: Places, queue: str, expiry: timedelta) -> ListedQueue:
    now, objects = store.now(), 0
    tasks, leases = dict[str, datetime](), dict[str, ObjectInfo]()
    for info in store.list(places.pending):
        objects += 1
        found = task_folder(info.key)
        if found is not None and found[1]:
            leases[found[0]] = info
        elif found is not None:
            tasks[found[0]] = info.modified
    completed = {
        spot: info.modified for info in store.list(places.completed) if (spot := places.spot_of_completion(info.key))
    }
    listed = (places.spot_of_sidelined(info.key) for info in store.list(places.sideline))
    aside = [found for found in listed if found is not None]
    # A task that has ended is not counted as waiting, though its folder may still be there.
    for spot in (*completed, *(spot for _, spot in aside)):
        tasks.pop(f"{places.pending}{spot}/", None)
    holding = [lease for folder, lease in leases.items() if folder in tasks]
    leased, expired = _judge(store, holding, now, expiry)
    lately = [at for at in completed.values() if now - at <= RECENT]
    stats = QueueStats(
        queue=queue,
        pending=len(tasks),
        leased=leased,
        expired=expired,
        completed=len(completed),
        sidelined=dict(Counter(category for category, _ in aside)),
        oldest=min(tasks.values(), default=None),
        completed_recently=len(lately),
        recent=RECENT,
    )
    return ListedQueue(stats, objects + len(completed) + len(aside), dict(Counter(map(minute_of, lately))))


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
