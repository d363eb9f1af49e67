"""The two records of coverage: a tile × phrase that a campaign wants, and the witness that it was read."""

from __future__ import annotations

from typing import Literal

from cocli.models.campaign import CampaignName
from cocli.models.record import Count, Label, Record, Text, TileValue, UtcDatetime, UuidText


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
    """`scraped-tiles/{lat}/{lon}/{phrase}.csv`: read when, by whom, how many, to the end or cut short."""

    schema_id = "cocli.witness/1"
    key = ("tile", "phrase")

    tile: TileValue
    phrase: Text
    source: Label
    read_at: UtcDatetime
    worker: Label
    campaign: CampaignName
    """On whose account it was read; the witness itself is shared by all campaigns."""
    count: Count
    outcome: Literal["exhausted", "cut_short"]
    """Exhausted: the end marker was seen. Never concluded from a count."""
    document: UuidText | None = None
