"""A business of the town, as it really is, and who knows of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cocli.keys.identities import place_id_from_feature_id

if TYPE_CHECKING:
    from cocli.demo.town.region import Spot
    from cocli.demo.town.trades import Trade
    from cocli.demo.town.websites.site import TownSite

BusinessStatus = Literal["operational", "temporarily_closed", "permanently_closed"]
TownSource = Literal["overture", "google-maps"]


@dataclass(frozen=True, slots=True)
class Business:
    """One business at one address. A branch of a chain is a business."""

    number: int
    name: str
    trade: Trade
    spot: Spot
    phone: str | None
    """In E.164."""
    site: TownSite | None
    website: str | None
    """The address that the business gives for its website: its site, or a profile elsewhere."""
    status: BusinessStatus
    sources: tuple[TownSource, ...]
    feature_id: str
    kgmid: str
    gers_id: str
    """Overture's id."""
    rating: float | None
    review_count: int | None
    opens: str
    closes: str
    chain: str | None = None
    stale_website: str | None = None
    """What open data still says."""
    stale_phone: str | None = None
    twin_id: str | None = None
    """Overture's id of a second row for the same business, a few metres away."""

    @property
    def place_id(self) -> str:
        return place_id_from_feature_id(self.feature_id)

    @property
    def address(self) -> str:
        return f"{self.spot.street}, {self.spot.city}, KS {self.spot.postcode}"

    @property
    def national_phone(self) -> str | None:
        """`(620) 555-2345`."""
        if self.phone:
            return national(self.phone)
        return None

    def website_in(self, source: TownSource) -> str | None:
        """The website that a source shows."""
        if source == "overture" and self.stale_website:
            return self.stale_website
        return self.website

    def phone_in(self, source: TownSource) -> str | None:
        if source == "overture" and self.stale_phone:
            return self.stale_phone
        return self.phone


def national(e164: str) -> str:
    return f"({e164[2:5]}) {e164[5:8]}-{e164[8:]}"
