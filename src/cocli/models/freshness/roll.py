"""The roll of a search: which businesses a source lists there, when each was seen first and last, who is missing."""

from __future__ import annotations

from pydantic import Field

from cocli.models.campaign import CampaignName
from cocli.models.record import Count, Hash16, Label, Record, RecordPart, Text, TileValue, UtcDatetime, UuidText


class ListedPlace(RecordPart):
    """One business of a source, as the readings of one search have met it."""

    first: UtcDatetime
    last: UtcDatetime
    document: UuidText | None = None
    """The capture that it was seen in last."""
    missed: Count = 0
    """Complete readings in a row that did not show it."""
    since: UtcDatetime | None = None
    """The first of them."""
    absent: UuidText | None = None
    """The capture of that reading."""


class TileRoll(Record):
    """`rolls/{lat}/{lon}/{phrase}/{source}.usv`: what the readings of one search have listed so far."""

    schema_id = "cocli.tile-roll/1"
    key = ("tile", "phrase", "source")

    tile: TileValue
    phrase: Text
    source: Label
    campaign: CampaignName
    begun: UtcDatetime | None = None
    """The first complete reading: who is listed later is new. Null until there was one."""
    read_at: UtcDatetime
    """Of the reading that was called last."""
    release: Label | None = None
    as_of: UtcDatetime | None = None
    meaning: Hash16 | None = None
    """Of a file: its edition, when that said so, and what the phrase meant."""
    document: UuidText | None = None
    readings: Count = 0
    """Complete ones."""
    changed: Count = 0
    """Who came or went with the last complete reading."""
    quiet: Count = 0
    """Complete readings in a row with which nobody came or went."""
    places: dict[Label, ListedPlace] = Field(default_factory=dict)
    """By the source's own id."""
