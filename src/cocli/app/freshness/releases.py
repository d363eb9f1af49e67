"""Newer releases of open data: which are due, and loading them, once over all machines.

A release that is due becomes a task of the queue `releases`, named after source, release and box, so that every machine
makes the same one. Whoever refreshes works it off at once: it loads the release, reads what the campaign lacks of it,
and completes the task. A machine that dies is followed by the next one that refreshes, when its lease has run out.
"""

from __future__ import annotations

import hashlib
import socket
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from cocli import logs
from cocli.app.campaigns.harvest import harvest_campaign
from cocli.app.campaigns.settle import settle_campaign
from cocli.app.indexes.indexes import needed_campaign
from cocli.app.sources.releases import LoadedBox, drop_earlier, load_release, loaded_boxes, newest_release
from cocli.app.sources.sources import territory_box
from cocli.errors import CocliError
from cocli.fleet.eviction import Gate
from cocli.fleet.worker_name import worker_name
from cocli.index.reader import open_reader
from cocli.models.completion import Failed, Ok
from cocli.models.freshness.refresh import RoundTask
from cocli.models.task import TaskError
from cocli.pipeline.freshness.intervals import search_age
from cocli.pipeline.sources.open_places import Box
from cocli.pipeline.sources.open_places.library import release_day
from cocli.pipeline.sources.registry import source_named
from cocli.queue.leased.queue import LeasedQueue
from cocli.queue.places import RELEASES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cocli.app.indexes.indexes import Indexes
    from cocli.app.workspace import Campaign, Workspace
    from cocli.models.campaign import RefreshSection
    from cocli.queue.leased.claim import LeasedClaim

_LOG = logs.get_logger(__name__)
REASON = "newer release"
REQUESTS = 100
"""What loading a box over a network is taken to cost: the ends of some large files, and the parts that are wanted."""
LEASE_SECONDS = 60.0
_ATTEMPTS = 100
_MARKS = "harvested-tiles"


@dataclass(slots=True)
class DueReleases:
    tasks: list[RoundTask] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)
    """The sources that are loaded by themselves."""


@dataclass(slots=True)
class LoadedReleases:
    names: list[str] = field(default_factory=list)
    """`overture 2026-01-21.0`."""
    tiles: int = 0
    """Searches that were read from them."""
    notes: list[str] = field(default_factory=list)


def due_releases(
    workspace: Workspace, indexes: Indexes, settings: RefreshSection, *, everything: bool = False
) -> DueReleases:
    """The releases that are newer than what the campaign has read. One request a source and day, at most."""
    campaign = needed_campaign(indexes)
    due = DueReleases()
    if settings.fetch == "never" or not settings.budget:
        return due
    now = campaign.store.now()
    for source in dict.fromkeys(campaign.settings.model().prospecting.sources):
        age = timedelta(0) if everything else search_age(settings, source)
        if age is None or source_named(source).newest is None:
            continue
        try:
            for kept in _kept(workspace, campaign, settings, source):
                due.kept.add(source)
                if kept.as_of is None or now - kept.as_of > age:
                    due.tasks += _newer(workspace, indexes, kept, now, anew=everything)
        except CocliError as error:  # without a network the rest is refreshed all the same
            due.notes.append(f"Newer releases of {source} were not looked for: {error.message}")
            _LOG.warning("newer releases were not looked for", extra={"source": source, "error": error.message})
    return due


def _kept(workspace: Workspace, campaign: Campaign, settings: RefreshSection, source: str) -> list[LoadedBox]:
    loaded = loaded_boxes(workspace, source)
    if loaded or settings.fetch == "loaded":
        return loaded
    return [LoadedBox(source, territory_box(campaign).snapped())]


def _newer(
    workspace: Workspace, indexes: Indexes, kept: LoadedBox, now: datetime, *, anew: bool
) -> Iterator[RoundTask]:
    release = newest_release(workspace, kept.source, kept.base, now, anew=anew)
    if not _lacks(indexes, kept, release):
        return
    is_near = kept.base is not None and "://" not in kept.base
    yield RoundTask(
        queue=RELEASES,
        task_id=f"{kept.source}_{release}_{hashlib.sha256(str(kept.box).encode()).hexdigest()[:12]}",
        payload={"source": kept.source, "release": release, "box": str(kept.box), "base": kept.base},
        requests=0 if is_near else REQUESTS,
        reason=REASON,
    )


def _lacks(indexes: Indexes, kept: LoadedBox, release: str) -> bool:
    """Whether the campaign has a search in the box that was read from an earlier release. Nobody else can tell: another
    machine may have read the newest one, whatever lies here."""
    day = release_day(release)
    if day is None or (kept.as_of is not None and day <= kept.as_of):
        return False
    return any(
        mark.source == kept.source and kept.box.holds(mark.tile) and (mark.as_of is None or mark.as_of < day)
        for mark in open_reader(indexes.open(indexes.ref(_MARKS)), fresh=True).scan()
    )


# --- loading


def releases_queue(campaign: Campaign) -> LeasedQueue:
    """On the store, wherever the work of stages waits."""
    return LeasedQueue(
        campaign.store,
        campaign.name,
        RELEASES,
        worker=worker_name(),
        lease_seconds=LEASE_SECONDS,
        attempts=_ATTEMPTS,
        gate=Gate(campaign.store, socket.gethostname()),
    )


def load_releases(workspace: Workspace, indexes: Indexes) -> LoadedReleases:
    """Load what waits, and read it. What fails waits for the next one who refreshes; nothing else stops for it."""
    campaign = needed_campaign(indexes)
    done = LoadedReleases()
    if campaign.settings.model().refresh.fetch == "never":
        return done
    queue = releases_queue(campaign)
    try:
        while (claim := queue.claim()) is not None:
            _work_off(workspace, indexes, queue, claim, done)
    finally:
        queue.close()
    return done


def _work_off(
    workspace: Workspace, indexes: Indexes, queue: LeasedQueue, claim: LeasedClaim, done: LoadedReleases
) -> None:
    payload = claim.task.payload
    base = payload.get("base")
    wanted = LoadedBox(str(payload["source"]), Box.parse(str(payload["box"])), str(base) if base else None)
    release = str(payload["release"])
    try:
        with queue.held(claim):
            tiles = _loaded(workspace, indexes, wanted, release)
    except CocliError as error:
        done.notes.append(f"{wanted.source} {release} was not loaded: {error.message}")
        _LOG.warning("a release was not loaded", extra={"task": claim.task.task_id, "error": error.code})
        if not claim.lost:
            problem = TaskError(code=error.code, message=error.message, retryable=error.retryable)
            queue.ack(claim, Failed(error=problem))
        return
    if claim.lost:
        return  # another machine does it again: it finds the same
    queue.ack(claim, Ok(result={"tiles": tiles}, count=tiles))
    done.names.append(f"{wanted.source} {release}")
    done.tiles += tiles


def _loaded(workspace: Workspace, indexes: Indexes, wanted: LoadedBox, release: str) -> int:
    """Load a release and read what the campaign lacks of it; how many searches that were."""
    if not _lacks(indexes, wanted, release):
        return 0  # a later one was read meanwhile
    campaign = needed_campaign(indexes)
    file = load_release(workspace, wanted, release, campaign.store.now())
    tiles = harvest_campaign(workspace, campaign.name).tiles
    if tiles:
        settle_campaign(workspace, campaign.name)
    drop_earlier(workspace, file)
    return tiles
