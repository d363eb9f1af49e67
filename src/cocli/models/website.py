"""A website: what was read on a company's own pages, with the page behind every value."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from cocli.models.place import OpenHours
from cocli.models.record import (
    Confidence,
    CountryText,
    DomainText,
    E164Text,
    EmailText,
    Label,
    Many,
    Record,
    RecordPart,
    Text,
    UtcDatetime,
    UuidText,
)

WebsiteStatus = Literal[
    "alive",
    "dead",
    "parked",
    "for-sale",
    "social-only",
    "directory",
    "redirected",
    "blocked",
    "script-shell",
    "refused",
]
"""What a look at a website came to; docs/enrichment.md says what decides."""
ContactLabel = Literal["role", "person"]
ContactRelation = Literal["own", "freemail", "agency", "platform", "authority", "other"]
FoundPhoneKind = Literal["phone", "fax", "whatsapp"]
PhoneRelation = Literal["agency", "authority", "officer", "service", "copied", "abroad"]
"""Who made or hosts the site; an authority, chamber or register; who watches over privacy; a service that it uses; the
site that the page is a copy of; companies abroad in a notice on privacy."""


class FoundEmail(RecordPart):
    """An address, where it stood, how it was found, and what stood around it."""

    email: EmailText
    page: Text
    method: Label
    context: Text | None = None
    label: ContactLabel | None = None
    name: Text | None = None
    """The role (`sales`) or the person."""
    relation: ContactRelation | None = None
    """Whose the address is: the company's own, or that of whoever made, hosts or watches over the site."""
    document: UuidText | None = None
    """The stored page."""
    delivered: bool | None = None
    """Whether the company is reached by it; null where an older version did not say: then its relation does."""
    reason: Text | None = None
    """Why it is delivered, or why not."""
    confidence: Confidence | None = None
    """How likely it is a right contact of the company, before anybody asked its name servers."""


class FoundPhone(RecordPart):
    raw: Text
    e164: E164Text | None = None
    page: Text
    method: Label
    kind: FoundPhoneKind | None = None
    document: UuidText | None = None
    """The stored page."""
    relation: PhoneRelation | None = None
    """Whose it is, where it is not the company's."""
    conflict: Text | None = None
    """What the link says whose text shows this number, where the two differ."""


class FoundPerson(RecordPart):
    """A person whom the pages name, with what they say of them."""

    name: Text
    role: Text | None = None
    email: EmailText | None = None
    phone: Text | None = None
    """As it stands there."""
    page: Text
    method: Label
    document: UuidText | None = None
    """The stored page."""


class FoundAddress(RecordPart):
    """A postal address, as it stands on a page."""

    street: Text | None = None
    city: Text | None = None
    region: Text | None = None
    postcode: Text | None = None
    country: Text | None = None
    page: Text
    method: Label
    document: UuidText | None = None
    """The stored page."""


class FoundHours(OpenHours):
    """Opening hours of a day; all of a site's are from one page."""

    page: Text
    document: UuidText | None = None
    """The stored page."""


class Website(Record):
    """One crawl of one domain."""

    schema_id = "cocli.website/1"
    key = ("domain",)

    domain: DomainText
    final_url: Text | None = None
    title: Text | None = None
    description: Text | None = None
    emails: Many[FoundEmail] = ()
    primary_email: EmailText | None = None
    """The address to write to, by the rule of docs/extractors.md."""
    phones: Many[FoundPhone] = ()
    socials: dict[Label, Text] = Field(default_factory=dict)
    contact_pages: Many[Text] = ()
    about_pages: Many[Text] = ()
    contact_forms: Many[Text] = ()
    technologies: Many[Label] = ()
    status: WebsiteStatus
    evidence: Many[Text] = ()
    """What the status was concluded from."""
    pages_read: Many[Text] = ()
    scraper_version: Label
    crawled_at: UtcDatetime
    """When the newest content that it was read from was fetched."""
    document: UuidText | None = None
    """The state of the site as a whole."""
    people: Many[FoundPerson] = ()
    addresses: Many[FoundAddress] = ()
    hours: Many[FoundHours] = ()
    name: Text | None = None
    """What the site calls the company, for machines: in its marked up data, or as the name of the site."""
    country: CountryText | None = None
    """The country by which its national phone numbers were read."""
    primary_reason: Text | None = None
    """Why the primary address is the one to write to."""
    other_phones: Many[FoundPhone] = ()
    """Numbers on its pages that are not the company's, each with whose it is."""
