"""Two editions of the parsers, side by side."""

from __future__ import annotations

from pydantic import Field

from cocli.models.campaign import CampaignName
from cocli.models.record import Count, Label, Many, Record, RecordPart, Text, UtcDatetime


class WebChangeExample(RecordPart):
    """One record of which a field differs."""

    what: Text
    before: Text | None = None
    after: Text | None = None
    company_hash: Label | None = None
    """Where the record is a prospect: its page and its why file can be opened."""


class WebFieldChange(RecordPart):
    """One field, over all records that both editions have."""

    field: Label
    same: Count
    changed: Count
    gained: Count
    lost: Count
    examples: Many[WebChangeExample] = ()


class WebRecordChanges(RecordPart):
    """Of one kind of record."""

    same: Count
    changed: Count
    new: Count
    gone: Count
    examples_new: Many[Text] = ()
    examples_gone: Many[Text] = ()
    fields: Many[WebFieldChange] = ()


class WebCompare(Record):
    """`data/{campaign}/compare.json`."""

    schema_id = "cocli.web-compare/1"

    campaign: CampaignName
    at: UtcDatetime
    left: Label | None = None
    right: Label | None = None
    editions: Many[Label] = ()
    live_edition: Label
    states_read: Count = 0
    missing: dict[Label, Count] = Field(default_factory=dict)
    places: WebRecordChanges | None = None
    prospects: WebRecordChanges | None = None
    promote_command: Text | None = None
    problem: Text | None = None
