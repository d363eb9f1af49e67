"""A round of refreshing: newer files are read at once, and of the rest as much is queued as a day's budget allows.
Releases of open data that were queued are loaded and read at once, too: no worker waits for them.

A round is an object that is created once and never changed; it names its tasks before one of them is queued, and is
marked when all of them are. Whoever dies in between is followed by the next one that looks, on whichever machine: it
puts the tasks of a round without a mark again, which changes nothing where they are there. So the budget of a day is
kept over all machines, and nothing is forgotten.
"""

from __future__ import annotations

import secrets
import socket
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from cocli import logs
from cocli.app.campaigns.harvest import harvest_campaign
from cocli.app.campaigns.settle import settle_campaign
from cocli.app.freshness.due import Due, find_due
from cocli.app.freshness.releases import load_releases, releases_queue
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.queues.queues import ended_on_store, opened_queue
from cocli.errors import Conflict
from cocli.formats import json_records
from cocli.keys.parts import decode_part
from cocli.keys.paths import QueuedRoundKey, RefreshRoundKey, campaign_folder, parse, task_folder
from cocli.models.freshness.refresh import RefreshRound, RoundTask
from cocli.pipeline.plan.mission import QUEUE as SEARCHES
from cocli.pipeline.stages.enrichment_loop import QUEUE as WEBSITES
from cocli.queue.base import NewTask
from cocli.queue.places import RELEASES
from cocli.queue.providers import provider_of
from cocli.store.settled import create

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from cocli.app.workspace import Campaign, Workspace
    from cocli.queue.base import Queue

_LOG = logs.get_logger(__name__)
_TRIES = 20
MOST_TASKS = 10_000
"""Of one round. The next one follows when they are queued."""


@dataclass(slots=True)
class Refreshing:
    """What a round did, or would do."""

    due: Due
    files: int = 0
    """Searches that were read anew from files."""
    loaded: list[str] = field(default_factory=list)
    """The releases that were loaded: `overture 2026-01-21.0`."""
    round: int | None = None
    """Its number; None where nothing was queued."""
    outcomes: dict[str, int] = field(default_factory=dict)
    """queued (or would_queue), already_pending, already_completed, already_sidelined."""
    budget: int = 0
    spent: int = 0
    """Requests of today's rounds, this one included."""
    left: int = 0
    """Tasks that are due and did not fit into the budget."""
    dry_run: bool = False

    @property
    def queued(self) -> int:
        return self.outcomes.get("would_queue" if self.dry_run else "queued", 0)


def refresh_campaign(
    workspace: Workspace,
    name: str,
    *,
    everything: bool = False,
    within: timedelta = timedelta(0),
    dry_run: bool = False,
) -> Refreshing:
    """Read newer files, load newer releases, and queue what is due, or will be `within` that time. Twice is once, on
    however many machines.

    With `everything`, whatever was read before is due.
    """
    campaign = workspace.campaign(name)
    rounds = _finished_rounds(campaign, dry_run=dry_run)
    files = 0
    if not dry_run:
        files = harvest_campaign(workspace, name).tiles
        if files:
            settle_campaign(workspace, name)
    due = find_due(workspace, name, everything=everything, within=within)
    done = Refreshing(due, files, budget=campaign.settings.model().refresh.budget, dry_run=dry_run)
    _choose(campaign, done, rounds)
    if not dry_run:
        loaded = load_releases(workspace, campaign_indexes(workspace, name))
        done.loaded, done.files = loaded.names, files + loaded.tiles
        due.notes += loaded.notes
    return done


def _choose(campaign: Campaign, done: Refreshing, rounds: list[RefreshRound]) -> None:
    """Make a round of what is due, and queue it."""
    due, name = done.due, campaign.name
    for _ in range(_TRIES):
        done.spent = sum(known.requests for known in rounds)
        chosen = _chosen(campaign, due.tasks, rounds, done)
        if done.dry_run:
            done.outcomes = {"would_queue": len(chosen)}
            return
        if not chosen:
            return
        made = _round(campaign, rounds, chosen)
        if create(campaign.store, _key(made), json_records.render(made)) is not None:
            done.round, done.spent = made.number, done.spent + made.requests
            done.outcomes = _queue(campaign, made)
            _LOG.info("refresh round", extra={"campaign": name, "round": made.number, "tasks": len(chosen)})
            return
        rounds = _finished_rounds(campaign)  # another machine came first: what is left is looked at again
    raise Conflict(key=f"{campaign_folder(name)}refresh/")


def _chosen(
    campaign: Campaign, tasks: Iterable[RoundTask], rounds: Iterable[RefreshRound], done: Refreshing
) -> list[RoundTask]:
    """What fits into the day, in order; what waits or was chosen today is not chosen again."""
    known = {task.task_id for earlier in rounds for task in earlier.tasks} | _waiting(campaign)
    left = done.budget - done.spent
    chosen: list[RoundTask] = []
    done.left = 0
    for task in tasks:
        if task.task_id in known:
            continue
        if task.requests > left or len(chosen) >= MOST_TASKS:
            done.left += 1
            continue
        left -= task.requests
        chosen.append(task)
    return chosen


def _waiting(campaign: Campaign) -> set[str]:
    """The tasks that wait, where the store keeps them, and those that were set aside."""
    found: set[str] = set()
    for queue in (RELEASES, SEARCHES, WEBSITES):
        places = ended_on_store(campaign, queue).places
        aside = (places.spot_of_sidelined(info.key) for info in campaign.store.list(places.sideline))
        found |= {_id_of(spot[1]) for spot in aside if spot is not None}
        if queue != RELEASES and not provider_of(campaign.settings.model()).lists_pending:
            continue
        folders = (task_folder(info.key) for info in campaign.store.list(places.pending))
        found |= {_id_of(folder[0].rstrip("/")) for folder in folders if folder is not None}
    return found


def _id_of(spot: str) -> str:
    return decode_part(spot.rpartition("/")[2])


# --- rounds


def _finished_rounds(campaign: Campaign, *, dry_run: bool = False) -> list[RefreshRound]:
    """The rounds of today. One that nobody has marked is queued again: its maker may have died before it was done."""
    day = f"{campaign.store.now():%Y%m%d}"
    folder = f"{campaign_folder(campaign.name)}refresh/{day}/"
    keys = [parse(info.key) for info in campaign.store.list(folder)]
    queued = {key.number for key in keys if isinstance(key, QueuedRoundKey)}
    rounds = [_read(campaign, str(key)) for key in keys if isinstance(key, RefreshRoundKey)]
    rounds.sort(key=lambda known: known.number)
    for known in rounds:
        if known.number not in queued and not dry_run:
            _queue(campaign, known)
    return rounds


def _read(campaign: Campaign, key: str) -> RefreshRound:
    return json_records.read(RefreshRound, campaign.store.get(key).data, file=key)


def _queue(campaign: Campaign, made: RefreshRound) -> dict[str, int]:
    """Queue the tasks of a round, and mark it when all of them are."""
    outcomes = _put(campaign, made.tasks)
    create(campaign.store, str(QueuedRoundKey(made.campaign, made.day, made.number)), b"{}\n")
    return outcomes


def _round(campaign: Campaign, rounds: list[RefreshRound], tasks: list[RoundTask]) -> RefreshRound:
    now = campaign.store.now()
    return RefreshRound(
        campaign=campaign.name,
        day=f"{now:%Y%m%d}",
        number=(rounds[-1].number if rounds else 0) + 1,
        created_at=now,
        host=socket.gethostname() or "unknown",
        requests=sum(task.requests for task in tasks),
        tasks=tuple(tasks),
        nonce=secrets.token_hex(12),
    )


def _key(made: RefreshRound) -> str:
    return str(RefreshRoundKey(made.campaign, made.day, made.number))


def _put(campaign: Campaign, tasks: Iterable[RoundTask]) -> dict[str, int]:
    outcomes: dict[str, int] = {}
    for queue_name in (RELEASES, SEARCHES, WEBSITES):
        wanted = [NewTask(task.task_id, task.payload) for task in tasks if task.queue == queue_name]
        if not wanted:
            continue
        with _opened(campaign, queue_name) as queue:
            for outcome, count in queue.put_many(wanted).counts.items():
                outcomes[outcome.value] = outcomes.get(outcome.value, 0) + count
    return outcomes


def _opened(campaign: Campaign, name: str) -> AbstractContextManager[Queue]:
    return closing(releases_queue(campaign)) if name == RELEASES else opened_queue(campaign, name)
