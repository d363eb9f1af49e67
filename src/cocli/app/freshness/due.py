"""What is due to be read again, why, and what it costs: the cheapest first.

Newer editions of files cost no request, so they are read at once by whoever has them. Releases that are
to be loaded, searches of other sources, and websites become tasks. A task that ended is not put twice, so the id of one
that comes again names the reading that it follows: until somebody has read it again, every machine makes the same id.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from cocli.app.campaigns.harvest import HarvestOptions, harvest_campaign
from cocli.app.campaigns.mission import lacking_rows, micros, read_splits
from cocli.app.companies.companies import exclusions_of
from cocli.app.freshness.releases import due_releases
from cocli.app.freshness.stock import ROLLS, STANDINGS
from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
from cocli.app.sources.sources import list_sources
from cocli.index.reader import open_reader
from cocli.models.freshness.refresh import RoundTask
from cocli.pipeline.exclusions import is_excluded
from cocli.pipeline.freshness.intervals import SHORT, search_age, search_interval, website_age
from cocli.pipeline.merge.rules import WEBSITE
from cocli.pipeline.plan.mission import QUEUE as SEARCHES
from cocli.pipeline.plan.mission import Mission
from cocli.pipeline.sources.registry import source_named
from cocli.pipeline.stages.enrichment_loop import QUEUE as WEBSITES
from cocli.pipeline.stages.list_pass import website_tasks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cocli.app.indexes.indexes import Indexes
    from cocli.app.workspace import Workspace
    from cocli.models.campaign import RefreshSection
    from cocli.models.freshness.standing import BusinessStanding
    from cocli.models.prospect import Prospect
    from cocli.pipeline.plan.mission import Lacking

SITE_REQUESTS = 2
"""What another visit of a website is taken to cost: the page that has its contacts, and now and then another one."""
NOBODYS = 3
"""So many times longer a website may go without a visit that never was anybody's."""
MISSING_FIRST, TOO_OLD = "missing from its source", "read too long ago"


@dataclass(slots=True)
class Due:
    """What is due now."""

    files: int = 0
    """Searches that a newer edition of a file on this machine answers: no request."""
    tasks: list[RoundTask] = field(default_factory=list)
    """In the order in which they are to be queued."""
    notes: list[str] = field(default_factory=list)
    """What a person can do about files that have become old."""
    settings: RefreshSection | None = None

    @property
    def requests(self) -> int:
        return sum(task.requests for task in self.tasks)

    def reasons(self) -> list[tuple[str, str, int, int]]:
        """Queue, reason, how many, requests."""
        counts, requests = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for task in self.tasks:
            counts[task.queue, task.reason] += 1
            requests[task.queue, task.reason] += task.requests
        return [(*key, count, requests[key]) for key, count in sorted(counts.items())]


def find_due(workspace: Workspace, name: str, *, everything: bool = False, within: timedelta = timedelta(0)) -> Due:
    """Everything that is older than it may be, or will be `within` that time; with `everything`, whatever was read."""
    indexes = campaign_indexes(workspace, name)
    campaign = needed_campaign(indexes)
    settings = campaign.settings.model().refresh
    now = campaign.store.now()
    due = Due(settings=settings)
    due.files = harvest_campaign(workspace, name, options=HarvestOptions(dry_run=True)).tiles
    releases = due_releases(workspace, indexes, settings, everything=everything)
    due.tasks += releases.tasks
    due.notes = [*releases.notes, *_old_files(workspace, name, settings, now, releases.kept)]
    due.tasks += _searches(indexes, settings, now + within, everything=everything)
    due.tasks += _websites(indexes, settings, now + within, everything=everything)
    return due


def _old_files(
    workspace: Workspace, name: str, settings: RefreshSection, now: datetime, kept: set[str]
) -> Iterator[str]:
    """Of sources that are not loaded by themselves, a person has to bring a newer file."""
    asked = workspace.campaign(name).settings.model().prospecting.sources
    newest: dict[str, datetime] = {}
    for added in list_sources(workspace):
        if added.about.source in asked and added.about.source not in kept:
            newest[added.about.source] = max(added.about.as_of, newest.get(added.about.source, added.about.as_of))
    for source, as_of in sorted(newest.items()):
        age = search_age(settings, source)
        if age is not None and now - as_of > age:
            command = f"cocli source fetch {source} -c {name}"
            fetched = source_named(source).download is not None
            remedy = command if fetched else "cocli source add FILE"
            yield f"The newest file of {source} is {(now - as_of).days} days old. A newer one: {remedy}"


# --- searches


def _searches(indexes: Indexes, settings: RefreshSection, now: datetime, *, everything: bool) -> Iterator[RoundTask]:
    campaign = needed_campaign(indexes)
    sources = tuple(
        source
        for source in dict.fromkeys(campaign.settings.model().prospecting.sources)
        if not source_named(source).reads_files
    )
    ages = {source: age for source in sources if (age := search_age(settings, source)) is not None}
    if everything:
        ages = dict.fromkeys(sources, timedelta(0))
    if not ages:
        return
    shortest = min(ages.values()) * SHORT * SHORT
    rolls = {(str(roll.tile), roll.phrase, roll.source): roll for roll in _scan(indexes, ROLLS)}

    def is_due(row: Lacking) -> bool:
        if row.source not in ages or row.read_at is None or row.outcome not in ("exhausted", "cut_short"):
            return False
        if row.outcome == "cut_short":
            return True  # whether it or its parts are read again is told by their own ages
        interval = search_interval(ages[row.source], rolls.get((row.tile, row.phrase, row.source)))
        return row.read_at < micros(now - interval)

    wanted = [row for row in lacking_rows(indexes, sources, now - shortest) if is_due(row)]
    mission = Mission(wanted, read_splits(indexes, now - max(ages.values())))
    costs = {source: _requests(source) for source in sources}
    for task in mission.tasks():
        asked = task.payload.get("sources")
        requests = sum(costs.get(str(source), 1) for source in asked) if isinstance(asked, list) else 1
        yield RoundTask(
            queue=SEARCHES, task_id=task.task_id, payload=dict(task.payload), requests=requests, reason=TOO_OLD
        )


def _requests(source: str) -> int:
    cost = source_named(source).cost
    return round(cost.requests) if cost else 1


# --- websites


def _websites(indexes: Indexes, settings: RefreshSection, now: datetime, *, everything: bool) -> list[RoundTask]:
    age = timedelta(0) if everything else website_age(settings)
    if age is None:
        return []
    standings = {standing.company_hash: standing for standing in _scan(indexes, STANDINGS)}
    exclusions = exclusions_of(needed_campaign(indexes))
    owners: list[Prospect] = [
        prospect
        for prospect in _scan(indexes, "prospects")
        if prospect.merged_into is None and is_excluded(prospect, exclusions) is None
    ]
    known = {domain.domain: domain for domain in _scan(indexes, "domains")}
    heard = {prospect.company_hash for prospect in owners if _is_heard(prospect)}
    found: list[tuple[bool, datetime, RoundTask]] = []
    for task in website_tasks(owners):
        site = known.get(task.task_id)
        last = site.last_crawled if site else None
        stood = [standings[owner] for owner in _owners(task.payload) if owner in standings]
        is_missing = any(standing.state == "missing" for standing in stood)
        if site is None or last is None or (all(standing.state == "closed" for standing in stood) and stood):
            continue
        is_nobodys = site.status != "alive" and heard.isdisjoint(_owners(task.payload))
        if last > now - _site_interval(age, stood, now, is_nobodys=is_nobodys and not is_missing):
            continue
        reason = MISSING_FIRST if is_missing else TOO_OLD
        again = RoundTask(
            queue=WEBSITES,
            task_id=again_id(task.task_id, last),
            payload={**task.payload, "brief": True},
            requests=SITE_REQUESTS,
            reason=reason,
        )
        found.append((not is_missing, last, again))
    return [again for _, _, again in sorted(found, key=lambda row: (row[0], row[1], row[2].task_id))]


def again_id(domain: str, last: datetime) -> str:
    """The task of the visit after that one. No domain has an underscore."""
    return f"{domain}_refresh-{last:%Y%m%d-%H%M%S}"


def _is_heard(prospect: Prospect) -> bool:
    """Whether its website ever told something of it."""
    return any(origin.source == WEBSITE for origin in prospect.origins)


def _site_interval(
    age: timedelta, stood: list[BusinessStanding], now: datetime, *, is_nobodys: bool = False
) -> timedelta:
    """Half of the age for a business that changed lately, because changes come in groups.

    Longer than the age where there was never a website of a business: dead, parked, for sale, closed to us. What such a
    site comes to say one day is no change of anything that was known.
    """
    if is_nobodys:
        return age * NOBODYS
    lately = any(standing.changed_at is not None and standing.changed_at > now - 2 * age for standing in stood)
    return age * SHORT if lately else age


def _owners(payload: object) -> list[str]:
    owners = payload.get("prospects") if isinstance(payload, dict) else None
    return [str(owner) for owner in owners] if isinstance(owners, list | tuple) else []


def _scan(indexes: Indexes, name: str) -> Iterator[Any]:
    return open_reader(indexes.open_beside(indexes.ref(name)), fresh=True).scan()
