"""Everything that a campaign came to, without times and names of workers: two runs are compared by it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.app.goal.progress import QueueState, queue_states
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.queues.queues import ended_on_store
from cocli.fleet.commands import WORKED
from cocli.index.reader import open_reader
from cocli.keys.paths import task_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cocli.app.workspace import Campaign, Workspace

_INDEXES = ("prospects", "emails", "domains", "scraped-tiles")
_OF_THE_MOMENT = frozenset(
    ("first_seen", "updated_at", "last_seen", "last_crawled", "first_crawled", "read_at", "observed_at", "worker")
)


@dataclass(frozen=True, slots=True)
class TownOutcome:
    """`records` is index → key → record; `tasks` is queue → every task that there is in any state."""

    records: Mapping[str, Mapping[str, Any]]
    tasks: Mapping[str, frozenset[str]]
    states: Mapping[str, QueueState] = field(default_factory=dict)
    leftovers: tuple[str, ...] = ()
    """Leases without a task."""

    def differences(self, other: TownOutcome) -> list[str]:
        """What differs, in words; empty where both are the same."""
        found = [
            f"{queue}: {sorted(self.tasks[queue] ^ other.tasks[queue])[:5]}"
            for queue in self.tasks
            if self.tasks[queue] != other.tasks[queue]
        ]
        for index, records in self.records.items():
            theirs = other.records[index]
            found += [f"{index}: only one has {key}" for key in sorted(records.keys() ^ theirs.keys())]
            for key in sorted(records.keys() & theirs.keys()):
                mine, its = records[key], theirs[key]
                names = [name for name in mine if mine[name] != its.get(name)]
                found += [f"{index} {key}: {name}: {mine[name]!r} / {its.get(name)!r}" for name in names]
        return found


def outcome_of(workspace: Workspace, name: str) -> TownOutcome:
    indexes = campaign_indexes(workspace, name)
    records = {}
    for index in _INDEXES:
        opened = indexes.open(indexes.ref(index))
        rows = open_reader(opened, fresh=True).scan()
        records[index] = {opened.spec.key_of(row): timeless(row.model_dump(mode="json")) for row in rows}
    campaign = workspace.campaign(name)
    return TownOutcome(
        records,
        {queue: _tasks(campaign, queue) for queue in WORKED},
        queue_states(campaign, WORKED),
        tuple(lease for queue in WORKED for lease in _leftovers(campaign, queue)),
    )


def timeless(value: Any) -> Any:
    """Without what another run has otherwise; origins in an order that does not follow from their times."""
    if isinstance(value, dict):
        return {name: timeless(part) for name, part in value.items() if name not in _OF_THE_MOMENT}
    if isinstance(value, list):
        parts = [timeless(part) for part in value]
        if parts and isinstance(parts[0], dict):
            return sorted(parts, key=repr)
        return parts
    return value


def _tasks(campaign: Campaign, queue: str) -> frozenset[str]:
    store, places = campaign.store, ended_on_store(campaign, queue).places
    found = {places.spot_of_completion(info.key) for info in store.list(places.completed)}
    found |= {aside[1] for info in store.list(places.sideline) if (aside := places.spot_of_sidelined(info.key))}
    found |= {
        places.spot_of_folder(folder[0])
        for info in store.list(places.pending)
        if (folder := task_folder(info.key)) is not None
    }
    return frozenset(spot for spot in found if spot)


def _leftovers(campaign: Campaign, queue: str) -> list[str]:
    """Leases whose task is not there, or has ended."""
    store, places = campaign.store, ended_on_store(campaign, queue).places
    folders: dict[str, set[bool]] = {}
    for info in store.list(places.pending):
        found = task_folder(info.key)
        if found is not None:
            folders.setdefault(found[0], set()).add(bool(found[1]))
    ended = {places.spot_of_completion(info.key) for info in store.list(places.completed)}
    return [f for f, kinds in folders.items() if False not in kinds or places.spot_of_folder(f) in ended]
