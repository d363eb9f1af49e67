"""A company of the CRM: a Markdown file that a person edits, with one front-matter key that belongs to programs."""

from __future__ import annotations

from pydantic import ConfigDict

from cocli.models.campaign import CampaignName
from cocli.models.record import (
    DomainText,
    E164Text,
    EmailText,
    Hash16,
    Many,
    PlaceIdText,
    Record,
    RecordPart,
    Text,
    UtcDatetime,
    WrittenList,
    WrittenText,
)


class CompanyFacts(RecordPart):
    """The front-matter key `cocli:` of a company: what programs found out. A person's keys stand beside it."""

    company_hash: Hash16
    place_id: PlaceIdText | None = None
    name: Text | None = None
    """The name as the sources have it; what a person calls the company stands in their own `name:`."""
    domain: DomainText | None = None
    website: Text | None = None
    phone_e164: E164Text | None = None
    emails: Many[EmailText] = ()
    address: Text | None = None
    """On one line."""
    categories: Many[Text] = ()
    campaigns: Many[CampaignName] = ()
    updated_at: UtcDatetime


class Company(Record):
    """`companies/{slug}/_index.md`. What a person writes is theirs: keys that are unknown here are theirs too."""

    model_config = ConfigDict(extra="allow")
    schema_id = "cocli.company/1"

    name: WrittenText | None = None
    tags: WrittenList = ()
    website: WrittenText | None = None
    phone: WrittenText | None = None
    email: WrittenText | None = None
    status: WrittenText | None = None
    cocli: CompanyFacts | None = None
