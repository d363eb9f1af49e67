"""A company of the CRM: a Markdown file that a person edits, with one front-matter key that belongs to programs."""

from __future__ import annotations

from pydantic import ConfigDict

from cocli.models.campaign import CampaignName
from cocli.models.place import OpenHours
from cocli.models.prospect import StaffMember
from cocli.models.record import (
    DomainText,
    E164Text,
    EmailText,
    Hash16,
    Label,
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
    phone: Text | None = None
    """A number that could not be read, as it was written; where it could, it stands above."""
    emails: Many[EmailText] = ()
    address: Text | None = None
    """On one line."""
    categories: Many[Text] = ()
    hours: Many[OpenHours] | None = None
    people: Many[StaffMember] | None = None
    """Whom its website names. Those whom you know have files of their own."""
    campaigns: Many[CampaignName] = ()
    also: Many[Hash16] | None = None
    """Other hashes under which campaigns know this company: of pages that were brought together with this one."""
    formerly: Many[Label] | None = None
    """The slugs of those pages: whoever names one of them means this page."""
    moved_to: Label | None = None
    """Of a page that was brought together with another: the slug of the one that goes on."""
    ended_at: UtcDatetime | None = None
    """When this page was removed, or brought together with another: its file only says so from then on."""
    updated_at: UtcDatetime

    @property
    def any_phone(self) -> str | None:
        """Their number, as good as it is known."""
        return self.phone_e164 or self.phone


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

    @property
    def facts(self) -> CompanyFacts | None:
        """What programs found out; None where there is nothing, and on a page that is no more."""
        if self.cocli and self.cocli.ended_at is None:
            return self.cocli
        return None

    @property
    def former(self) -> CompanyFacts | None:
        """What is left of a page that is no more."""
        if self.cocli and self.cocli.ended_at is not None:
            return self.cocli
        return None
