"""Running a worker: from a campaign's name and perhaps a store's address to tasks that are done."""

from __future__ import annotations

import random
import re
import secrets
import socket
import time
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from cocli import logs
from cocli.app.campaigns.name import campaign_names
from cocli.app.machines.processes import worker_spawner
from cocli.app.machines.stages import campaign_queue, open_stage
from cocli.errors import CocliError, UsageError
from cocli.fleet.companions import Companions, merged
from cocli.fleet.eviction import Gate
from cocli.fleet.task_worker import IdleSettings
from cocli.fleet.worker import Worker
from cocli.fleet.worker_name import worker_name
from cocli.pipeline.sources.registry import source_named

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.app.workspace import Campaign, Workspace
    from cocli.fleet.drain import Drain
    from cocli.fleet.task_worker import TaskWorker
    from cocli.models.heartbeat import WorkerReport
    from cocli.pipeline.stages.stage import Stage, WaitingStage
    from cocli.queue.base import Queue

_LOG = logs.get_logger(__name__)

_DURATION = re.compile(r"([0-9]{1,6}(?:\.[0-9]+)?)\s*(s|m|h|d)?")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_TOLD_SECONDS = 1.0
_COUNTED_SECONDS = 30.0
_COUNTING_SHARE = 50


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    threads: int | None = None
    until_empty: bool = False
    seconds: float | None = None
    host: str | None = None
    """What this machine is called, where that is not its host name."""
    processes: int = 1
    """That share the queue of websites while many wait."""
    timing: IdleSettings = field(default_factory=IdleSettings)


@dataclass(frozen=True, slots=True)
class WorkerProgress:
    """How far a worker is. `left` is None until it was counted."""

    report: WorkerReport
    seconds: float
    left: int | None = None

    @property
    def ended(self) -> int:
        return sum(self.report.ended.values())

    @property
    def per_minute(self) -> float:
        return self.report.completed / max(self.seconds, 1.0) * 60


@dataclass(frozen=True, slots=True)
class Worked:
    """What a worker did. `whole` is False where something had to be given back unfinished."""

    campaign: str
    progress: WorkerProgress
    whole: bool


def parse_duration(text: str) -> float:
    """`90s`, `10m`, `2h`; a number alone is seconds."""
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise UsageError(reason=f'"{text}" is not a duration', hint="Write 90s, 10m or 2h.")
    return float(match[1]) * _SECONDS[match[2] or "s"]


def bootstrap(workspace: Workspace, name: str | None) -> Campaign:
    """The campaign to work for. A bare machine knows the store's address only: if one campaign is there, it is that."""
    if name:
        return workspace.campaign(name)
    known = sorted(campaign_names(workspace.store))
    if len(known) == 1:
        return workspace.campaign(known[0])
    raise UsageError(
        reason=f"Which campaign? Known campaigns: {', '.join(known) or 'none yet'}.",
        hint="Name it with --campaign NAME, or set CAMPAIGN_NAME.",
    )


def run_worker(
    workspace: Workspace,
    campaign: Campaign,
    name: str,
    settings: WorkerSettings,
    drain: Drain,
    *,
    on_progress: Callable[[WorkerProgress], None] | None = None,
    on_trouble: Callable[[str], None] | None = None,
    counts: bool = False,
) -> Worked:
    """Work until asked to stop. With `counts`, the progress says now and then how much is left."""
    host = settings.host or socket.gethostname()
    who, gate = worker_name(host), Gate(campaign.store, host)
    gate()
    with (
        logs.bound(campaign=campaign.name, queue=name, host=settings.host),
        closing(_companions(workspace, campaign, name, settings, drain, on_trouble)) as companions,
        open_stage(workspace, campaign, name, worker=who) as stage,
    ):
        queue = campaign_queue(campaign, name, worker=who, check=True, gate=gate)
        try:
            worker = _opened_worker(campaign, stage, queue, settings, companions, on_trouble)
            watch = _Watch(worker, queue, who, on_progress, companions, counts=counts)
            whole = worker.run(drain, seconds=settings.seconds, on_look=watch.look)
            companions.finish(watch.look)
            return Worked(campaign.name, watch.at_the_end(), whole)
        finally:
            queue.close()


def _companions(
    workspace: Workspace,
    campaign: Campaign,
    name: str,
    settings: WorkerSettings,
    drain: Drain,
    on_trouble: Callable[[str], None] | None,
) -> Companions:
    """They are started beside the opening of this worker's own stage: both take a second."""
    count = _processes(name, settings) - 1
    options = ["--once", "--processes", "1", "--workers", str(_most(campaign, settings))]
    if settings.seconds is not None:
        options += ["--for", f"{settings.seconds:g}s"]
    spawn = worker_spawner(workspace, campaign.name, on_trouble or _LOG.warning, settings.host, options=options)

    def waiting() -> int:
        queue = campaign_queue(campaign, name)
        try:
            return queue.stats().waiting
        finally:
            queue.close()

    return Companions(
        lambda: spawn(name, f"{name} beside"), waiting, count=count, queue=name, drain=drain, on_trouble=on_trouble
    )


def _processes(name: str, settings: WorkerSettings) -> int:
    return settings.processes if name == "enrichment" else 1


def _most(campaign: Campaign, settings: WorkerSettings) -> int:
    """Sites that one process reads at a time: those that share the queue share what may be in flight."""
    concurrency = campaign.settings.model().fetch.concurrency
    most = min(settings.threads or concurrency, concurrency)
    return max(1, most // _processes("enrichment", settings))


def _opened_worker(
    campaign: Campaign,
    stage: Stage,
    queue: Queue,
    settings: WorkerSettings,
    companions: Companions,
    on_trouble: Callable[[str], None] | None,
) -> TaskWorker:
    """An event loop for the stage that waits for others, threads for those that work themselves."""
    rng = random.Random(secrets.randbits(64))  # noqa: S311 - spreads waits, hides nothing
    if queue.name != "enrichment":
        return Worker(
            stage,
            queue,
            rng=rng,
            threads=settings.threads or usual_threads(campaign, queue.name),
            until_empty=settings.until_empty,
            timing=settings.timing,
            on_trouble=on_trouble,
        )
    from cocli.fleet.loop_worker import LoopWorker
    from cocli.fleet.scaling.load_meter import (  # only who reads websites measures the machine
        LoadMeter,
        ask_for_descriptors,
    )

    ask_for_descriptors()
    return LoopWorker(
        cast("WaitingStage", stage),
        queue,
        rng=rng,
        most=_most(campaign, settings),
        meter=LoadMeter(without=lambda: companions.pids),
        until_empty=settings.until_empty,
        timing=settings.timing,
        on_trouble=on_trouble,
    )


def usual_threads(campaign: Campaign, name: str) -> int:
    """How many tasks a worker of this campaign does at a time, where it works itself: open data keeps a processor busy,
    Google Maps is read in as many tabs as are configured."""
    config = campaign.settings.model()
    has_pages = any(source_named(source).gives_details for source in config.prospecting.sources)
    in_browser = name == "gm-details" or (name == "gm-list" and has_pages)
    return config.google_maps.tabs if in_browser else 1


class _Watch:
    """Tells how far a worker is, about once a second."""

    def __init__(
        self,
        worker: TaskWorker,
        queue: Queue,
        who: str,
        on_progress: Callable[[WorkerProgress], None] | None,
        companions: Companions,
        *,
        counts: bool,
    ) -> None:
        self._worker = worker
        self._companions = companions
        self._queue = queue
        self._who = who
        self._on_progress = on_progress
        self._counts = counts
        self._started = time.monotonic()
        self._next = self._count_at = 0.0
        self._left: int | None = None

    def progress(self) -> WorkerProgress:
        own = self._worker.tally.report(self._queue.name, self._who)
        report = merged(own, self._companions.reports())
        return WorkerProgress(report, time.monotonic() - self._started, self._left)

    def at_the_end(self) -> WorkerProgress:
        if self._counts:
            self._count()
        return self.progress()

    def look(self) -> None:
        self._companions.look()
        now = time.monotonic()
        if self._on_progress is None or now < self._next:
            return
        self._next = now + _TOLD_SECONDS
        if self._counts and now >= self._count_at:
            self._count()
        self._on_progress(self.progress())

    def _count(self) -> None:
        """A listing of the whole queue: the longer it takes, the less often it is made."""
        started = time.monotonic()
        try:
            self._left = self._queue.stats().pending
        except CocliError as error:
            _LOG.debug("the queue cannot be counted now: %s", error.message)
            self._left = None  # the work goes on, or says itself what is wrong
        took = time.monotonic() - started
        self._count_at = started + max(_COUNTED_SECONDS, took * _COUNTING_SHARE)
