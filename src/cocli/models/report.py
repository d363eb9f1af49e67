"""A report: what a campaign has and lacks at one moment, in figures. Made for people and dashboards.

docs/reference/figures.md says what the figures mean. Every website, and every search, is in exactly one of the counts
that stand beside each other.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cocli.models.campaign import CampaignName
from cocli.models.record import Count, Label, Many, Record, RecordPart, Text, UtcDatetime

Share = Annotated[float, Field(ge=0, le=1)]


class Counted(RecordPart):
    """How often something occurs."""

    name: Text
    count: Count


class FunnelStep(RecordPart):
    """One step on the way from the plan to an address."""

    name: Label
    unit: Literal["readings", "places", "prospects"]
    """What is counted. A reading is a target (a tile and a phrase) and a source."""
    count: Count
    share: Share | None = None
    """Of the first step of the same unit."""


class FillRate(RecordPart):
    """How many prospects have a value in a field."""

    field: Label
    filled: Count
    share: Share


class CoverageFigures(RecordPart):
    """Readings by their states, as docs/coverage.md explains them."""

    sources: Many[Label]
    targets: Count
    readings: Count
    read: Count
    stale: Count
    cut_short: Count
    blocked: Count
    unread: Count
    found: Count
    completeness: float | None = None
    """Null where no source passed twice."""


class EmailFigures(RecordPart):
    """The addresses of the campaign, told apart in several ways."""

    addresses: Count
    """Different ones that may be written to; the figure `emails`."""
    undeliverable: Count = 0
    """Addresses of which a name server says that nobody gets what is sent there. They are in no other count here."""
    prospects: Count
    """Prospects with at least one address."""
    by_source: Many[Counted] = ()
    by_method: Many[Counted] = ()
    by_relation: Many[Counted] = ()
    """own: on the domain of a prospect's website; freemail; other."""
    by_label: Many[Counted] = ()
    by_verification: Many[Counted] = ()


class QueueFigures(RecordPart):
    queue: Label
    pending: Count = 0
    leased: Count = 0
    expired: Count | None = None
    completed: Count | None = None
    sidelined: dict[Label, Count] = Field(default_factory=dict)
    rate_per_minute: Annotated[float, Field(ge=0)] | None = None
    problem: Text | None = None
    """Why there are no numbers."""


class TrendPoint(RecordPart):
    """How it stood at an earlier time."""

    at: UtcDatetime
    told_by: Literal["report", "index"]
    """A version of the index knows how many records it has, merged ones included, and nothing else."""
    prospects: Count
    with_email: Count | None = None
    addresses: Count | None = None
    read: Count | None = None
    """Readings that were done."""


class SearchFigures(RecordPart):
    """Searches: one phrase in one tile, asked of one source. The parts of a tile that was split belong to it."""

    planned: Count = 0
    read: Count = 0
    cut_short: Count = 0
    """The source has more than it shows, even of the smallest tile: there is nothing left to ask."""
    waiting: Count = 0
    unread: dict[Label, Count] = Field(default_factory=dict)
    """Set aside, by reason."""
    unqueued: Count = 0
    """Planned, and nobody was asked to do it."""


class PlaceFigures(RecordPart):
    """Pages of single places, where a list lacked something."""

    waiting: Count = 0
    unread: dict[Label, Count] = Field(default_factory=dict)


class WebsiteFigures(RecordPart):
    """Websites that a business has to itself, each domain once."""

    known: Count = 0
    read: Count = 0
    dead: Count = 0
    refused: Count = 0
    """Its robots.txt, or a rule of ours, forbids it."""
    closed: Count = 0
    """Never asked: its business closed for good."""
    waiting: Count = 0
    unread: dict[Label, Count] = Field(default_factory=dict)
    """Asked and not read, by reason."""
    unqueued: Count = 0
    """Nobody was asked to read it yet."""


class CampaignFigures(RecordPart):
    """All of them, at one moment."""

    searches: SearchFigures = SearchFigures()
    places: PlaceFigures = PlaceFigures()
    businesses: Count = 0
    """Each once; those that the campaign excludes are in `excluded` and in no other figure."""
    excluded: Count = 0
    with_website: Count = 0
    with_email: Count = 0
    websites: WebsiteFigures = WebsiteFigures()
    emails: Count = 0
    """Different addresses of these businesses that may be written to."""

    @property
    def unread(self) -> int:
        """What was tried and has no answer."""
        parts = (self.searches.unread, self.places.unread, self.websites.unread)
        return sum(sum(part.values()) for part in parts)


class Report(Record):
    """`campaigns/{campaign}/reports/report.json`."""

    schema_id = "cocli.report/1"
    key = ("campaign",)

    campaign: CampaignName
    at: UtcDatetime
    version: Label
    """Of the program that made it."""
    figures: CampaignFigures = CampaignFigures()
    """How much is done, and what came of it: the same numbers as everywhere else."""
    prospects: Count
    merged: Count
    """Records that are known under another hash now; they are not counted anywhere else."""
    funnel: Many[FunnelStep]
    coverage: CoverageFigures | None = None
    """Null where nothing is planned."""
    fields: Many[FillRate]
    emails: EmailFigures
    sources: Many[Counted] = ()
    """Who knows of how many prospects; one may be known to several."""
    attribution: Many[Text] = ()
    """Whom to name with what is made of it: the sources with their licences."""
    categories: Many[Counted] = ()
    """The most frequent first categories."""
    domains: Many[Counted] = ()
    """The domains of the prospects by what became of a visit; `unvisited` if there was none."""
    changes: Many[Counted] = ()
    """What changed in the last thirty days, by kind."""
    queues: Many[QueueFigures] = ()
    trend: Many[TrendPoint] = ()
    """Oldest first; the last is this report."""
    versions: dict[Label, Count] = Field(default_factory=dict)
    """Index → the version that was read."""
    unpacked: dict[Label, Count] = Field(default_factory=dict)
    """Index → records that were read beside that version."""
