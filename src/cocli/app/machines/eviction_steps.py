"""The steps of an eviction: what a machine holds is taken from it, and what it says of itself is marked.

Each can be done twice, and stops at nothing that cannot be read: that is told among the problems.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.app.queues.care import TaskCare
from cocli.app.queues.queues import QueueOnStore, stored_queues
from cocli.errors import FormatError, NotFound
from cocli.fleet.commands import command_queue
from cocli.fleet.worker_name import host_of_sender, is_of_host
from cocli.formats import json_records
from cocli.keys.paths import STATUS_FOLDER, CampaignHeartbeatKey, HeartbeatKey, task_folder, task_id_of
from cocli.models.heartbeat import Heartbeat
from cocli.models.task import Task
from cocli.queue.places import UPKEEP, Places
from cocli.queue.providers import is_of_commands
from cocli.store import settled
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.store.base import Store

_TRIES = 5
_PASSES = 3
"""Over all leases: one that was on its way while they were listed is met by the next."""


@dataclass(slots=True)
class EvictionArea:
    """A store, and the campaigns in it."""

    store: Store
    campaigns: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    """Campaigns whose waiting tasks SQS has: they come back by themselves when their visibility ends."""


@dataclass(slots=True)
class TakenBack:
    """What a machine held, and does not hold any more."""

    leases: list[str] = field(default_factory=list)
    """Those that were ended, as campaign, queue and task."""
    elections: list[str] = field(default_factory=list)
    """Campaigns that it was elected to finish."""
    commands: list[str] = field(default_factory=list)
    """For it, or sent by it: they were set aside."""
    heartbeats: int = 0
    problems: list[str] = field(default_factory=list)


def take_back(area: EvictionArea, host: str, taken: TakenBack) -> None:
    """All steps, in one store."""
    for campaign in area.campaigns:
        for queue in stored_queues(area.store, campaign):
            place = QueueOnStore(area.store, Places(campaign, queue), campaign, queue)
            for _ in range(_PASSES):
                if not _end_leases(place, host, taken):
                    break
            if is_of_commands(queue):
                _withdraw_commands(place, host, taken, is_elsewhere=campaign in area.elsewhere)
    taken.heartbeats += _mark_heartbeats(area.store, host)


def _end_leases(place: QueueOnStore, host: str, taken: TakenBack) -> int:
    """One pass over the leases of a queue; how many were ended."""
    care, ended, is_election = TaskCare(place), 0, place.name == UPKEEP

    def is_theirs(worker: str) -> bool:
        """Hosts stand for election under their own names: `pi-abcdef` is no worker of `pi` there."""
        return worker == host if is_election else is_of_host(worker, host)

    for folder in list(_leased_folders(place)):
        try:
            before = care.take_from(folder, is_theirs)
        except FormatError as error:
            taken.problems.append(error.message)  # a worker that meets it sets it aside
            continue
        if before is None:
            continue
        ended += 1
        if is_election:
            taken.elections.append(place.campaign)
        else:
            taken.leases.append(f"{place.campaign} {place.name} {before.task_id}")
    return ended


def _leased_folders(place: QueueOnStore) -> Iterator[str]:
    for info in place.store.list(place.places.pending):
        found = task_folder(info.key)
        if found is not None and found[1]:
            yield found[0]


def _withdraw_commands(place: QueueOnStore, host: str, taken: TakenBack, *, is_elsewhere: bool) -> None:
    """Commands for the machine, and those that it sent: set aside, where a person can look at them."""
    is_its_own = place.name == command_queue(host)
    for task in _waiting(place):
        if not is_its_own and host_of_sender(str(task.payload.get("sent_by") or "")) != host:
            continue
        if is_elsewhere:
            taken.problems.append(f"command {task.task_id} waits in SQS; supervisors refuse it when it comes")
            continue
        TaskCare(place).sideline(task.task_id, f"{host} was evicted", force=True)
        taken.commands.append(f"{place.campaign} {place.name} {task.task_id}")


def _waiting(place: QueueOnStore) -> Iterator[Task]:
    folders = [task_folder(info.key) for info in place.store.list(place.places.pending)]
    ids = [task_id_of(found[0]) for found in folders if found is not None and not found[1]]
    for answer in place.store.get_many([place.places.task(task_id) for task_id in ids]):
        if isinstance(answer, StoredObject):
            try:
                yield json_records.read(Task, answer.data, file=answer.key)
            except FormatError:
                continue  # nobody can execute it


def _mark_heartbeats(store: Store, host: str) -> int:
    """Its heartbeats say that it has stopped: also to older programs, which know of no evictions."""
    marked = 0
    for info in list(store.list(STATUS_FOLDER)):
        is_its_own = HeartbeatKey.fits(info.key) and HeartbeatKey.parse(info.key).hostname == host
        is_of_campaign = CampaignHeartbeatKey.fits(info.key) and CampaignHeartbeatKey.parse(info.key).hostname == host
        if is_its_own or is_of_campaign:
            marked += _mark_stopped(store, info.key)
    return marked


def _mark_stopped(store: Store, key: str) -> bool:
    for _ in range(_TRIES):
        found = heartbeat_at(store, key)
        if found is None:
            return False
        heartbeat, stored = found
        if heartbeat.stopped_at is not None and not heartbeat.workers:
            return True
        stopped = heartbeat.with_changes(
            stopped_at=heartbeat.stopped_at or store.now(), workers={}, active={}, last_error="this host was evicted"
        )
        if settled.swap(store, key, json_records.render(stopped), stored.etag) is not None:
            return True
    return False  # the machine writes it all the time: it has not looked yet, or does not mean to


def heartbeat_at(store: Store, key: str) -> tuple[Heartbeat, StoredObject] | None:
    try:
        stored = store.get(key)
        return json_records.read(Heartbeat, stored.data, file=key), stored
    except (NotFound, FormatError):
        return None  # it never reported, or said nothing that can be read
