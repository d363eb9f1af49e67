"""A change: something of a business became different between two takings of stock."""

from __future__ import annotations

from cocli.models.campaign import CampaignName, ChangeKindName
from cocli.models.record import Hash16, Label, Record, Text, UtcDatetime, UuidText

ChangeKind = ChangeKindName


class BusinessChange(Record):
    """`changes/{shard}/{change_id}.usv`: one change, with both values and both documents. Never altered."""

    schema_id = "cocli.business-change/1"
    key = ("change_id",)

    change_id: Hash16
    """Of business, kind, both values and the earlier standing: the same change found twice is one."""
    campaign: CampaignName
    company_hash: Hash16
    name: Text
    """As it is called now."""
    kind: ChangeKind
    before: Text | None = None
    after: Text | None = None
    before_at: UtcDatetime | None = None
    """When the earlier value was seen."""
    after_at: UtcDatetime | None = None
    before_document: UuidText | None = None
    after_document: UuidText | None = None
    """The capture that shows the later value; of who is missing, the reading that does not show it."""
    source: Label | None = None
    """Who says the later value."""
    reason: Text | None = None
    found_at: UtcDatetime
    """When stock was taken: `--since` goes by it."""
