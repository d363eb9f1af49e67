"""Where the tasks of a queue are: each task in one place. Nothing is changed here.

A small queue is listed with every look. Of a large one, numbers come from its count and its tallies; which tasks wait
is listed where somebody wants to know it, and what is completed is not: that only grows.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from cocli.app.queues.queues import ended_on_store, opened_queue
from cocli.keys.parts import decode_part
from cocli.queue.leased.census import QueueCensus
from cocli.queue.leased.listing import list_pending_tasks, list_sideline
from cocli.queue.leased.queue import CLOCK_MARGIN
from cocli.queue.providers import provider_of
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cocli.app.queues.queues import QueueOnStore
    from cocli.app.workspace import Campaign
    from cocli.queue.base import QueueStats
    from cocli.queue.leased.listing import ListedQueue

_FEW_PENDING = 2000
"""So many tasks are listed with every look: four requests at most."""
_FEW_LEASES = 100
"""So many tasks are looked for one by one: have they ended?"""
_REST_SECONDS = 60.0
_REST_SHARE = 20
"""Listing what waits takes a twentieth of the time, at most."""


@dataclass(frozen=True, slots=True)
class TasksByPlace:
    """The tasks of one queue, by their ids."""

    waiting: frozenset[str] = frozenset()
    """Those that are in somebody's hands included."""
    aside: Mapping[str, str] = field(default_factory=dict)
    """Task → the category under which it was set aside."""
    completed: int = 0
    leases: Sequence[str] = ()
    """The keys of the leases of tasks that wait."""
    leftovers: Sequence[str] = ()
    """The folders of tasks that have ended, and whose worker has not removed them."""
    told: QueueStats | None = None
    """What a provider says that keeps waiting tasks itself: then `waiting` is empty."""
    counted: QueueStats | None = None
    """Of a large queue that somebody looks at again and again: numbers that are newer than the rest."""

    @property
    def many(self) -> QueueStats | None:
        """The numbers of a large queue with much to do: which tasks wait may be as it was a while ago."""
        if self.counted is None or self.counted.pending <= _FEW_PENDING:
            return None
        return self.counted


def whereabouts(campaign: Campaign, name: str) -> TasksByPlace:
    """Look now. A task that has ended is not counted as waiting, though its folder may still be there."""
    return QueueWatch(campaign, name).look()


class QueueWatch:
    """Looks at one queue, once or again and again. What has not changed is not listed again."""

    def __init__(self, campaign: Campaign, name: str) -> None:
        self._campaign = campaign
        self._name = name
        self._place = ended_on_store(campaign, name)
        self._census = _census(self._place, campaign.settings.model().queue.lease_seconds)
        self._seen: TasksByPlace | None = None
        self._listed_at = self._took = 0.0

    def look(self, *, afresh: bool = True) -> TasksByPlace:
        """Unless `afresh`, which tasks wait may be as it was a while ago, where they are many."""
        if not provider_of(self._campaign.settings.model()).lists_pending:
            return _kept_elsewhere(self._campaign, self._place)
        counted = self._census.told()
        if counted is None:
            self._seen = None
            return _as_listed(self._place, self._census.listed())
        if self._seen is None or afresh or self._is_due(counted):
            started = time.monotonic()
            self._seen = _without_completed(self._place, counted)
            self._listed_at = time.monotonic()
            self._took = self._listed_at - started
        return replace(self._seen, completed=counted.completed or 0, counted=counted)

    def _is_due(self, counted: QueueStats) -> bool:
        seen = self._seen.counted if self._seen else None
        if counted.pending <= _FEW_PENDING or seen is None:
            return True
        if counted.as_of is None and _numbers(counted) == _numbers(seen):
            return False
        return time.monotonic() >= self._listed_at + max(_REST_SECONDS, self._took * _REST_SHARE)


def _numbers(stats: QueueStats) -> tuple[int, int | None, dict[str, int]]:
    return stats.pending, stats.completed, dict(stats.sidelined)


def _census(place: QueueOnStore, lease_seconds: float) -> QueueCensus:
    expiry = timedelta(seconds=lease_seconds + CLOCK_MARGIN)
    nonce = partial(secrets.token_hex, 12)
    return QueueCensus(place.store, place.places, place.campaign, place.name, expiry, nonce, time.monotonic)


def _as_listed(place: QueueOnStore, listed: ListedQueue) -> TasksByPlace:
    return TasksByPlace(
        waiting=_ids(map(place.places.spot_of_folder, listed.tasks)),
        aside=_by_category(listed.aside),
        completed=len(listed.completed),
        leases=[lease.key for lease in listed.leases],
        leftovers=listed.leftovers,
    )


def _without_completed(place: QueueOnStore, counted: QueueStats) -> TasksByPlace:
    """Who has ended is looked for among those that somebody had: a task that nobody had has not ended."""
    places = place.places
    tasks, leases = list_pending_tasks(place.store, places)
    aside = list_sideline(place.store, places)
    ended = {spot for _, spot in aside}
    had = [spot for folder in leases if folder in tasks and (spot := places.spot_of_folder(folder)) not in ended]
    if len(had) <= _FEW_LEASES:
        ended |= _completed(place, had)
    waiting = {folder: spot for folder in tasks if (spot := places.spot_of_folder(folder)) not in ended}
    return TasksByPlace(
        waiting=_ids(waiting.values()),
        aside=_by_category(aside),
        completed=counted.completed or 0,
        leases=[lease.key for folder, lease in leases.items() if folder in waiting],
        leftovers=[folder for folder in dict.fromkeys((*tasks, *leases)) if folder not in waiting],
        counted=counted,
    )


def _completed(place: QueueOnStore, spots: Sequence[str]) -> set[str]:
    keys = {key: spot for spot in spots for key in place.places.completions_at(spot)}
    answers = zip(keys.values(), place.store.get_many(keys), strict=True)
    return {spot for spot, answer in answers if isinstance(answer, StoredObject)}


def _kept_elsewhere(campaign: Campaign, place: QueueOnStore) -> TasksByPlace:
    store, places = place.store, place.places
    completed = {done for info in store.list(places.completed) if (done := places.spot_of_completion(info.key))}
    aside = list_sideline(store, places)
    with opened_queue(campaign, place.name) as queue:
        return TasksByPlace(aside=_by_category(aside), completed=len(completed), told=queue.stats())


def _by_category(aside: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {_id_of(spot): decode_part(category) for category, spot in aside}


def _ids(spots: Iterable[str]) -> frozenset[str]:
    return frozenset(map(_id_of, spots))


def _id_of(spot: str) -> str:
    return decode_part(spot.rpartition("/")[2])
