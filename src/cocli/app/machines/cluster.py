"""The machines of a campaign at a glance: their heartbeats, the queues, and what somebody should look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.app.queues.queues import QueueStatus, queue_status
from cocli.errors import CocliError, FormatError, NotFound, StoreError
from cocli.fleet.commands import WORKED
from cocli.fleet.stall import Beat, FleetProblem, host_problems, parser_problems, queue_problems
from cocli.formats import json_records
from cocli.keys.paths import STATUS_FOLDER, quality_folder
from cocli.models.heartbeat import Heartbeat

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.app.workspace import Campaign
    from cocli.store.base import Store


@dataclass(frozen=True, slots=True)
class Beats:
    """The heartbeats in a store, and the files there that are none."""

    beats: tuple[Beat, ...]
    unreadable: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    campaign: str
    at: datetime
    beats: tuple[Beat, ...]
    queues: tuple[QueueStatus, ...]
    problems: tuple[FleetProblem, ...]
    paused: tuple[str, ...] = ()

    def state_of(self, beat: Beat) -> str:
        if beat.heartbeat.stopped_at is not None:
            return "stopped"
        if beat.is_overdue(self.at):
            return "overdue"
        return "alive"


def read_beats(store: Store) -> Beats:
    keys = [info.key for info in store.list(STATUS_FOLDER) if info.key.count("/") == 1 and info.key.endswith(".json")]
    beats, unreadable = [], []
    for key, answer in zip(keys, store.get_many(keys), strict=True):
        if isinstance(answer, NotFound):
            continue  # gone since it was listed
        try:
            if isinstance(answer, StoreError):
                raise answer
            heartbeat = json_records.read(Heartbeat, answer.data, file=key)
        except (FormatError, StoreError) as error:  # told with the others: one bad file must not hide the rest
            unreadable.append((key, error.message))
            continue
        beats.append(Beat(heartbeat, answer.modified))
    return Beats(tuple(sorted(beats, key=lambda beat: beat.heartbeat.hostname)), tuple(unreadable))


def cluster_status(campaign: Campaign) -> ClusterStatus:
    config, now = campaign.settings.model(), campaign.store.now()
    found = read_beats(campaign.store)
    queues = tuple(_queue(campaign, name, now) for name in WORKED)
    working: dict[str, datetime] = {}
    for beat in found.beats:
        if beat.is_alive(now) and beat.heartbeat.campaign == campaign.name:
            for queue in (queue for queue, count in beat.heartbeat.workers.items() if count):
                working[queue] = min(beat.heartbeat.started_at, working.get(queue, now))
    paused = config.queue.paused
    wanted = (
        (host, {queue: count for queue, count in counts.items() if count and queue not in paused})
        for host, counts in config.workers.items()
    )
    expected = {host: counts for host, counts in wanted if counts}
    problems = [
        *queue_problems(
            [queue_line.stats for queue_line in queues if queue_line.stats is not None],
            campaign=campaign.name,
            paused=paused,
            working=working,
            now=now,
        ),
        *(
            FleetProblem("queue", queue_line.name, queue_line.problem)
            for queue_line in queues
            if queue_line.problem is not None
        ),
        *host_problems(found.beats, expected=expected, now=now),
        *_parser_problems(campaign),
        *(
            FleetProblem("silent", key, f"is not a heartbeat: {message}", f"cocli store rm {key}")
            for key, message in found.unreadable
        ),
    ]
    return ClusterStatus(campaign.name, now, found.beats, queues, tuple(problems), paused)


def _queue(campaign: Campaign, name: str, now: datetime) -> QueueStatus:
    try:
        return queue_status(campaign, name)
    except CocliError as error:  # SQS may be away while the store is not: the machines are worth seeing all the same
        return QueueStatus(name, now, problem=error.message)


def _parser_problems(campaign: Campaign) -> list[FleetProblem]:
    """The alarms of all self-checks that can be read, and which cannot."""
    from cocli.pipeline.sources.google_maps.quality_book import (
        ParserQuality,  # with all parsers: who only sends a command needs none
    )

    store, found = campaign.store, list[FleetProblem]()
    keys = sorted(info.key for info in store.list(quality_folder(campaign.name)))
    for key, answer in zip(keys, store.get_many(keys), strict=True):
        if isinstance(answer, NotFound):
            continue  # taken away since it was listed
        try:
            if isinstance(answer, StoreError):
                raise answer
            found += parser_problems([json_records.read(ParserQuality, answer.data, file=key)])
        except (FormatError, StoreError) as error:  # told with the others: one bad file must not hide the rest
            message = f"its self-check cannot be read: {error.message}"
            found.append(FleetProblem("parser", key, message, f"cocli store rm {key} (it is counted anew)"))
    return found
