"""A report: what a campaign has and lacks at one moment, in figures. Made for people and dashboards."""

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


class Report(Record):
    """`campaigns/{campaign}/reports/report.json`."""

    schema_id = "cocli.report/1"
    key = ("campaign",)

    campaign: CampaignName
    at: UtcDatetime
    version: Label
    """Of the program that made it."""
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
    categories: Many[Counted] = ()
    """The most frequent first categories."""
    domains: Many[Counted] = ()
    """The domains of the prospects by what became of a visit; `unvisited` if there was none."""
    queues: Many[QueueFigures] = ()
    trend: Many[TrendPoint] = ()
    """Oldest first; the last is this report."""
    versions: dict[Label, Count] = Field(default_factory=dict)
    """Index → the version that was read."""
    unpacked: dict[Label, Count] = Field(default_factory=dict)
    """Index → records that were read beside that version."""
