"""A prospect: the gold record of one business, computed from all observations of it."""

from __future__ import annotations

from pydantic import Field

from cocli.models.campaign import CampaignName
from cocli.models.place import BusinessStatus, OpenHours
from cocli.models.record import (
    Count,
    CountryText,
    DomainText,
    E164Text,
    EmailText,
    Hash16,
    Label,
    Latitude,
    Longitude,
    Many,
    PlaceIdText,
    Rating,
    Record,
    Text,
    TileText,
    UtcDatetime,
    UuidText,
)


class Prospect(Record):
    """One business that the campaign may want to reach. Its columns stand in this order in every file."""

    schema_id = "cocli.prospect/1"
    key = ("company_hash",)

    company_hash: Hash16
    place_id: PlaceIdText | None = None
    slug: Label
    """A label for people, never an identity."""
    name: Text
    phone: Text | None = None
    phone_e164: E164Text | None = None
    website: Text | None = None
    domain: DomainText | None = None
    street: Text | None = None
    city: Text | None = None
    region: Text | None = None
    postcode: Text | None = None
    country: CountryText | None = None
    lat: Latitude | None = None
    lon: Longitude | None = None
    categories: Many[Text] = ()
    rating: Rating | None = None
    review_count: Count | None = None
    hours: Many[OpenHours] = ()
    business_status: BusinessStatus | None = None
    socials: dict[Label, Text] = Field(default_factory=dict)
    """Network → address of the profile."""
    primary_email: EmailText | None = None
    all_emails: Many[EmailText] = ()
    tags: Many[Label] = ()
    campaign: CampaignName
    phrases: Many[Text] = ()
    tiles: Many[TileText] = ()
    first_seen: UtcDatetime
    updated_at: UtcDatetime
    sources: Many[Label] = ()
    name_document: UuidText | None = None
    """The capture that the name came from; likewise below."""
    phone_document: UuidText | None = None
    website_document: UuidText | None = None
    email_document: UuidText | None = None
