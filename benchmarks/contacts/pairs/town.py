"""Pairs of the demo town: what open data and the map say of one business, and of neighbours."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from benchmarks.contacts.pairs.pairs import LabelledPair
from cocli.demo.town import build_town, truth_of
from cocli.demo.town.truth import TrueBusiness
from cocli.models.place import Place

_AT = datetime(2026, 11, 17, tzinfo=UTC)


def town_pairs(seed: int = 7, size: int = 320) -> list[LabelledPair]:
    """Each business by both sources, and each beside the next ones of its street of the list."""
    businesses = truth_of(build_town(seed=seed, size=size)).businesses
    found: list[LabelledPair] = []
    for business in businesses:
        if len(business.listings) == 2:
            first, second = (_listed(business, source) for source in sorted(business.listings))
            found.append(LabelledPair(f"town-{business.number}", "town: two sources", "en", first, second, same=True))
    for one, other in pairwise(businesses):
        first, second = _listed(one, min(one.listings)), _listed(other, max(other.listings))
        found.append(LabelledPair(f"town-{one.number}-next", "town: neighbours", "en", first, second, same=False))
    for one, other in pairwise([business for business in businesses if business.chain]):
        first, second = _listed(one, min(one.listings)), _listed(other, max(other.listings))
        found.append(LabelledPair(f"town-{one.number}-branch", "town: branches", "en", first, second, same=False))
    return found


def _listed(business: TrueBusiness, source: str) -> Place:
    """What a source says of a business. Only the map has place ids."""
    listing = business.listings[source]
    values: dict[str, Any] = {
        "source": source,
        "source_id": listing.ids[0],
        "name": business.name,
        "street": business.street,
        "city": business.city,
        "postcode": business.postcode,
        "country": business.country,
        "lat": business.lat,
        "lon": business.lon,
        "phone": listing.phone,
        "website": listing.website,
        "observed_at": _AT,
    }
    if listing.ids[0] == business.place_id:
        values["place_id"] = business.place_id
    return Place.checked(values)
