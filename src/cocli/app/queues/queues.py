"""The queues of a campaign, for people: which there are, how they stand, what is put in and brought back.

Listing tasks is `queue_listing`, what is done to one task by hand `queue_care`, clearing out `queue_purge`.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.config.schema import did_you_mean
from cocli.errors import InvalidKey, NotFound, QueueUnusable, UsageError
from cocli.keys.parts import decode_part
from cocli.keys.paths import queues_folder
from cocli.queue.base import Category
from cocli.queue.places import RELEASES, SCHEDULE, UPKEEP, Places
from cocli.store.folders import children

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cocli.app.workspace import Campaign
    from cocli.queue.base import Queue, QueueStats, TaskView
    from cocli.store.base import Store

STANDARD = ("gm-list", "gm-details", "enrichment")
"""The queues that every campaign has, also before the first task is put."""
_QUEUE_NAME = re.compile(r"[a-z][a-z0-9-]{0,62}")


@dataclass(frozen=True, slots=True)
class QueueOnStore:
    """The objects of one queue, for what people do without a worker's claim."""

    store: Store
    places: Places
    campaign: str
    name: str


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """One queue at one moment. `problem` says why there are no numbers: one bad queue must not hide the others."""

    name: str
    at: datetime
    stats: QueueStats | None = None
    problem: str | None = None


def stored_queues(store: Store, campaign: str) -> list[str]:
    """Every queue that has a folder, the one of the election as well."""
    found = (child for child in children(store, queues_folder(campaign)) if isinstance(child, str))
    return sorted(decode_part(child[:-1]) for child in found)


def queue_names(campaign: Campaign) -> list[str]:
    """The standard queues, those that workers are configured for, and whatever has a folder."""
    names = dict.fromkeys(STANDARD)
    for counts in campaign.settings.model().workers.values():
        names.update(dict.fromkeys(counts))
    names.update(dict.fromkeys(stored_queues(campaign.store, campaign.name)))
    return [name for name in names if name not in (UPKEEP, SCHEDULE, RELEASES)]


def check_queue(campaign: Campaign, name: str, *, create: bool = False) -> None:
    """Refuse a queue that does not exist; with `create`, only a name that no queue can have."""
    if create and _QUEUE_NAME.fullmatch(name):
        return
    known = queue_names(campaign)
    if name in known:
        return
    raise UsageError(
        reason=f'Campaign {campaign.name} has no queue "{name}". Known queues: {", ".join(known)}.',
        hint=did_you_mean(name, known, f"See them with: cocli queue status {campaign.name}"),
        queue=name,
    )


def check_category(place: QueueOnStore, category: str | None) -> None:
    """Refuse a category that nothing can be in: a misspelt one would look like an empty one."""
    if category is None or category in tuple(Category):
        return
    known = [str(category) for category in Category]
    known += [child[:-1] for child in children(place.store, place.places.sideline) if isinstance(child, str)]
    if category not in known:
        raise UsageError(
            reason=f'There is no category "{category}". Known categories: {", ".join(dict.fromkeys(known))}.',
            hint=did_you_mean(category, known),
        )


@contextmanager
def opened_queue(campaign: Campaign, name: str) -> Iterator[Queue]:
    """The queue that is configured, for one command."""
    from cocli.queue.providers import get_queue

    queue: Queue = get_queue(campaign.settings.model(), campaign.store, name)
    try:
        yield queue
    finally:
        queue.close()


def ended_on_store(campaign: Campaign, name: str) -> QueueOnStore:
    """Completed tasks and those set aside lie in the campaign's store, whoever keeps the waiting ones."""
    return QueueOnStore(campaign.store, Places(campaign.name, name), campaign.name, name)


def pending_on_store(campaign: Campaign, name: str, what: str) -> QueueOnStore:
    """Waiting tasks and their leases, where the store keeps them."""
    from cocli.queue.providers import provider_of

    provider = provider_of(campaign.settings.model())
    if not provider.lists_pending:
        raise QueueUnusable(
            queue=name,
            provider=provider.name,
            reason=f"it cannot {what}",
            hint=f"See what it can tell with: cocli queue status {campaign.name} --queue {name}",
        )
    return ended_on_store(campaign, name)


def queue_status(campaign: Campaign, name: str) -> QueueStatus:
    at = campaign.store.now()
    try:
        with opened_queue(campaign, name) as queue:
            return QueueStatus(name, at, stats=queue.stats())
    except (InvalidKey, QueueUnusable) as error:  # shown in its row: the other queues are worth seeing all the same
        return QueueStatus(name, at, problem=error.message)


def look_up(campaign: Campaign, name: str, task_id: str) -> TaskView:
    """All that is known of a task; `NotFound` if it is nowhere."""
    with opened_queue(campaign, name) as queue:
        view = queue.inspect(task_id)
    if not view.states and view.problem is None:
        raise unknown_task(campaign.name, name, task_id)
    return view


def unknown_task(campaign: str, queue: str, task_id: str) -> NotFound:
    return NotFound(
        key=f"task {task_id} in {queue}, neither waiting nor completed nor set aside",
        hint=f"See what there is with: cocli queue ls {queue} -c {campaign}",
        task_id=task_id,
    )
