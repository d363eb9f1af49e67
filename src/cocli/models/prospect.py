"""A prospect: the gold record of one business, computed from all observations of it."""

from __future__ import annotations

from pydantic import Field

from cocli.models.campaign import CampaignName
from cocli.models.origin import Origin, Origins, origin_of
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
    RecordPart,
    Text,
    TileText,
    UtcDatetime,
)
from cocli.models.unordered import Unordered


class StaffMember(RecordPart):
    """A person of the business, as its website names them."""

    name: Text
    role: Text | None = None
    email: EmailText | None = None
    phone: Text | None = None
    """As it stands there."""


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
    """The most telling first, as the source had them."""
    rating: Rating | None = None
    review_count: Count | None = None
    hours: Many[OpenHours] = ()
    business_status: BusinessStatus | None = None
    socials: dict[Label, Text] = Field(default_factory=dict)
    """Network → address of the profile."""
    primary_email: EmailText | None = None
    all_emails: Unordered[EmailText] = ()
    tags: Unordered[Label] = ()
    campaign: CampaignName
    phrases: Unordered[Text] = ()
    tiles: Unordered[TileText] = ()
    first_seen: UtcDatetime
    updated_at: UtcDatetime
    sources: Unordered[Label] = ()
    source_ids: Unordered[Label] = ()
    """`{source}:{id}` of every observation that has no place id: the same one met again is the same business."""
    merged_into: Hash16 | None = None
    """This business is known under another hash now: the record is kept as evidence, and views leave it out."""
    origins: Origins = ()
    """What each value was read from; the merge rules need it to tell the better from the worse."""
    people: Many[StaffMember] = ()
    """Whom its website names, with their roles."""
    split_from: Unordered[Hash16] = ()
    """Companies that it was taken for, and that a person says it is not."""

    @property
    def address(self) -> str | None:
        """The address on one line, as people of most countries can read it."""
        town = " ".join(filter(None, (self.region, self.postcode)))
        return ", ".join(filter(None, (self.street, self.city, town, self.country))) or None

    def origin_of(self, field: str) -> Origin | None:
        """Which observation the value of a field came from; an entry of a map is `socials.facebook`."""
        return origin_of(self.origins, field)
