"""Why a company has its values: rules, observations, and the pages behind them."""

from __future__ import annotations

from pydantic import JsonValue

from cocli.models.campaign import CampaignName
from cocli.models.record import Hash16, Label, Many, Record, RecordPart, Text, UtcDatetime


class WebWritten(RecordPart):
    """What a person wrote on the company's page."""

    key: Label
    value: Text
    file: Text


class WebObservation(RecordPart):
    """One time that something was said of a field."""

    value: JsonValue
    source: Label
    observed_at: UtcDatetime
    told_by: Label
    kept: bool
    weight: int | None = None
    reason: Text | None = None
    document: Label | None = None
    record: Label | None = None


class WebEmailTrail(RecordPart):
    """How an address was found."""

    email: Text
    page: Text | None = None
    method: Label | None = None
    context: Text | None = None
    label: Label | None = None
    name: Text | None = None
    relation: Label | None = None
    reason: Text | None = None
    """Why it is delivered, or why not."""
    chosen: Text | None = None
    """Why it is the one to write to."""
    confidence: float | None = None
    verification: Label | None = None
    first_seen: UtcDatetime | None = None
    last_seen: UtcDatetime | None = None
    document: Label | None = None


class WebExplanation(RecordPart):
    """One field."""

    field: Label
    value: JsonValue
    rule: Label
    meaning: Text
    written: WebWritten | None = None
    observations: Many[WebObservation] = ()
    emails: Many[WebEmailTrail] = ()
    pages: Many[Label] = ()
    """Documents, by uuid, that have a page."""
    problems: Many[Text] = ()
    command: Text


class WebDocument(RecordPart):
    """A document that an observation names."""

    uuid: Label
    uri: Text | None = None
    connector: Label
    fetched_at: UtcDatetime | None = None
    page_link: Text | None = None
    deleted: bool = False
    command: Text


class WebWhy(Record):
    """`data/{campaign}/why/{company_hash}.json`."""

    schema_id = "cocli.web-why/1"

    campaign: CampaignName
    at: UtcDatetime
    company_hash: Hash16
    name: Text
    moved_from: Hash16 | None = None
    merged: Many[Hash16] = ()
    fields: Many[WebExplanation]
    documents: Many[WebDocument] = ()
