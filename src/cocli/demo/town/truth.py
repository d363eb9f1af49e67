"""What a perfect run finds in a town: kept beside its data, so that recall and precision are computed, not guessed."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from cocli.demo.town.languages import LANGUAGES
from cocli.demo.town.trades import PHRASES
from cocli.demo.town.websites.cloaks import filled
from cocli.demo.town.websites.pages import rejects_of
from cocli.keys.identities import cid_from_place_id

if TYPE_CHECKING:
    from pathlib import Path

    from cocli.demo.town.business import Business, TownSource
    from cocli.demo.town.town import Town
    from cocli.demo.town.websites.site import TownSite


@dataclass(frozen=True, slots=True)
class TrueEmail:
    """An address of a business, and how its website shows it."""

    address: str
    relation: str
    form: str
    page: str
    label: str | None
    name: str | None
    primary: bool


@dataclass(frozen=True, slots=True)
class TrueSite:
    """A website, by what a polite reader without a browser can know of it."""

    domain: str
    url: str
    status: str
    kind: str
    emails: tuple[TrueEmail, ...]
    others: tuple[tuple[str, str], ...]
    """Addresses of somebody else that stand there, with their relation: no mistake, if it is found out."""
    rejected: tuple[str, ...]
    """What must not be reported at all."""
    optional: tuple[str, ...]
    phones: tuple[str, ...]
    emails_in_browser: tuple[str, ...]
    """What only a browser gets to see, beside the others."""


@dataclass(frozen=True, slots=True)
class TrueListing:
    """What a source says of a business, where that can be out of date."""

    website: str | None
    phone: str | None
    ids: tuple[str, ...]
    """Of its rows; more than one where the source has a business twice."""


@dataclass(frozen=True, slots=True)
class TrueBusiness:
    number: int
    name: str
    phrase: str
    category: str
    street: str
    city: str
    postcode: str
    state: str
    country: str
    lat: float
    lon: float
    tile: str
    phone: str | None
    website: str | None
    domain: str | None
    """Of its own website; None where it has none, or only a page on somebody else's."""
    website_status: str | None
    business_status: str
    chain: str | None
    place_id: str
    feature_id: str
    cid: str
    kgmid: str
    listings: dict[str, TrueListing]
    """By source; a source that does not know the business is absent."""
    emails: tuple[TrueEmail, ...]

    def emails_by(self, source: TownSource) -> tuple[TrueEmail, ...]:
        """The addresses that can be reached from what one source says: none where its website is out of date."""
        listing = self.listings.get(source)
        if listing is not None and listing.website == self.website:
            return self.emails
        return ()


@dataclass(frozen=True, slots=True)
class TrueSearch:
    """Which businesses a phrase has in a tile, by number."""

    tile: str
    phrase: str
    overture: tuple[int, ...]
    google_maps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Truth:
    seed: int
    country: str
    tiles: tuple[str, ...]
    """Those of the region. A business in another tile is not part of a plan for it."""
    phrases: tuple[str, ...]
    businesses: tuple[TrueBusiness, ...]
    sites: tuple[TrueSite, ...]
    searches: tuple[TrueSearch, ...]

    def planned(self, source: TownSource) -> tuple[TrueBusiness, ...]:
        """What a plan over all tiles and phrases has to find in one source, each once."""
        within = frozenset(self.tiles)
        return tuple(
            business for business in self.businesses if source in business.listings and business.tile in within
        )

    def search(self, tile: str, phrase: str) -> TrueSearch:
        return next(search for search in self.searches if (search.tile, search.phrase) == (tile, phrase))

    def as_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"

    def write(self, path: Path) -> None:
        path.write_text(self.as_json(), "utf-8")


def truth_of(town: Town) -> Truth:
    tiles = tuple(str(tile) for tile in town.region.tiles)
    own = {host: site for host, site in town.sites.items() if host == site.host}
    return Truth(
        seed=town.seed,
        country=town.region.country,
        tiles=tiles,
        phrases=PHRASES,
        businesses=tuple(_business(town, business) for business in town.businesses),
        sites=tuple(_site(site) for site in own.values() if _is_own(site)),
        searches=_searches(town, tiles),
    )


def _is_own(site: TownSite) -> bool:
    return site.kind not in ("social", "directory")


def _business(town: Town, business: Business) -> TrueBusiness:
    site, spot = business.site, business.spot
    return TrueBusiness(
        number=business.number,
        name=business.name,
        phrase=business.trade.phrase,
        category=business.trade.category,
        street=spot.street,
        city=spot.city,
        postcode=spot.postcode,
        state=town.region.state,
        country=town.region.country,
        lat=spot.lat,
        lon=spot.lon,
        tile=str(spot.tile),
        phone=business.phone,
        website=business.website,
        domain=site.domain if site is not None and _is_own(site) else None,
        website_status=site.status if site is not None else None,
        business_status=business.status,
        chain=business.chain,
        place_id=business.place_id,
        feature_id=business.feature_id,
        cid=cid_from_place_id(business.place_id),
        kgmid=business.kgmid,
        listings={source: _listing(business, source) for source in business.sources},
        emails=_emails(site) if site is not None else (),
    )


def _listing(business: Business, source: TownSource) -> TrueListing:
    rows = (business.gers_id, business.twin_id) if source == "overture" else (business.place_id,)
    return TrueListing(
        business.website_in(source), business.phone_in(source), tuple(row for row in rows if row is not None)
    )


def _emails(site: TownSite) -> tuple[TrueEmail, ...]:
    language = LANGUAGES[site.language]
    host = site.target or site.host
    return tuple(
        TrueEmail(
            address=email.address,
            relation=email.relation,
            form=email.form,
            page=f"http://{host}{language.path(email.page)}",
            label=email.label,
            name=email.name,
            primary=number == 0,
        )
        for number, email in enumerate(site.readable_emails)
    )


def _site(site: TownSite) -> TrueSite:
    readable = site.status == "alive"
    negatives = site.negatives if readable else ()
    return TrueSite(
        domain=site.domain,
        url=site.url,
        status=site.status,
        kind=site.kind,
        emails=_emails(site),
        others=tuple(other for negative in negatives for other in negative.others),
        rejected=(*rejects_of(site), *_rejected(site)) if readable else (),
        optional=tuple(text for negative in negatives for text in negative.optional),
        phones=_phones(site) if readable else (),
        emails_in_browser=tuple(email.address for email in site.emails) if site.kind == "script-shell" else (),
    )


def _rejected(site: TownSite) -> tuple[str, ...]:
    return tuple(filled(text, {"domain": site.domain}) for negative in site.negatives for text in negative.rejects)


def _phones(site: TownSite) -> tuple[str, ...]:
    if site.kind == "robots-contact" or site.phone is None:
        return ()
    return tuple(dict.fromkeys((site.phone, *(branch.phone for branch in site.branches))))


def _searches(town: Town, tiles: tuple[str, ...]) -> tuple[TrueSearch, ...]:
    found: dict[tuple[str, str, TownSource], list[int]] = defaultdict(list)
    for business in town.businesses:
        for source in business.sources:
            found[str(business.spot.tile), business.trade.phrase, source].append(business.number)
    return tuple(
        TrueSearch(tile, phrase, tuple(found[tile, phrase, "overture"]), tuple(found[tile, phrase, "google-maps"]))
        for tile in tiles
        for phrase in PHRASES
    )
