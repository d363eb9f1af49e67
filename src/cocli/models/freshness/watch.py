"""What a watch has told so far: each change once, and none is forgotten before it was told."""

from __future__ import annotations

from cocli.models.campaign import CampaignName
from cocli.models.record import Hash16, Label, Many, Record, RecordPart, Text, UtcDatetime
from cocli.models.task import Nonce


class WatchDelivery(RecordPart):
    """Changes that somebody is telling now, or that did not reach everybody: they are told again as they are here."""

    changes: Many[Hash16]
    by: Label
    until: UtcDatetime
    """Who has not told them by then is followed by another one."""
    at: UtcDatetime | None = None
    """When they were told for the first time; null in files of an earlier version."""


class WatchState(Record):
    """`campaigns/{campaign}/watches/{name}.json`, replaced by compare-and-swap only."""

    schema_id = "cocli.watch/1"
    key = ("campaign", "name")

    campaign: CampaignName
    name: Label
    begun: UtcDatetime
    """Changes that were found before are no news to it."""
    told: Many[Hash16] = ()
    telling: WatchDelivery | None = None
    told_at: UtcDatetime | None = None
    problem: Text | None = None
    """Why the last try did not reach anybody; null after one that did."""
    nonce: Nonce
