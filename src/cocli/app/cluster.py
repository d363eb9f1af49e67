"""The machines of a campaign at a glance: their heartbeats, the queues, and what somebody should look at."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.app.queue import queue_status
from cocli.errors import FormatError, StoreError
from cocli.formats import json_records
from cocli.models.heartbeat import Heartbeat
from cocli.paths import STATUS_FOLDER
from cocli.sources.google_maps.quality_book import quality_of
from cocli.workers.commands import WORKED
from cocli.workers.google_maps import parser_problems
from cocli.workers.stall import Beat, Problem, host_problems, queue_problems

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.app.queue import QueueStatus
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
    problems: tuple[Problem, ...]
    paused: tuple[str, ...] = ()

    def state_of(self, beat: Beat) -> str:
        if beat.heartbeat.stopped_at is not None:
            return "stopped"
        return "overdue" if beat.is_overdue(self.at) else "alive"


def read_beats(store: Store) -> Beats:
    keys = [info.key for info in store.list(STATUS_FOLDER) if info.key.count("/") == 1 and info.key.endswith(".json")]
    beats, unreadable = [], []
    for key, answer in zip(keys, store.get_many(keys), strict=True):
        if isinstance(answer, StoreError):
            continue  # gone since it was listed
        try:
            heartbeat = json_records.read(Heartbeat, answer.data, file=key)
        except FormatError as error:
            unreadable.append((key, error.message))
            continue
        beats.append(Beat(heartbeat, answer.modified))
    return Beats(tuple(sorted(beats, key=lambda one: one.heartbeat.hostname)), tuple(unreadable))


def cluster_status(campaign: Campaign) -> ClusterStatus:
    config, now = campaign.settings.model(), campaign.store.now()
    found = read_beats(campaign.store)
    queues = tuple(queue_status(campaign, name) for name in WORKED)
    working = Counter[str]()
    for beat in found.beats:
        if beat.is_alive(now) and beat.heartbeat.campaign == campaign.name:
            working.update(beat.heartbeat.workers)
    paused = config.queue.paused
    expected = [
        host
        for host, counts in config.workers.items()
        if any(count for queue, count in counts.items() if queue not in paused)
    ]
    problems = [
        *queue_problems(
            [one.stats for one in queues if one.stats is not None],
            campaign=campaign.name,
            paused=paused,
            working=working,
            now=now,
        ),
        *(Problem("queue", one.name, one.problem) for one in queues if one.problem is not None),
        *host_problems(found.beats, expected=expected, now=now),
        *parser_problems(quality_of(campaign.store, campaign.name)),
        *(Problem("silent", key, f"is not a heartbeat: {message}") for key, message in found.unreadable),
    ]
    return ClusterStatus(campaign.name, now, found.beats, queues, tuple(problems), paused)
