"""The mark of a campaign on a witness: what the capture held is in this campaign's records."""

from __future__ import annotations

from typing import Literal

from cocli.models.campaign import CampaignName
from cocli.models.record import Count, Hash16, Label, Record, Text, TileValue, UtcDatetime, UuidText

HarvestOutcome = Literal["harvested", "missing"]


class HarvestedTile(Record):
    """`harvested-tiles/{lat}/{lon}/{phrase}/{source}.csv`: the campaign has what a pass of a source found there."""

    schema_id = "cocli.harvested-tile/1"
    key = ("tile", "phrase", "source")

    tile: TileValue
    phrase: Text
    source: Label
    campaign: CampaignName
    read_at: UtcDatetime
    """Of the pass that was taken over: that of its witness."""
    outcome: HarvestOutcome
    """Missing: the capture is not here, so the tile has to be read again."""
    reason: Text | None = None
    """Why it is missing."""
    document: UuidText | None = None
    release: Label | None = None
    as_of: UtcDatetime | None = None
    meaning: Hash16 | None = None
    """What was taken over of a file: its edition, when that said so, and what the phrase meant. As in the witness."""
    parser: Label | None = None
    """The node that read the capture, and its version."""
    count: Count = 0
    """Places that the capture held."""
    left_out: Count = 0
    """How many of them were excluded …"""
    exclusions: Hash16 | None = None
    """… by which exclusions, as a digest. Null where none was: then other exclusions change nothing of this mark."""
    marked_at: UtcDatetime
