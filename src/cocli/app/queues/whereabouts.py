"""Where the tasks of a queue are: one look at its three folders, each task in one place. Nothing is changed here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.app.queues.queues import ended_on_store, opened_queue
from cocli.keys.parts import decode_part
from cocli.keys.paths import task_folder
from cocli.queue.providers import provider_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cocli.app.workspace import Campaign
    from cocli.queue.base import QueueStats


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


def whereabouts(campaign: Campaign, name: str) -> TasksByPlace:
    """Look now. A task that has ended is not counted as waiting, though its folder may still be there."""
    store, places = campaign.store, ended_on_store(campaign, name).places
    lists_pending = provider_of(campaign.settings.model()).lists_pending
    tasks, leases = dict[str, str](), dict[str, str]()
    for info in store.list(places.pending) if lists_pending else ():
        found = task_folder(info.key)
        if found is not None and found[1]:
            leases[found[0]] = info.key
        elif found is not None:
            tasks[found[0]] = places.spot_of_folder(found[0])
    # Listed after the tasks: one that ends meanwhile is found here.
    completed = {done for info in store.list(places.completed) if (done := places.spot_of_completion(info.key))}
    aside = {
        spot[1]: decode_part(spot[0])
        for info in store.list(places.sideline)
        if (spot := places.spot_of_sidelined(info.key))
    }
    waiting = {folder: spot for folder, spot in tasks.items() if spot not in completed and spot not in aside}
    return TasksByPlace(
        waiting=frozenset(map(_id_of, waiting.values())),
        aside={_id_of(spot): category for spot, category in aside.items()},
        completed=len(completed),
        leases=[key for folder, key in leases.items() if folder in waiting],
        leftovers=[folder for folder in dict.fromkeys((*tasks, *leases)) if folder not in waiting],
        told=None if lists_pending else _told(campaign, name),
    )


def _told(campaign: Campaign, name: str) -> QueueStats:
    with opened_queue(campaign, name) as queue:
        return queue.stats()


def _id_of(spot: str) -> str:
    return decode_part(spot.rpartition("/")[2])
