"""From the plan to the queue: what was not read, or too long ago, becomes tasks of `gm-list`.

What was read is taken over by `harvest`, and that comes first: a tile that cannot be harvested is queued here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from cocli.app.campaigns.plan import TARGETS
from cocli.app.indexes.query import QueryOptions, opened_query, options_at
from cocli.app.queues.queues import ended_on_store, opened_queue
from cocli.app.workspace import no_progress
from cocli.errors import UsageError
from cocli.formats.usv_sql import quote_text
from cocli.index.reader import open_reader
from cocli.keys.parts import decode_part
from cocli.keys.paths import task_folder
from cocli.pipeline.plan.estimate import Estimate, estimate
from cocli.pipeline.plan.mission import COUNT, LACKING, QUEUE, SPLIT, Lacking, Mission, MissionPass, Splits
from cocli.pipeline.sources.registry import source_named
from cocli.queue.providers import provider_of
from cocli.store.kinds import store_kind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from cocli.app.indexes.indexes import Indexes
    from cocli.app.workspace import Campaign, Progress
    from cocli.pipeline.stages.harvest import HarvestCounts
    from cocli.queue.base import NewTask
    from cocli.queue.places import Places
    from cocli.store.base import Store

DEFAULT_AGE = timedelta(days=90)
_AGE = re.compile(r"([1-9][0-9]{0,5})\s*(h|d|w)")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7}


@dataclass(slots=True)
class Queued:
    """What was put, or would be."""

    targets: int
    sources: tuple[str, ...]
    since: datetime
    counts: dict[str, int] = field(default_factory=dict)
    """Why sources are asked: unread, stale, blocked, split, missing (read, but not to be harvested); and `sidelined`,
    tasks that are left in the sideline."""
    outcomes: dict[str, int] = field(default_factory=dict)
    """queued (or would_queue), already_pending, already_completed, already_sidelined."""
    estimate: Estimate | None = None
    harvest: HarvestCounts | None = None
    """What was taken over of passes that were made before, where somebody asked for that."""
    dry_run: bool = False
    left: int = 0
    """New tasks that the limit did not let through."""

    @property
    def queued(self) -> int:
        return self.outcomes.get("would_queue" if self.dry_run else "queued", 0)


def parse_age(text: str, option: str = "--ttl") -> timedelta:
    """`30d`, `12h`, `8w`."""
    match = _AGE.fullmatch(text.strip())
    if match is None:
        raise UsageError(reason=f'{option}: "{text}" is not an age', hint="Write 30d, 12h or 8w.")
    return timedelta(hours=int(match[1]) * _HOURS[match[2]])


def queue_mission(
    indexes: Indexes,
    campaign: Campaign,
    *,
    age: timedelta = DEFAULT_AGE,
    limit: int | None = None,
    tiles: Collection[str] | None = None,
    dry_run: bool = False,
    progress: Progress = no_progress,
) -> Queued:
    """Queue what no source read within the age: everywhere, or in some tiles. Asking twice queues once."""
    store = campaign.store
    sources = tuple(dict.fromkeys(campaign.settings.model().prospecting.sources))
    since = store.now() - age
    report = Queued(count_targets(indexes, campaign), sources, since, dry_run=dry_run)
    places = ended_on_store(campaign, QUEUE).places
    lacking = lacking_rows(indexes, sources, since)
    if tiles is not None:
        lacking = (row for row in lacking if row.tile in tiles)
    mission = Mission(lacking, read_splits(indexes, since), set_aside=_set_aside(store, places))
    with opened_queue(campaign, QUEUE) as queue:
        tasks = _told(mission.tasks(), progress)
        if dry_run or limit is not None:
            tasks = _not_there(tasks, _spots(campaign, places), places, report.outcomes)
        if limit is not None:
            tasks = _limited(tasks, limit, report)
        if dry_run:
            report.outcomes["would_queue"] = sum(1 for _ in tasks)
        else:
            for outcome, count in queue.put_many(tasks).counts.items():
                report.outcomes[outcome.value] = report.outcomes.get(outcome.value, 0) + count
    report.counts = dict(mission.counts)
    report.estimate = _estimate(campaign, report.queued, _scaled(mission, report.queued))
    return report


def estimate_all(campaign: Campaign, targets: int) -> Estimate:
    """What so many targets take if none of them was read before."""
    return _estimate(campaign, targets, dict.fromkeys(campaign.settings.model().prospecting.sources, targets))


def _estimate(campaign: Campaign, tasks: int, asked: dict[str, int]) -> Estimate:
    workers = sum(counts.get(QUEUE, 0) for counts in campaign.settings.model().workers.values())
    costs = [(cost, times) for name, times in asked.items() if (cost := source_named(name).cost) is not None]
    return estimate(
        tasks, costs, workers=workers, dollars_per_write=store_kind(campaign.store.address).dollars_per_write
    )


def micros(at: datetime) -> int:
    return round((at - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1))


def count_targets(indexes: Indexes, campaign: Campaign, as_of: datetime | None = None) -> int:
    """How many targets there are, or were; without any there is nothing to do, and it is said how to make some."""
    reader = open_reader(
        indexes.open(indexes.ref(TARGETS)), as_of=as_of, empty_before=as_of is not None, fresh=as_of is None
    )
    count = reader.manifest.rows
    if reader.overlaid:
        with opened_query(indexes, COUNT, QueryOptions(fresh=True)) as query:
            count = next(query.result().rows())[0]
    if not count:
        raise UsageError(
            reason=f"Campaign {campaign.name} has no targets yet",
            hint=f"Make them with: cocli campaign plan {campaign.name}",
        )
    return int(count)


def lacking_rows(indexes: Indexes, sources: tuple[str, ...], since: datetime) -> Iterator[Lacking]:
    sql = LACKING.format(sources=", ".join(map(quote_text, sources)), since=micros(since))
    with opened_query(indexes, sql, QueryOptions(fresh=True)) as query:
        yield from map(Lacking._make, query.result().rows())


def read_splits(indexes: Indexes, since: datetime, as_of: datetime | None = None) -> Splits:
    splits = Splits(micros(since))
    with opened_query(indexes, SPLIT, options_at(as_of)) as query:
        for tile, phrase, source, *found in query.result().rows():
            splits.add(tile, phrase, source, MissionPass(*found))
    return splits


def _scaled(mission: Mission, tasks: int) -> dict[str, int]:
    """How often each source is asked by those tasks that are new, where not all of them are."""
    planned = mission.counts["tasks"]
    return {source: round(times * tasks / planned) if planned else 0 for source, times in mission.sources.items()}


def _set_aside(store: Store, places: Places) -> frozenset[str]:
    """The ids of the tasks in the sideline."""
    found = (places.spot_of_sidelined(info.key) for info in store.list(places.sideline))
    return frozenset(decode_part(spot[1].rpartition("/")[2]) for spot in found if spot is not None)


def _spots(campaign: Campaign, places: Places) -> dict[str, str]:
    """Where every task of the queue is that the store knows of."""
    store = campaign.store
    spots = {
        spot: "already_completed"
        for info in store.list(places.completed)
        if (spot := places.spot_of_completion(info.key))
    }
    for info in store.list(places.sideline):
        if (found := places.spot_of_sidelined(info.key)) is not None:
            spots[found[1]] = "already_sidelined"
    if not provider_of(campaign.settings.model()).lists_pending:
        return spots
    for info in store.list(places.pending):
        if (folder := task_folder(info.key)) is not None:
            spots[places.spot_of_folder(folder[0])] = "already_pending"
    return spots


def _not_there(
    tasks: Iterator[NewTask], spots: dict[str, str], places: Places, outcomes: dict[str, int]
) -> Iterator[NewTask]:
    for task in tasks:
        known = spots.get(places.spot(task.task_id))
        if known is None:
            yield task
        else:
            outcomes[known] = outcomes.get(known, 0) + 1


def _limited(tasks: Iterator[NewTask], limit: int, report: Queued) -> Iterator[NewTask]:
    yield from islice(tasks, limit)
    report.left = sum(1 for _ in tasks)  # counted, so that the numbers are those of the whole mission


def _told(tasks: Iterator[NewTask], progress: Progress) -> Iterator[NewTask]:
    for number, task in enumerate(tasks, start=1):
        if number % 1000 == 0:
            progress(number)
        yield task
