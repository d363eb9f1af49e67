"""How many tasks a queue has, without listing it: a count made once, and what each process has changed since."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cocli.models.campaign import CampaignName, QueueName
from cocli.models.record import Count, Label, Record, RecordPart, UtcDatetime
from cocli.models.task import Nonce, SidelineCategory

Difference = Annotated[int, Field(), "more or fewer"]
"""What a number has changed by."""
Minute = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}$")]
"""By the store's clock."""


class TallyMark(RecordPart):
    """How far a tally had got when a count was made: only what is beyond it is added to the count."""

    sequence: Count
    at: UtcDatetime
    waiting: Difference = 0
    completed: Difference = 0
    aside: dict[SidelineCategory, Difference] = Field(default_factory=dict)
    doubts: Count = 0
    silent: bool = False
    """Its process had fallen silent in the middle of something: what it says later may be in the count already."""


class QueueTally(Record):
    """`count/tallies/{writer}.json`: what one process has changed in a queue since it began. Nobody else writes it."""

    schema_id = "cocli.queue-tally/1"
    key = ("writer",)

    writer: Label
    campaign: CampaignName
    queue: QueueName
    state: Literal["moving", "still", "closed"]
    """`moving` is written before anything is changed: whoever falls silent then leaves changes that nobody counted."""
    at: UtcDatetime
    waiting: Difference = 0
    completed: Difference = 0
    aside: dict[SidelineCategory, Difference] = Field(default_factory=dict)
    doubts: Count = 0
    """Changes that cannot be told in numbers: after one the queue has to be listed."""
    held: Count = 0
    """Tasks in hand."""
    lately: dict[Minute, Count] = Field(default_factory=dict)
    """Minute → tasks completed, of the last quarter of an hour."""
    sequence: Count

    def mark(self, *, silent: bool) -> TallyMark:
        return TallyMark(
            sequence=self.sequence,
            at=self.at,
            waiting=self.waiting,
            completed=self.completed,
            aside=self.aside,
            doubts=self.doubts,
            silent=silent,
        )


class QueueCount(Record):
    """`count/count.json`: the tasks of a queue as they were listed once."""

    schema_id = "cocli.queue-count/1"
    key = ("queue",)

    campaign: CampaignName
    queue: QueueName
    at: UtcDatetime
    """When the listing began."""
    seconds: Annotated[float, Field(ge=0)] = 0.0
    """How long it took."""
    objects: Count = 0
    """How many objects were listed: what counting anew would cost."""
    still: bool = False
    """Nobody changed anything meanwhile: with what the tallies say, this is exact."""
    pending: Count = 0
    completed: Count = 0
    aside: dict[SidelineCategory, Count] = Field(default_factory=dict)
    leased: Count = 0
    """Leases that no process in the tallies held: they run out, or somebody older than tallies has them."""
    expired: Count = 0
    oldest: UtcDatetime | None = None
    lately: dict[Minute, Count] = Field(default_factory=dict)
    tallies: dict[Label, TallyMark] = Field(default_factory=dict)
    """Writer → how much of its tally is in here."""
    nonce: Nonce
