"""The two records of coverage: a tile × phrase that a campaign wants, and the witness that it was read."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from cocli.models.campaign import CampaignName
from cocli.models.record import (
    Count,
    Hash16,
    Label,
    Latitude,
    Longitude,
    Record,
    Sha256,
    Text,
    TileValue,
    UtcDatetime,
    UuidText,
)

Outcome = Literal["exhausted", "cut_short", "blocked"]


class TargetTile(Record):
    """`target-tiles/{lat}/{lon}/{phrase}.csv`: the campaign wants this tile searched for this phrase."""

    schema_id = "cocli.target-tile/1"
    key = ("tile", "phrase")

    tile: TileValue
    phrase: Text
    campaign: CampaignName
    location: Text | None = None
    """The place of the configuration that the tile was planned for."""
    planned_at: UtcDatetime


class Witness(Record):
    """`scraped-tiles/{lat}/{lon}/{phrase}/{source}.csv`: a source was asked when, by whom, and how far that got."""

    schema_id = "cocli.witness/1"
    key = ("tile", "phrase", "source")

    tile: TileValue
    phrase: Text
    source: Label
    read_at: UtcDatetime
    worker: Label
    campaign: CampaignName
    """On whose account it was read; the witness itself is shared by all campaigns."""
    count: Count
    outcome: Outcome
    """Exhausted: the end marker was seen; never concluded from a count. Blocked: nothing is known of what is there."""
    document: UuidText | None = None
    earlier: Count | None = None
    """How many places the pass of this source before this one had found."""
    again: Count | None = None
    """How many of those this pass met again."""
    digest: Sha256 | None = None
    """Of the very capture. The document may have newer versions: a later pass that was blocked leaves one."""
    release: Label | None = None
    """Of a source that is a file: which edition of it was read."""
    as_of: UtcDatetime | None = None
    """When that edition said so."""
    meaning: Hash16 | None = None
    """What the phrase meant to a file, as a digest of categories and words: two campaigns may mean different things."""
    south: Latitude | None = None
    west: Longitude | None = None
    north: Latitude | None = None
    east: Longitude | None = None
    """The part of the world that was really seen. A pass that did not see its whole tile is not exhausted."""

    @model_validator(mode="after")
    def _met_again_what_was_there(self) -> Self:
        if self.again is not None and (self.earlier is None or self.again > min(self.earlier, self.count)):
            raise ValueError("again is greater than what one of the two passes found")
        return self
