"""One run on the way to a goal: `plan`, `look`, `tick` again and again, `is_over`, `finish`.

Looking and settling may take long. They happen in a thread, one at a time: meanwhile workers that die are replaced,
and whoever says stop is heard.
"""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from cocli import logs
from cocli.app.campaigns.harvest import HarvestOptions, harvest_campaign
from cocli.app.campaigns.mission import count_targets, queue_mission
from cocli.app.campaigns.plan import build_targets, has_territory
from cocli.app.campaigns.settle import settle_campaign
from cocli.app.campaigns.websites import queue_websites
from cocli.app.companies.companies import refresh_companies
from cocli.app.freshness.refresh import refresh_campaign
from cocli.app.freshness.stock import take_stock
from cocli.app.freshness.watches import tell_watches
from cocli.app.goal.progress import GoalPace, GoalStanding, StandingCounter
from cocli.app.goal.settings import Achieved
from cocli.app.goal.sources import check_sources
from cocli.app.indexes.care import describe_indexes
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.queues.leftovers import remove_leftovers
from cocli.app.queues.queues import ended_on_store
from cocli.app.results.report import make_report
from cocli.app.sources.sources import phrase_notes
from cocli.errors import CocliError, NothingToWorkOn, StoreError
from cocli.fleet.drain import Drain
from cocli.fleet.scaling.load import Limit

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from cocli.app.goal.budget import GoalBudget
    from cocli.app.goal.crew import GoalCrew
    from cocli.app.goal.settings import Ending, GoalSettings, GoalWatcher
    from cocli.app.indexes.indexes import Indexes
    from cocli.app.results.report import MadeReport
    from cocli.app.workspace import Campaign, Workspace

_LOG = logs.get_logger(__name__)
_LOOK_SECONDS = 0.2
_DESCRIBED = ("prospects", "emails", "target-tiles", "domains", "scraped-tiles")
"""The indexes that a stranger with the files alone should be able to read."""


class GoalRun:
    def __init__(
        self,
        workspace: Workspace,
        campaign: Campaign,
        settings: GoalSettings,
        crew: GoalCrew,
        drain: Drain,
        watcher: GoalWatcher,
        looker: ThreadPoolExecutor,
        budget: GoalBudget,
    ) -> None:
        self._workspace = workspace
        self._campaign = campaign
        self._indexes: Indexes = campaign_indexes(workspace, campaign.name)
        self._settings = settings
        self._crew = crew
        self._asked = drain
        self._watcher = watcher
        self._looker = looker
        self._budget = budget
        self._counter = StandingCounter(self._indexes, campaign, settings.goal, crew.queues)
        self._looking: Future[None] | None = None
        self._pace = GoalPace()
        self._look_at = 0.0
        self._settle_at = time.monotonic()
        self._settle_cost = 0.0
        self._searches = has_territory(campaign)
        self._listing = self._searches
        self._standing = GoalStanding(settings.goal, 0)
        self._ended_before: int | None = None
        """Tasks that had ended when it was looked for the first time."""
        self._ending: Ending | None = None
        self._heard = False
        self._skipped: list[str] = []
        self.inner = Drain()
        """Asks the crew to stop."""

    # --- before

    def plan(self) -> None:
        """Queue what is to be done: the searches of the territory, and the websites of businesses that are there."""
        targets = self._plan_searches() if self._searches else self._check_businesses()
        websites = queue_websites(self._indexes).queued
        self._refresh()
        _LOG.info("goal begins", extra={"goal": str(self._settings.goal), "targets": targets, "websites": websites})
        if websites:
            self._watcher.say(f"Queued the websites of businesses that are there already: {websites:,}")
        if self._crew.hosts:
            self._watcher.say(f"Watching the workers of {', '.join(self._crew.hosts)}")
        self._standing = replace(self._standing, targets=targets)

    def _refresh(self) -> None:
        """Queue what has become old, where the campaign asks for that."""
        wanted = self._campaign.settings.model().refresh
        if not (wanted.every or wanted.sources or wanted.stages):
            return
        done = refresh_campaign(self._workspace, self._campaign.name)
        for release in done.loaded:
            self._watcher.say(f"A newer release was loaded and read: {release}")
        for note in done.due.notes:
            self._watcher.say(note)
        queued = done.queued - len(done.loaded)
        if queued > 0:
            self._watcher.say(f"Queued to be read again, because it is old: {queued:,}")

    def _plan_searches(self) -> int:
        built = build_targets(self._indexes, self._campaign)
        if self._crew.own:
            check_sources(self._workspace, self._campaign)
        for note in phrase_notes(self._workspace, self._campaign):
            self._watcher.say(str(note))
        targets = count_targets(self._indexes, self._campaign)
        self._harvest()
        queued = self._queue()
        if built.added or queued:
            self._watcher.say(f"Planned {targets:,} targets in {built.tiles:,} tiles; queued {queued:,} of them")
        return targets

    def _check_businesses(self) -> int:
        """Without a territory nothing is searched: then there must be businesses whose websites can be read."""
        if not self._counter.has_businesses():
            raise NothingToWorkOn(campaign=self._campaign.name)
        wanted = self._campaign.settings.model().prospecting
        if wanted.queries or wanted.locations or wanted.locations_csv or wanted.area:
            lacks = "places" if wanted.queries else "phrases"
            self._watcher.say(f"Nothing is searched: the campaign has no {lacks}. It works on its businesses.")
        return 0

    def _harvest(self) -> int:
        """Take over what others have read, or what was read before; how many tiles."""
        options = HarvestOptions(stop=lambda: self._asked.asked or self._budget.stops)
        found = harvest_campaign(self._workspace, self._campaign.name, options=options)
        if found.tiles:
            said = f"Harvested {found.tiles:,} searches that were made before"
            self._watcher.say(f"{said}: {found.businesses:,} sightings of businesses, no request")
        if found.missing:
            lost = f"{found.missing:,} searches cannot be harvested, and are made again"
            self._watcher.say(f"{lost}: {found.examples[0]}")
        return found.tiles

    def _queue(self) -> int:
        return queue_mission(self._indexes, self._campaign).queued

    # --- while it runs

    def tick(self) -> None:
        """Called a few times a second: looks when it is time to, and asks the crew to stop when it is over."""
        self._hear()
        if self._asked.now or (self.inner.asked and self._ending == "budget" and self._budget.hurries):
            self._hurry()
        if self.inner.asked:
            return
        if self._asked.asked:
            self._end("interrupted")
        elif self._looking is not None and self._looking.done():
            self._heed(self._looking)
        elif self._budget.stops:
            self._end("budget")
        elif self._looking is None and time.monotonic() >= self._look_at:
            self._looking = self._looker.submit(logs.carried(self._look))

    def look(self) -> None:
        """Look now, and wait for it."""
        self._looking = looking = self._looker.submit(logs.carried(self._look))
        while not looking.done():
            self._hear()
            if self._asked.now:
                break
            time.sleep(_LOOK_SECONDS / 4)
        self._heed(looking)

    def _hear(self) -> None:
        """Say at once what is waited for when somebody says stop."""
        if not self._asked.asked or self._heard:
            return
        self._heard = True
        in_hand = self._standing.in_hand if self._crew.own else 0
        first = f"{in_hand:,} tasks in hand are finished first" if in_hand else "what is in hand is finished first"
        self._watcher.say(f"Stopping: {first}, then the report is written. Ctrl-C again: at once.")

    def _hurry(self) -> None:
        while not self.inner.now:
            self.inner.ask()

    def _heed(self, looking: Future[None]) -> None:
        """Draw the conclusions from a look that has ended."""
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
        # Where nothing is left to do, only the end is waited for: another look costs nobody anything.
        rest = 0.0 if self._standing.idle else took * self._settings.timing.share
        self._look_at = time.monotonic() + max(self._settings.timing.count, rest)

    def _worth_settling(self) -> bool:
        """When the list is drained, when it may be over, and now and then: only settled records are counted."""
        if not self._budget.may_settle():
            return False
        now, timing = self._standing, self._settings.timing
        drained = self._listing and now.queue("gm-list").idle
        if drained or now.idle or not (now.goal.everything or now.goal.missing(now.records)):
            return True
        return time.monotonic() >= self._settle_at + max(timing.settle, self._settle_cost * timing.share)

    def _settle(self) -> None:
        quiet, before = self._standing.idle, self._standing.ended
        self._watcher.standing(replace(self._standing, waits_for="its records being brought together"))
        self._bring_together()
        if self._searches and self._standing.queue("gm-list").idle:
            self._listing = self._harvest() + self._queue() > 0
        self._count()
        # Everything is done only if nobody wrote meanwhile. A number is looked at once more when the crew has ended.
        still = quiet and self._standing.idle and self._standing.ended == before
        self._standing = replace(self._standing, settled=still or not self._standing.goal.everything)
        self._show()

    def _bring_together(self) -> None:
        started = time.monotonic()
        with self._budget.measured("settle"):
            settle_campaign(self._workspace, self._campaign.name)
        self._settle_at = time.monotonic()
        self._settle_cost = self._settle_at - started

    def _count(self, *, afresh: bool = False) -> None:
        with self._budget.measured("look"):
            standing = self._counter.count(self._standing.targets, afresh=afresh)
        self._budget.businesses = standing.records.companies
        if self._ended_before is None:
            self._ended_before = standing.ended
        standing = self._pace.timed(standing, self._budget.elapsed)
        self._standing = replace(
            standing, waits_for=waits_for(standing, self._crew), limited_by=limited_by(standing, self._crew)
        )
        self._show()

    def _show(self) -> None:
        self._watcher.standing(self._standing)

    def _judge(self) -> None:
        if self._standing.met:
            self._end("met")
        elif self._standing.exhausted:
            self._end("exhausted")

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
        settled = self._budget.has_time_for("settle", "look")
        if settled:
            self._bring_together()
        else:
            name = self._campaign.name
            self._skipped.append(f"The records were not brought together: cocli campaign settle {name}")
        self._count(afresh=True)
        self._standing = replace(self._standing, settled=settled)
        missing = self._settings.goal.missing(self._standing.records)
        if self._ending == "met" and missing:
            self._ending, self.inner = None, Drain()
            return False
        if self._standing.met:
            self._ending = "met"  # what was in hand at the end was enough
        return True

    def finish(self, *, whole: bool) -> Achieved:
        """Make the pages for people, and the report."""
        report = None
        if not self._asked.now:
            self._remove_leftovers()
            self._take_stock()
            report = self._report()
            self._publish()
        missing = self._settings.goal.missing(self._standing.records)
        ending = self._ending or "interrupted"
        self._standing = replace(self._standing, seconds=self._budget.elapsed)
        _LOG.info("goal ended", extra={"ending": ending, "whole": whole})
        skipped = tuple(self._skipped)
        ended = self._standing.ended - (self._ended_before or 0)
        return Achieved(self._campaign.name, ending, self._standing, missing, report, whole, skipped, ended)

    def _remove_leftovers(self) -> None:
        """Workers that were killed did not remove the tasks that they had ended; the last count has met them."""
        for queue, folders in self._counter.leftovers.items():
            try:
                remove_leftovers(ended_on_store(self._campaign, queue), folders, stop=lambda: self._budget.left <= 0)
            except StoreError as error:  # they stand for nothing: the next worker removes them
                _LOG.warning("ended tasks could not be removed now: %s", error.message)

    def _take_stock(self) -> None:
        """Find out what changed since the last time. A budget that is used up leaves it to the next run."""
        if not self._budget.has_time_for("stock", "pages", "report"):
            return
        with self._budget.measured("stock"):
            stock = take_stock(self._workspace, self._campaign.name)
        if stock.changes:
            shown = f"cocli campaign changes {self._campaign.name}"
            self._watcher.say(f"{stock.changes:,} changes of businesses since stock was taken last: {shown}")
        for told in tell_watches(self._workspace, self._campaign.name):
            if told.problem:
                self._watcher.say(f"The watch {told.watch} was not told: {told.problem}")

    def _report(self) -> MadeReport | None:
        name, report = self._campaign.name, None
        if self._budget.has_time_for("pages", "report"):
            with self._budget.measured("pages"):
                refresh_companies(self._workspace, name)
        else:
            self._skipped.append(f"The company pages were not refreshed: cocli company refresh -c {name}")
        if self._budget.has_time_for("report"):
            with self._budget.measured("report"):
                report = make_report(self._workspace, name)
                describe_indexes(self._indexes, _DESCRIBED)
        else:
            self._skipped.append(f"The report was not written: cocli report {name}")
        return report

    def _publish(self) -> None:
        """What is published is published again; a budget that is over leaves it to the machines."""
        if self._ending == "budget":
            return
        from cocli.app.campaigns.publish import refresh_published  # most campaigns are not published

        try:
            refresh_published(self._workspace, self._campaign.name, rest=timedelta(0))
        except CocliError as error:  # the list is made: who publishes it by hand is told the same
            _LOG.warning("not published again: %s", error.message)


def waits_for(standing: GoalStanding, crew: GoalCrew) -> str:
    """The one thing that keeps it going, for people."""
    listing, details, sites = map(standing.queue, ("gm-list", "gm-details", "enrichment"))
    if not (crew.own or crew.hosts or standing.in_hand):
        return "workers: none reported lately (start them with: cocli supervisor)"
    if not listing.idle:
        return _so_many(listing.pending - listing.later, "search", "searches")
    if not details.idle:
        return _so_many(details.pending - details.later, "place", "places")
    if not sites.idle:
        return _so_many(sites.pending - sites.later, "website", "websites")
    if standing.later:
        return _so_many(standing.later, "task that is tried again later", "tasks that are tried again later")
    return "nothing"


def limited_by(standing: GoalStanding, crew: GoalCrew) -> str:
    """What holds the reading of websites up; nothing where there are none to read, or nobody says."""
    word = crew.limited_by().get("enrichment", "")
    if standing.queue("enrichment").idle or word == Limit.NOTHING_WAITS:
        return ""
    return word


def _so_many(count: int, single: str, more: str) -> str:
    return f"{count:,} {single if count == 1 else more}"
