"""How far a campaign is on the way to its goal: its queues and its records, counted now."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cocli.app.queues.whereabouts import QueueWatch, whereabouts
from cocli.app.results.figures import cover, put_together, read_figures, search_figures
from cocli.errors import FormatError, StoreError
from cocli.fleet.commands import WORKED
from cocli.formats import json_records
from cocli.models.lease import Lease
from cocli.models.report import CampaignFigures, SearchFigures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cocli.app.indexes.indexes import Indexes
    from cocli.app.queues.whereabouts import TasksByPlace
    from cocli.app.workspace import Campaign
    from cocli.store.base import Store

_FEW = 500
"""So many leases are read to tell those that are held from those that wait for another try."""


@dataclass(frozen=True, slots=True)
class QueueState:
    """The tasks of one queue."""

    pending: int = 0
    in_hand: int = 0
    """Held by workers, those included that fell silent: their tasks come back when the lease has run out."""
    later: int = 0
    """Failed before, and tried again later."""
    completed: int = 0
    sidelined: int = 0

    @property
    def ready(self) -> int:
        return max(self.pending - self.in_hand - self.later, 0)

    @property
    def idle(self) -> bool:
        """Nothing to do now, and nobody is doing anything."""
        return not (self.ready or self.in_hand)

    @property
    def ended(self) -> int:
        return self.completed + self.sidelined


@dataclass(frozen=True, slots=True)
class Records:
    """The prospects of a campaign."""

    companies: int = 0
    with_website: int = 0
    with_email: int = 0
    emails: int = 0
    """Different addresses that may be written to: branches that share one count once."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What is enough. Without a number it is everything: every search and every website has its answer."""

    emails: int | None = None
    companies: int | None = None

    @property
    def everything(self) -> bool:
        return self.emails is None and self.companies is None

    def missing(self, records: Records) -> dict[str, int]:
        """What → how many of it are still wanted; empty where the numbers are reached."""
        wanted = {"emails": (self.emails, records.emails), "companies": (self.companies, records.companies)}
        short = {name: (goal or 0) - there for name, (goal, there) in wanted.items()}
        return {name: count for name, count in short.items() if count > 0}


@dataclass(frozen=True, slots=True)
class GoalStanding:
    """A campaign at one moment of a run."""

    goal: Goal
    targets: int
    queues: Mapping[str, QueueState] = field(default_factory=dict)
    records: Records = field(default_factory=Records)
    settled: bool = False
    """Every business is counted once: nothing was written since the records were brought together."""
    seconds: float = 0.0
    rate: float | None = None
    """E-mails per minute (companies, where no e-mails are wanted; tasks, where everything is) since the start."""
    seconds_left: float | None = None
    waits_for: str = ""
    limited_by: str = ""
    """What holds the reading of websites up: network, politeness, processor, memory, sockets or store."""
    figures: CampaignFigures = field(default_factory=CampaignFigures)

    def queue(self, name: str) -> QueueState:
        """The tasks of a queue; none where nobody works on it."""
        return self.queues.get(name, QueueState())

    @property
    def idle(self) -> bool:
        return all(queue.idle for queue in self.queues.values())

    @property
    def in_hand(self) -> int:
        return sum(queue.in_hand for queue in self.queues.values())

    @property
    def later(self) -> int:
        return sum(queue.later for queue in self.queues.values())

    @property
    def ended(self) -> int:
        return sum(queue.ended for queue in self.queues.values())

    @property
    def met(self) -> bool:
        """Judged only where no business may be counted twice."""
        if not self.settled:
            return False
        if self.goal.everything:
            return self.idle and not (self.later or self.figures.unread)
        return not self.goal.missing(self.records)

    @property
    def exhausted(self) -> bool:
        """There is nothing left to do, for a goal with numbers not even later."""
        return self.settled and self.idle and (self.goal.everything or not self.later)


class StandingCounter:
    """Counts how a campaign stands, again and again. Searches are looked at only where their tasks moved, and the
    tasks of a large queue only now and then: their numbers are told by those who change them."""

    def __init__(self, indexes: Indexes, campaign: Campaign, goal: Goal, queues: Sequence[str]) -> None:
        self._indexes = indexes
        self._campaign = campaign
        self._goal = goal
        self._queues = queues
        self._watches = {name: QueueWatch(campaign, name) for name in WORKED}
        self._seen: tuple[int, int, int] | None = None
        self._searches = SearchFigures()
        self.leftovers: Mapping[str, Sequence[str]] = {}
        """Queue → the folders of ended tasks that the last count met."""

    def has_businesses(self) -> bool:
        return read_figures(self._indexes).prospects > 0

    def count(self, targets: int, *, afresh: bool = False) -> GoalStanding:
        """With `afresh`, as whoever draws conclusions wants it, every task is where it is now."""
        tasks = {name: watch.look(afresh=afresh) for name, watch in self._watches.items()}
        figures = put_together(read_figures(self._indexes), tasks, self._search_figures(tasks["gm-list"]))
        states = {name: queue_state(self._campaign, tasks[name]) for name in self._queues}
        self.leftovers = {name: tasks[name].leftovers for name in WORKED}
        records = Records(figures.businesses, figures.with_website, figures.with_email, figures.emails)
        return GoalStanding(self._goal, targets, states, records, figures=figures)

    def _search_figures(self, tasks: TasksByPlace) -> SearchFigures:
        seen = (len(tasks.waiting), len(tasks.aside), tasks.completed)
        if seen != self._seen or tasks.told is not None:
            self._searches = search_figures(cover(self._indexes), tasks)
            self._seen = seen
        return self._searches


def queue_states(campaign: Campaign, names: Sequence[str]) -> dict[str, QueueState]:
    return {name: queue_state(campaign, whereabouts(campaign, name)) for name in names}


def queue_state(campaign: Campaign, tasks: TasksByPlace) -> QueueState:
    if tasks.told is not None:
        # By a provider that keeps its tasks itself: what waits for another try cannot be told apart.
        told, aside = tasks.told, sum(tasks.told.sidelined.values())
        return QueueState(told.pending, told.leased + (told.expired or 0), 0, told.completed or 0, aside)
    many = tasks.many
    if many is None:
        in_hand, later = _leased(campaign.store, tasks.leases)
        return QueueState(len(tasks.waiting), in_hand, later, tasks.completed, len(tasks.aside))
    in_hand, later, aside = many.leased + (many.expired or 0), 0, sum(many.sidelined.values())
    if not in_hand:
        # Those that wait for another try are told apart where nobody works; else there is enough to do.
        in_hand, later = _leased(campaign.store, tasks.leases)
    return QueueState(many.pending, in_hand, later, tasks.completed, aside)


def _leased(store: Store, keys: Sequence[str]) -> tuple[int, int]:
    """How many are in somebody's hands, and how many wait for another try. Of many the first tell it for all."""
    now, in_hand, later = store.now(), 0, 0
    for key, answer in zip(keys[:_FEW], store.get_many(keys[:_FEW]), strict=True):
        if isinstance(answer, StoreError):
            continue  # gone since it was listed
        try:
            lease = json_records.read(Lease, answer.data, file=key)
        except FormatError:
            in_hand += 1  # nobody can tell: whoever claims it next will see to it
            continue
        in_hand += lease.held
        later += lease.not_before is not None and lease.not_before > now
    share = len(keys) / max(min(len(keys), _FEW), 1)
    return round(in_hand * share), round(later * share)


class GoalPace:
    """How quickly a goal comes nearer, from two or more standings."""

    def __init__(self) -> None:
        self._first: GoalStanding | None = None

    def timed(self, standing: GoalStanding, seconds: float) -> GoalStanding:
        """The same standing, with rate and the time that is left at that rate."""
        if self._first is None:
            self._first = replace(standing, seconds=seconds)
        minutes = (seconds - self._first.seconds) / 60
        gained, left = _way(self._first, standing)
        rate = gained / minutes if minutes > 0 and gained > 0 else None
        return replace(standing, seconds=seconds, rate=rate, seconds_left=left / rate * 60 if rate else None)


def _way(first: GoalStanding, now: GoalStanding) -> tuple[int, int]:
    """How far it went, and how far it still is, in whatever the goal counts."""
    goal = now.goal
    if goal.emails is not None:
        return now.records.emails - first.records.emails, max(goal.emails - now.records.emails, 0)
    if goal.companies is not None:
        return now.records.companies - first.records.companies, max(goal.companies - now.records.companies, 0)
    return now.ended - first.ended, sum(queue.pending - queue.later for queue in now.queues.values())
