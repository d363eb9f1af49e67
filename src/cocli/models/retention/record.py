"""What was removed by a rule of retention: the proof that stays. Never the content."""

from __future__ import annotations

from cocli.models.campaign import CampaignName
from cocli.models.record import Count, Label, Many, Record, RecordPart, Text, UtcDatetime


class RemovedItem(RecordPart):
    """One thing that went."""

    name: Text
    """The key of a file; of a state of a document its place and uuid."""
    digest: Text | None = None
    """What names its content: the digest of a document, the store's etag of a file."""
    size: Count = 0


class RetentionRecord(Record):
    """`campaigns/{campaign}/retention/{day}/{content_hash}.json`: written before the things go, and never changed."""

    schema_id = "cocli.retention/1"
    key = ("campaign", "kind", "at")

    campaign: CampaignName
    kind: Label
    rule: Text
    """As the campaign says it: `captures = "12mo"`."""
    by: Text
    at: UtcDatetime
    with_evidence: bool = False
    """Whether pages went that values still name."""
    items: Many[RemovedItem] = ()
