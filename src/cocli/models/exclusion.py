"""An exclusion: what is never a prospect, since when and why."""

from __future__ import annotations

from typing import Literal

from cocli.models.campaign import CampaignName
from cocli.models.record import Label, Record, Text, UtcDatetime


class Exclusion(Record):
    schema_id = "cocli.exclusion/1"
    key = ("campaign", "kind", "value")

    campaign: CampaignName
    kind: Literal["domain", "name", "place_id"]
    value: Label
    reason: Text | None = None
    added_by: Label | None = None
    added_at: UtcDatetime
