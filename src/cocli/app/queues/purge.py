"""Clearing out what has ended. A completion is what keeps a task from being put again, so a person decides this.

What an unfinished clean-up left in `pending` still needs the record of its end, without which it would be done again:
such tasks are kept.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from cocli.app.queues.listing import ListedState, sideline_folder
from cocli.errors import InvalidKey, UsageError
from cocli.keys.paths import CompletedKey, SidelinedKey, TaskKey, task_folder
from cocli.queue.leased.tally import doubted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.app.queues.queues import QueueOnStore
    from cocli.app.workspace import Progress
    from cocli.store.base import ObjectInfo

_AGE = re.compile(r"([0-9]{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_BATCH = 1000


@dataclass(slots=True)
class Purge:
    """What would go, counted by category; and how many stay because their task is still in `pending`."""

    keys: list[str] = field(default_factory=list)
    bytes: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    kept: int = 0
    strangers: int = 0
    """Files that are no tasks of ours: not touched."""


def parse_age(text: str) -> timedelta:
    """`45s`, `30m`, `12h`, `30d`, `2w`."""
    match = _AGE.fullmatch(text.strip())
    if not match:
        raise UsageError(reason=f'"{text}" is not an age', hint="Write a number and s, m, h, d or w: --older-than 30d")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


def plan_purge(
    place: QueueOnStore, what: ListedState, category: str | None, older_than: timedelta | None, progress: Progress
) -> Purge:
    """Count what would go. What has ended is listed first, what is pending after it: so none slips between the two."""
    purge = Purge()
    found = list(_ended(place, what, category, older_than, purge, progress))
    pending = {task_folder(info.key) for info in place.store.list(place.places.pending)}
    folders = {spot[0] for spot in pending if spot}
    for info, key in found:
        if _pending_folder(key) in folders:
            purge.kept += 1
            continue
        purge.keys.append(info.key)
        purge.bytes += info.size
        purge.counts["completed" if isinstance(key, CompletedKey) else key.category] += 1
    return purge


def carry_out(place: QueueOnStore, purge: Purge, progress: Progress) -> None:
    """Remove what was planned."""
    with doubted(place.store, place.campaign, place.name):
        for start in range(0, len(purge.keys), _BATCH):
            for answer in place.store.delete_many(purge.keys[start : start + _BATCH]):
                if answer is not None:
                    raise answer
            progress(min(start + _BATCH, len(purge.keys)))


def _ended(
    place: QueueOnStore,
    what: ListedState,
    category: str | None,
    older_than: timedelta | None,
    purge: Purge,
    progress: Progress,
) -> Iterator[tuple[ObjectInfo, CompletedKey | SidelinedKey]]:
    """The records of ended tasks that are old enough, by the store's clock."""
    kind = CompletedKey if what is ListedState.COMPLETED else SidelinedKey
    folder = place.places.completed if what is ListedState.COMPLETED else sideline_folder(place, category)
    now = place.store.now()
    for number, info in enumerate(place.store.list(folder), start=1):
        progress(number)
        if older_than is not None and now - info.modified < older_than:
            continue
        try:
            yield info, kind.parse(info.key)
        except InvalidKey:  # not written by a queue: not for us to remove
            purge.strangers += 1


def _pending_folder(key: CompletedKey | SidelinedKey) -> str:
    """Where the task was. The shard is taken over: that of a shortened id cannot be computed again."""
    found = task_folder(str(TaskKey(key.campaign, key.queue, key.task_id, key.shard)))
    if found:
        return found[0]
    return ""
