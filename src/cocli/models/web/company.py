"""Companies as their page shows them: facts with their sources, what people wrote, what happened when."""

from __future__ import annotations

from pydantic import JsonValue

from cocli.models.campaign import CampaignName
from cocli.models.record import Hash16, Label, Latitude, Longitude, Many, Record, RecordPart, Text, UtcDatetime


class WebFact(RecordPart):
    """One value, and where it comes from."""

    field: Label
    label: Text
    value: JsonValue
    text: Text
    """The value for people."""
    link: Text | None = None
    """Checked: http, https, mailto or tel."""
    source: Label | None = None
    observed_at: UtcDatetime | None = None
    document: Label | None = None
    written: Text | None = None
    """What a person wrote instead: it is shown first."""
    why: bool = True
    """Whether the field can be asked for in the why file."""


class WebContact(RecordPart):
    """A person of the company."""

    name: Text
    role: Text | None = None
    email: Text | None = None
    phone: Text | None = None
    told_by: Label
    """`website`, or `page`: somebody wrote their file."""
    key: Text | None = None


class WebNote(RecordPart):
    """A note or a meeting."""

    name: Label
    title: Text | None = None
    date: Text | None = None
    text: Text
    tags: Many[Text] = ()
    place: Text | None = None
    attendees: Many[Text] = ()
    etag: Text
    problem: Text | None = None


class WebMoment(RecordPart):
    """One line of a timeline."""

    at: Text
    """A time, or a day."""
    kind: Label
    text: Text


class WebMergedRecord(RecordPart):
    """A record that became part of this company."""

    company_hash: Hash16
    name: Text
    sources: Many[Label] = ()
    first_seen: UtcDatetime | None = None
    split_command: Text | None = None


class WebCompany(RecordPart):
    """One company."""

    company_hash: Hash16
    slug: Label
    name: Text
    etag: Text | None = None
    """Of the company's Markdown file; null where it has none yet."""
    page_key: Text | None = None
    facts: Many[WebFact] = ()
    written: dict[Label, Text]
    """The values that a person wrote, by key."""
    tags: Many[Text] = ()
    body: Text = ""
    excluded: Text | None = None
    people: Many[WebContact] = ()
    notes: Many[WebNote] = ()
    meetings: Many[WebNote] = ()
    timeline: Many[WebMoment] = ()
    merged: Many[WebMergedRecord] = ()
    lat: Latitude | None = None
    lon: Longitude | None = None
    problem: Text | None = None
    command: Text


class WebCompanies(Record):
    """`data/{campaign}/companies/{shard}.json`."""

    schema_id = "cocli.web-companies/1"

    campaign: CampaignName
    at: UtcDatetime
    shard: Label
    companies: Many[WebCompany]
