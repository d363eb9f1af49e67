"""A place: one observation of one business by one source. Observations are kept; the prospect is computed from them."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from cocli.errors import IdentityError
from cocli.keys.identities import check_same_place
from cocli.models.record import (
    CidText,
    Count,
    CountryText,
    E164Text,
    FeatureIdText,
    Label,
    Latitude,
    Longitude,
    Many,
    PlaceIdText,
    Rating,
    Record,
    RecordPart,
    Text,
    TileValue,
    UtcDatetime,
    UuidText,
)

BusinessStatus = Literal["operational", "temporarily_closed", "permanently_closed"]
Day = Literal["mo", "tu", "we", "th", "fr", "sa", "su"]
ClockText = Annotated[str, StringConstraints(pattern=r"^(?:[01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$")]


class OpenHours(RecordPart):
    """Open on a day from one time to another. A shift past midnight ends on a smaller time than it begins."""

    day: Day
    opens: ClockText
    closes: ClockText


class Place(Record):
    """What a source said about a business, and where and when it said so."""

    schema_id = "cocli.place/1"
    key = ("source", "source_id", "observed_at")

    source: Label
    source_id: Label
    place_id: PlaceIdText | None = None
    feature_id: FeatureIdText | None = None
    cid: CidText | None = None
    kgmid: Label | None = None
    name: Text
    category_ids: Many[Text] = ()
    """Independent of language, such as `coffee_shop`."""
    category_labels: Many[Text] = ()
    phone: Text | None = None
    phone_e164: E164Text | None = None
    website: Text | None = None
    address: Text | None = None
    street: Text | None = None
    district: Text | None = None
    city: Text | None = None
    region: Text | None = None
    postcode: Text | None = None
    country: CountryText | None = None
    lat: Latitude | None = None
    lon: Longitude | None = None
    plus_code: Text | None = None
    hours: Many[OpenHours] = ()
    rating: Rating | None = None
    review_count: Count | None = None
    price: Text | None = None
    attributes: dict[str, Text | bool | None] = Field(default_factory=dict)
    business_status: BusinessStatus | None = None
    timezone: Text | None = None
    claimed: bool | None = None
    sponsored: bool | None = None
    phrase: Text | None = None
    tile: TileValue | None = None
    rank: Annotated[int, Field(ge=1)] | None = None
    """Where it stood in the list of answers."""
    observed_at: UtcDatetime
    document: UuidText | None = None
    """The capture that all of this was read from."""

    @model_validator(mode="after")
    def _one_identity(self) -> Self:
        if self.place_id is not None and self.place_id.startswith("C"):
            try:
                check_same_place(self.place_id, feature_id=self.feature_id, cid=self.cid)
            except IdentityError as error:
                raise ValueError(error.message) from error
        return self
