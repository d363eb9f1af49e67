"""`achieve-goal`: plans, queues, has workers work, and stops when there is enough.

Everything that it knows lies in the store, so it may be killed anywhere: started again, it finds the plan made, the
tasks queued and the work of others done, and goes on from there.
"""

from __future__ import annotations

import json
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from cocli import logs
from cocli.app.campaigns.mission import count_targets, queue_mission
from cocli.app.campaigns.plan import build_targets
from cocli.app.campaigns.settle import settle_campaign
from cocli.app.companies.companies import refresh_companies
from cocli.app.goal.crew import CrewSettings, open_crew
from cocli.app.goal.progress import Goal, GoalPace, GoalStanding, count_records, queue_states
from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
from cocli.app.results.report import make_report
from cocli.app.sources.sources import library_of, opening_of
from cocli.app.workspace import open_workspace
from cocli.errors import CocliError, SourceMissing, UsageError
from cocli.fleet.drain import Drain
from cocli.pipeline.sources.registry import OPEN_PLACES, asked_sources, source_choices, source_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cocli.app.goal.crew import GoalCrew
    from cocli.app.indexes.indexes import Indexes
    from cocli.app.results.report import MadeReport
    from cocli.app.workspace import Campaign, Workspace

_LOG = logs.get_logger(__name__)

_SOURCES_VARIABLE = "COCLI_PROSPECTING_SOURCES"

Ending = Literal["met", "exhausted", "budget", "interrupted"]


@dataclass(frozen=True, slots=True)
class GoalTiming:
    """How often a run looks at what was done. Seconds; each look waits longer where looking takes long."""

    count: float = 1.0
    settle: float = 20.0
    share: float = 5.0
    """A look is taken again after so many times its own length, at least."""


@dataclass(frozen=True, slots=True)
class GoalSettings:
    goal: Goal = field(default_factory=Goal)
    budget: float | None = None
    """Seconds."""
    source: str | None = None
    """`open-places` or `google-maps`; what the campaign's file says where it is not given."""
    crew: CrewSettings = field(default_factory=CrewSettings)
    timing: GoalTiming = field(default_factory=GoalTiming)


@dataclass(frozen=True, slots=True)
class Achieved:
    """How a run ended. `missing` is what the goal lacks; `report` is where the report was kept, if it could be."""

    campaign: str
    ending: Ending
    standing: GoalStanding
    missing: dict[str, int]
    report: MadeReport | None
    whole: bool

    @property
    def met(self) -> bool:
        return self.ending == "met"


@dataclass(frozen=True, slots=True)
class GoalWatcher:
    """Whoever wants to know how it goes: every new standing, and lines that are worth keeping."""

    standing: Callable[[GoalStanding], None] = lambda _: None
    say: Callable[[str], None] = lambda _: None


def achieve_goal(
    workspace: Workspace, name: str, settings: GoalSettings, drain: Drain, watcher: GoalWatcher | None = None
) -> Achieved:
    """Work until the goal is met, nothing is left to do, the budget is over, or somebody says stop."""
    watcher = watcher or GoalWatcher()
    with logs.bound(campaign=name), _of_source(workspace, name, settings.source) as chosen:
        campaign = chosen.campaign(name)
        crew = open_crew(chosen, campaign, settings.crew, watcher.say)
        with ThreadPoolExecutor(1, "look") as looker:
            run = _Run(chosen, campaign, settings, crew, drain, watcher, looker)
            run.plan()
            run.look()  # what is there may be enough: then nobody has to start
            whole = crew.run(run.inner, run.tick)
            while not run.is_over():
                whole = crew.run(run.inner, run.tick)
            return run.finish(whole=whole)


class _Run:
    """One run: `plan`, `look`, `tick` again and again, `finish`.

    Looking and settling may take long. They happen in a thread, one at a time: meanwhile workers that die are replaced,
    and whoever says stop is heard.
    """

    def __init__(
        self,
        workspace: Workspace,
        campaign: Campaign,
        settings: GoalSettings,
        crew: GoalCrew,
        drain: Drain,
        watcher: GoalWatcher,
        looker: ThreadPoolExecutor,
    ) -> None:
        self._workspace = workspace
        self._campaign = campaign
        self._indexes: Indexes = campaign_indexes(workspace, campaign.name)
        self._settings = settings
        self._crew = crew
        self._asked = drain
        self._watcher = watcher
        self._looker = looker
        self._looking: Future[None] | None = None
        self._started = time.monotonic()
        self._pace = GoalPace()
        self._look_at = 0.0
        self._settle_at = self._started
        self._settle_cost = 0.0
        self._listing = True
        self._standing = GoalStanding(settings.goal, 0)
        self._ending: Ending | None = None
        self.inner = Drain()
        """Asks the crew to stop."""

    # --- before

    def plan(self) -> None:
        built = build_targets(self._indexes, needed_campaign(self._indexes))
        if self._crew.own:
            _check_sources(self._workspace, self._campaign)
        targets = count_targets(self._indexes, self._campaign)
        queued = self._queue()
        _LOG.info("goal begins", extra={"goal": str(self._settings.goal), "targets": targets, "queued": queued})
        if built.added or queued:
            self._watcher.say(f"Planned {targets:,} targets in {built.tiles:,} tiles; queued {queued:,} of them")
        if self._crew.hosts:
            self._watcher.say(f"Watching the workers of {', '.join(self._crew.hosts)}")
        self._standing = replace(self._standing, targets=targets)

    def _queue(self) -> int:
        return queue_mission(self._indexes, self._campaign).queued

    # --- while it runs

    def tick(self) -> None:
        """Called a few times a second: looks when it is time to, and asks the crew to stop when it is over."""
        if self._asked.now:
            self.inner.ask()
        if self.inner.asked:
            return
        if self._asked.asked:
            self._end("interrupted")
        elif self._looking is not None:
            self._heed(self._looking)
        elif time.monotonic() >= self._look_at:
            self._looking = self._looker.submit(logs.carried(self._look))

    def look(self) -> None:
        """Look now, and wait for it."""
        self._looking = self._looker.submit(logs.carried(self._look))
        self._heed(self._looking, wait=True)

    def _heed(self, looking: Future[None], *, wait: bool = False) -> None:
        """Draw the conclusions from a look that has ended."""
        if not (wait or looking.done()):
            return
        self._looking = None
        try:
            looking.result()
        except CocliError as error:
            if not error.retryable:
                raise
            _LOG.warning("cannot look now: %s", error.message)
            self._watcher.say(f"cannot look now: {error.message}")
            self._look_at = time.monotonic() + self._settings.timing.count
        else:
            self._judge()

    def _look(self) -> None:
        started = time.monotonic()
        self._count()
        took = time.monotonic() - started
        if self._worth_settling():
            self._settle()
        self._look_at = time.monotonic() + max(self._settings.timing.count, took * self._settings.timing.share)

    def _worth_settling(self) -> bool:
        """When the list is drained, when it may be over, and now and then: only settled records are counted."""
        now, timing = self._standing, self._settings.timing
        drained = self._listing and now.queues["gm-list"].idle
        if drained or now.idle or not (now.goal.everything or now.goal.missing(now.records)):
            return True
        return time.monotonic() >= self._settle_at + max(timing.settle, self._settle_cost * timing.share)

    def _settle(self) -> None:
        started = time.monotonic()
        quiet, before = self._standing.idle, self._standing.ended
        self._watcher.standing(replace(self._standing, waits_for="its records being brought together"))
        settle_campaign(self._workspace, self._campaign.name)
        if self._standing.queues["gm-list"].idle:
            self._listing = self._queue() > 0
        self._settle_at = time.monotonic()
        self._settle_cost = self._settle_at - started
        self._count()
        # Everything is done only if nobody wrote meanwhile. A number is looked at once more when the crew has ended.
        still = quiet and self._standing.idle and self._standing.ended == before
        self._standing = replace(self._standing, settled=still or not self._standing.goal.everything)
        self._show()

    def _count(self) -> None:
        goal, targets = self._settings.goal, self._standing.targets
        queues = queue_states(self._campaign, self._crew.queues)
        standing = GoalStanding(goal, targets, queues, count_records(self._indexes))
        standing = self._pace.timed(standing, time.monotonic() - self._started)
        self._standing = replace(standing, waits_for=_waits_for(standing, self._crew))
        self._show()

    def _show(self) -> None:
        self._watcher.standing(self._standing)

    def _judge(self) -> None:
        budget = self._settings.budget
        if self._standing.met:
            self._end("met")
        elif self._standing.exhausted:
            self._end("exhausted")
        elif budget is not None and time.monotonic() - self._started >= budget:
            self._end("budget")

    def _end(self, ending: Ending) -> None:
        self._ending = ending
        self.inner.ask_once()

    # --- after

    def is_over(self) -> bool:
        """Bring together what was in hand at the end. Where the number was one of businesses known twice, go on."""
        if self._asked.now:
            return True
        if self._looking is not None:
            self._looking.exception()  # it ends first; what it found, or met, is looked at again here
            self._looking = None
        settle_campaign(self._workspace, self._campaign.name)
        self._count()
        self._standing = replace(self._standing, settled=True)
        missing = self._settings.goal.missing(self._standing.records)
        if self._ending == "met" and missing:
            self._ending, self.inner = None, Drain()
            return False
        if not (missing or self._settings.goal.everything):
            self._ending = "met"  # what was in hand at the end was enough
        return True

    def finish(self, *, whole: bool) -> Achieved:
        """Make the pages for people, and the report."""
        report = None
        if not self._asked.now:
            refresh_companies(self._workspace, self._campaign.name)
            report = make_report(self._workspace, self._campaign.name)
        missing = self._settings.goal.missing(self._standing.records)
        ending = self._ending or "interrupted"
        _LOG.info("goal ended", extra={"ending": ending, "whole": whole})
        return Achieved(self._campaign.name, ending, self._standing, missing, report, whole)


def _waits_for(standing: GoalStanding, crew: GoalCrew) -> str:
    """The one thing that keeps it going, for people."""
    listing, sites = standing.queues["gm-list"], standing.queues["enrichment"]
    details = standing.queues.get("gm-details")
    if not (crew.own or crew.hosts or standing.in_hand):
        return "workers: none reported lately (start them with: cocli supervisor)"
    if not listing.idle:
        return _so_many(listing.pending - listing.later, "search", "searches")
    if details is not None and not details.idle:
        return _so_many(details.pending - details.later, "place", "places")
    if not sites.idle:
        return _so_many(sites.pending - sites.later, "website", "websites")
    if standing.later:
        return _so_many(standing.later, "task that is tried again later", "tasks that are tried again later")
    return "nothing"


def _so_many(count: int, single: str, more: str) -> str:
    return f"{count:,} {single if count == 1 else more}"


# --- sources


@contextmanager
def _of_source(workspace: Workspace, name: str, source: str | None) -> Iterator[Workspace]:
    """The workspace as if the campaign's file named these sources; worker processes inherit it."""
    if source is None:
        yield workspace
        return
    settings = workspace.settings
    names = _named(workspace, name, source)
    environ = {**settings.environ, _SOURCES_VARIABLE: json.dumps(names)}
    with open_workspace(environ, settings.flags) as chosen:
        yield chosen


def _named(workspace: Workspace, name: str, source: str) -> list[str]:
    known = source_choices()
    if source not in known:
        raise UsageError(reason=f'There is no source "{source}"', hint=f"There are: {', '.join(known)}.")
    if source != OPEN_PLACES:
        return [source]
    configured = workspace.campaign(name).settings.model().prospecting.sources
    library = library_of(workspace.settings.environ)
    on_file = [asked.name for asked in asked_sources() if asked.reads_files]
    names = [name for name in configured if name in on_file]
    names = names or [name for name in on_file if library.files(name)]
    if not names:
        raise SourceMissing(source="open places")
    return names


def _check_sources(workspace: Workspace, campaign: Campaign) -> None:
    """Say now what the workers would say one after the other."""
    opening = opening_of(workspace, campaign, "goal")
    for source in map(source_named, campaign.settings.model().prospecting.sources):
        if source.reads_files:
            with closing(source.opened(opening)):
                pass
