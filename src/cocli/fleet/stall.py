"""What is wrong with a cluster, from what its machines and queues say: pure, so that every rule can be tried."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from cocli.fleet.heartbeat import OVERDUE_PERIODS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from cocli.models.heartbeat import Eviction, Heartbeat
    from cocli.pipeline.sources.google_maps.quality_book import ParserQuality
    from cocli.pipeline.websites.site.extractor_quality import ExtractorAlarm, ExtractorQuality
    from cocli.queue.base import QueueStats

STALLED = timedelta(minutes=15)
DISK_LOW_BYTES = 1 << 30
CLOCK_LIMIT = timedelta(seconds=60)

STARTED = timedelta(minutes=1)
"""After so long a host's workers should run."""

Kind = Literal[
    "stalled",
    "overdue",
    "silent",
    "idle",
    "missing",
    "disk",
    "clock",
    "parser",
    "queue",
    "upkeep",
    "figures",
    "evicted",
]


@dataclass(frozen=True, slots=True)
class FleetProblem:
    """One thing that somebody should look at. `subject` is a queue or a host."""

    kind: Kind
    subject: str
    message: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Beat:
    """A heartbeat as it lies in the store. `written_at` is by the store's clock."""

    heartbeat: Heartbeat
    written_at: datetime

    @property
    def skew(self) -> timedelta:
        """How far the machine's clock is ahead of the store's."""
        return self.heartbeat.at - self.written_at

    def is_overdue(self, now: datetime) -> bool:
        period = timedelta(seconds=self.heartbeat.period_seconds)
        return self.heartbeat.stopped_at is None and now - self.written_at > period * OVERDUE_PERIODS

    def is_alive(self, now: datetime) -> bool:
        return self.heartbeat.stopped_at is None and not self.is_overdue(now)


def queue_problems(
    stats: Iterable[QueueStats],
    *,
    campaign: str,
    paused: Sequence[str],
    working: Mapping[str, datetime],
    now: datetime,
    nodes: Mapping[str, str] | None = None,
) -> list[FleetProblem]:
    """`working` is queue → since when workers of it run somewhere; `nodes` is queue → the node that it belongs to."""
    found = []
    for figures in stats:
        quiet, works_since = figures.completed_recently == 0, working.get(figures.queue)
        # SQS does not tell since when a task waits. There, workers that run and complete nothing tell it.
        since = figures.oldest or (works_since or now - STALLED if quiet else now)
        if figures.queue in paused or not figures.pending or now - since < STALLED:
            continue
        if quiet and (figures.oldest or works_since):
            message = f"{figures.pending:,} tasks wait, and none was completed in {STALLED.seconds // 60} minutes"
            found.append(
                FleetProblem("stalled", figures.queue, message, f"cocli queue ls {figures.queue} -c {campaign}")
            )
        elif works_since is not None and figures.oldest and figures.completed_recently is None:
            # Kafka does not tell how much was done lately: what waits for long is worth a look.
            message = f"{figures.pending:,} messages wait, the first since {figures.oldest:%Y-%m-%d %H:%M}"
            found.append(FleetProblem("stalled", figures.queue, message, f"cocli cluster status -c {campaign}"))
        elif works_since is None and not figures.leased:
            message = f"{figures.pending:,} tasks wait, and no worker runs"
            node = (nodes or {}).get(figures.queue)
            words = f"documents work {node}" if node else f"worker {figures.queue}"
            found.append(FleetProblem("idle", figures.queue, message, f"cocli {words} -c {campaign}"))
    return found


def host_problems(
    beats: Iterable[Beat], *, expected: Mapping[str, Mapping[str, int]], now: datetime
) -> list[FleetProblem]:
    """`expected` is host → queue → how many workers the configuration asks for, without those that are paused."""
    found: list[FleetProblem] = []
    known = {beat.heartbeat.hostname: beat for beat in beats}
    for host, counts in expected.items():
        beat = known.get(host)
        if beat is None:
            hint = "cocli supervisor (on that machine)"
            found.append(FleetProblem("silent", host, "is to run workers, and never reported", hint))
        elif beat.heartbeat.stopped_at is not None:
            hint = "cocli supervisor (on that machine)"
            found.append(FleetProblem("silent", host, "is to run workers, and its supervisor was stopped", hint))
        elif beat.is_alive(now):
            found += _missing_workers(beat, counts)
    for host, beat in known.items():
        found += _problems_of(host, beat, now)
    return found


def eviction_problems(beats: Iterable[Beat], evicted: Mapping[str, Eviction]) -> list[FleetProblem]:
    """A machine that goes on though it was evicted: it does not look, and its key still opens the store."""
    found = []
    for beat in beats:
        host = beat.heartbeat.hostname
        eviction = evicted.get(host)
        # A supervisor that is well says once more that it stops. One that reports as if nothing had happened does not.
        if eviction is None or beat.heartbeat.stopped_at is not None or beat.written_at <= eviction.evicted_at:
            continue
        message = f"was evicted on {eviction.evicted_at:%Y-%m-%d %H:%M:%SZ}, and reports all the same: revoke its key"
        found.append(FleetProblem("evicted", host, message, f"cocli cluster evict {host} (says which key that is)"))
    return found


def _missing_workers(beat: Beat, counts: Mapping[str, int]) -> list[FleetProblem]:
    """Workers that do not get up, or die again and again. One that was asked for just now comes without an error."""
    heartbeat = beat.heartbeat
    if heartbeat.last_error is None or heartbeat.at - heartbeat.started_at < STARTED:
        return []
    return [
        FleetProblem(
            "missing", heartbeat.hostname, f"runs {runs} of {count} workers of {queue}: {heartbeat.last_error}"
        )
        for queue, count in counts.items()
        if (runs := heartbeat.workers.get(queue, 0)) < count
    ]


def _problems_of(host: str, beat: Beat, now: datetime) -> list[FleetProblem]:
    heartbeat, found = beat.heartbeat, list[FleetProblem]()
    if beat.is_overdue(now):
        minutes = (now - beat.written_at).total_seconds() / 60
        message = f"did not report for {minutes:.0f} minutes, though it should every {heartbeat.period_seconds:.0f} s"
        found.append(
            FleetProblem("overdue", host, message, f"cocli store rm status/{host}.json (if it is gone for good)")
        )
    if not beat.is_alive(now):
        return found
    if heartbeat.disk_free_bytes < DISK_LOW_BYTES:
        found.append(FleetProblem("disk", host, f"has {heartbeat.disk_free_bytes >> 20:,} MiB of disk left"))
    if abs(beat.skew) > CLOCK_LIMIT:
        way = "ahead of" if beat.skew > timedelta(0) else "behind"
        message = f"its clock is {abs(beat.skew.total_seconds()):.0f} s {way} the store's"
        found.append(FleetProblem("clock", host, message, "Set it by NTP: timedatectl set-ntp true"))
    return found


def parser_problems(checks: Iterable[ParserQuality]) -> list[FleetProblem]:
    """The alarms of the parsers' self-checks."""
    hint = "cocli documents ls"
    return [FleetProblem("parser", check.parser, alarm.message, hint) for check in checks for alarm in check.alarms]


def extractor_problems(counts: Iterable[ExtractorQuality], *, campaign: str, now: datetime) -> list[FleetProblem]:
    """Extractors that fail on too many websites of a machine, each with a page and the command that shows it."""
    return [
        FleetProblem("parser", f"websites/{alarm.extractor} on {count.hostname}", alarm.message, _page(alarm, campaign))
        for count in counts
        for alarm in count.alarms(now)
    ]


def _page(alarm: ExtractorAlarm, campaign: str) -> str:
    return f"cocli documents get {shlex.quote(alarm.example.document)} --node page -c {campaign}"
