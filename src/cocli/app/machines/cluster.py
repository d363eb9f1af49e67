"""The machines of a campaign at a glance: their heartbeats, the queues, and what somebody should look at."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cocli.app.machines.finisher import read_upkeep
from cocli.app.queues.queues import QueueStatus, queue_status
from cocli.errors import CocliError, FormatError, NotFound, StoreError
from cocli.fleet.commands import WORKED
from cocli.fleet.election import elected_worker
from cocli.fleet.eviction import evicted_hosts
from cocli.fleet.stall import (
    Beat,
    FleetProblem,
    eviction_problems,
    extractor_problems,
    host_problems,
    parser_problems,
    queue_problems,
)
from cocli.formats import json_records
from cocli.keys.paths import STATUS_FOLDER, CampaignHeartbeatKey, ExtractorQualityKey, HeartbeatKey, quality_folder
from cocli.models.heartbeat import Heartbeat
from cocli.queue.base import QueueStats

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from cocli.app.workspace import Campaign, Workspace
    from cocli.models.campaign import CampaignConfig
    from cocli.models.heartbeat import Eviction, UpkeepRecord
    from cocli.models.report import CampaignFigures
    from cocli.store.base import Store


@dataclass(frozen=True, slots=True)
class Beats:
    """The heartbeats in a store, and the files there that are none."""

    beats: tuple[Beat, ...]
    unreadable: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class UpkeepStatus:
    """Who finishes the campaign, and how far that is."""

    elected: str | None = None
    """The host whose supervisor is elected now; None where none is."""
    record: UpkeepRecord | None = None
    """What was finished last, by whomever."""


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    campaign: str
    at: datetime
    beats: tuple[Beat, ...]
    queues: tuple[QueueStatus, ...]
    problems: tuple[FleetProblem, ...]
    paused: tuple[str, ...] = ()
    upkeep: UpkeepStatus = field(default_factory=UpkeepStatus)
    evicted: Mapping[str, Eviction] = field(default_factory=dict)
    figures: CampaignFigures | None = None
    """Only where somebody looks once: counting reads the indexes."""

    def state_of(self, beat: Beat) -> str:
        if beat.heartbeat.hostname in self.evicted:
            return "evicted"
        if beat.heartbeat.stopped_at is not None:
            return "stopped"
        if beat.is_overdue(self.at):
            return "overdue"
        return "alive"


def read_beats(store: Store, campaign: str | None = None) -> Beats:
    """What the machines say about themselves; with a campaign, what they say of their work for it, if they do."""
    keys = [info.key for info in store.list(STATUS_FOLDER) if _is_asked_for(info.key, campaign)]
    found, unreadable = dict[str, Beat](), list[tuple[str, str]]()
    machines = set[str]()
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
        if HeartbeatKey.fits(key):
            machines.add(heartbeat.hostname)
            found.setdefault(heartbeat.hostname, Beat(heartbeat, answer.modified))
        else:
            found[heartbeat.hostname] = Beat(heartbeat, answer.modified)
    return Beats(tuple(found[host] for host in sorted(machines)), tuple(unreadable))


def _is_asked_for(key: str, campaign: str | None) -> bool:
    if HeartbeatKey.fits(key):
        return True
    return (
        campaign is not None and CampaignHeartbeatKey.fits(key) and CampaignHeartbeatKey.parse(key).campaign == campaign
    )


def cluster_status(campaign: Campaign) -> ClusterStatus:
    config, now = campaign.settings.model(), campaign.store.now()
    found = read_beats(campaign.store, campaign.name)
    nodes = _node_queues(campaign, config, found.beats)
    queues = tuple(_queue(campaign, name, now) for name in (*WORKED, *_on_queues(config, nodes)))
    if config.documents.events == "kafka" and nodes:
        queues += tuple(_on_kafka(config, nodes, now))
    working: dict[str, datetime] = {}
    evicted = evicted_hosts(campaign.store)
    heeded = [beat for beat in found.beats if beat.heartbeat.hostname not in evicted]
    for beat in heeded:
        if beat.is_alive(now) and beat.heartbeat.campaign == campaign.name:
            for queue in (queue for queue, count in beat.heartbeat.workers.items() if count):
                waits_in = nodes.get(queue, queue)
                working[waits_in] = min(beat.heartbeat.started_at, working.get(waits_in, now))
    paused = config.queue.paused
    wanted = (
        (host, {queue: count for queue, count in counts.items() if count and queue not in paused})
        for host, counts in config.workers.items()
        if host not in evicted
    )
    expected = {host: counts for host, counts in wanted if counts}
    problems = [
        *queue_problems(
            [queue_line.stats for queue_line in queues if queue_line.stats is not None],
            campaign=campaign.name,
            paused=[nodes.get(name, name) for name in paused],
            working=working,
            now=now,
            nodes={queue: node for node, queue in nodes.items()},
        ),
        *(
            FleetProblem("queue", queue_line.name, queue_line.problem)
            for queue_line in queues
            if queue_line.problem is not None
        ),
        *host_problems(heeded, expected=expected, now=now),
        *eviction_problems(found.beats, evicted),
        *_parser_problems(campaign, now),
        *(
            FleetProblem("silent", key, f"is not a heartbeat: {message}", f"cocli store rm {key}")
            for key, message in found.unreadable
        ),
    ]
    upkeep = UpkeepStatus(elected_worker(campaign.store, campaign.name), read_upkeep(campaign.store, campaign.name))
    problems += _upkeep_problems(campaign.name, upkeep)
    return ClusterStatus(campaign.name, now, found.beats, queues, tuple(problems), paused, upkeep, evicted)


def _upkeep_problems(campaign: str, upkeep: UpkeepStatus) -> list[FleetProblem]:
    if upkeep.elected is None or upkeep.record is None or upkeep.record.problem is None:
        return []
    message = f"the campaign could not be finished: {upkeep.record.problem}"
    return [FleetProblem("upkeep", upkeep.record.host, message, f"cocli campaign settle {campaign} --everything")]


def counted_status(workspace: Workspace, name: str) -> ClusterStatus:
    """The same with the campaign's figures. Where they cannot be counted, that is a problem if there is no other."""
    from cocli.app.indexes.indexes import campaign_indexes
    from cocli.app.results.figures import count_figures

    status = cluster_status(workspace.campaign(name))
    try:
        return replace(status, figures=count_figures(campaign_indexes(workspace, name)))
    except CocliError as error:
        problem = FleetProblem("figures", name, error.message, error.hint)
        return replace(status, problems=status.problems or (problem,))


def _node_queues(campaign: Campaign, config: CampaignConfig, beats: Iterable[Beat]) -> dict[str, str]:
    """Node → the queue that its messages wait in, for all nodes that machines work for, or are to."""
    from cocli.documents.graph.destination import Destination

    asked = {name for counts in config.workers.values() for name in counts}
    for beat in beats:
        if beat.heartbeat.campaign == campaign.name:
            asked |= set(beat.heartbeat.workers)
    edition = config.documents.edition or config.cluster.id
    return {name: Destination(edition, name).queue for name in sorted(asked - set(WORKED))}


def _on_queues(config: CampaignConfig, nodes: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(nodes.values()) if config.documents.events == "queue" else ()


def _on_kafka(config: CampaignConfig, nodes: Mapping[str, str], now: datetime) -> Iterator[QueueStatus]:
    """What waits in the topics of nodes. Kafka tells neither what is in hand nor how much was done lately."""
    from cocli.app.documents.events import kafka_transport
    from cocli.documents.graph.destination import Destination

    for node, name in nodes.items():
        try:
            with closing(kafka_transport(config.documents)) as transport:
                backlog = transport.backlog(Destination(config.documents.edition or config.cluster.id, node))
        except CocliError as error:  # the broker is away, or not installed: the machines are worth seeing all the same
            yield QueueStatus(name, now, problem=error.message)
            continue
        stats = QueueStats(name, backlog.waiting, 0, None, None, {}, oldest=backlog.oldest)
        yield QueueStatus(name, now, stats)


def _queue(campaign: Campaign, name: str, now: datetime) -> QueueStatus:
    try:
        return queue_status(campaign, name)
    except CocliError as error:  # SQS may be away while the store is not: the machines are worth seeing all the same
        return QueueStatus(name, now, problem=error.message)


def _parser_problems(campaign: Campaign, now: datetime) -> list[FleetProblem]:
    """The alarms of all self-checks that can be read, and which cannot."""
    store, found = campaign.store, list[FleetProblem]()
    keys = sorted(info.key for info in store.list(quality_folder(campaign.name)))
    for key, answer in zip(keys, store.get_many(keys), strict=True):
        if isinstance(answer, NotFound):
            continue  # taken away since it was listed
        try:
            if isinstance(answer, StoreError):
                raise answer
            found += _alarms(campaign, key, answer.data, now)
        except (FormatError, StoreError) as error:  # told with the others: one bad file must not hide the rest
            message = f"its self-check cannot be read: {error.message}"
            found.append(FleetProblem("parser", key, message, f"cocli store rm {key} (it is counted anew)"))
    return found


def _alarms(campaign: Campaign, key: str, data: bytes, now: datetime) -> list[FleetProblem]:
    if ExtractorQualityKey.fits(key):
        from cocli.pipeline.websites.site.extractor_quality import ExtractorQuality

        counts = json_records.read(ExtractorQuality, data, file=key)
        return extractor_problems([counts], campaign=campaign.name, now=now)
    from cocli.pipeline.sources.google_maps.quality_book import (
        ParserQuality,  # with all parsers: who only sends a command needs none
    )

    return parser_problems([json_records.read(ParserQuality, data, file=key)])
