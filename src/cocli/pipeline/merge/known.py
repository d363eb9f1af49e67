"""What a business is found by, when observations are matched: its place, name, domain, phone and kinds, comparable."""

from __future__ import annotations

from sys import intern
from typing import TYPE_CHECKING, NamedTuple

from cocli.keys.identities import normalised
from cocli.pipeline.comparison import comparable_name, comparable_phone, comparable_postcode
from cocli.pipeline.merge.kinds import families_of_categories
from cocli.pipeline.merge.rules import DOMAIN_ITSELF, WEBSITE
from cocli.pipeline.merge.transformations import is_named_by_site
from cocli.pipeline.sources.imports import IMPORT
from cocli.pipeline.streets import comparable_street
from cocli.pipeline.websites.hosts.shared import is_shared, own_domain

if TYPE_CHECKING:
    from cocli.models.place import Place
    from cocli.models.prospect import Prospect

_ROWS_AND_SITES = {IMPORT, WEBSITE}


class Known(NamedTuple):
    """What is kept of a prospect: small, because there are millions."""

    company: str
    lat: float | None
    lon: float | None
    name: str
    domain: str | None
    street: str
    postcode: str
    city: str
    is_placeless: bool
    """It is of a person's list, and nobody but its own website says where it is, the city aside."""
    is_bare: bool
    """… nor what it is called: a row of a list of domains."""
    phone: str = ""
    kinds: frozenset[str] = frozenset()
    """What its categories say that it is."""


def known_place(place: Place, company: str) -> Known:
    """What a place is found by."""
    has_point = place.lat is not None and place.lon is not None
    return Known(
        company=company,
        lat=place.lat if has_point else None,
        lon=place.lon if has_point else None,
        name=comparable_name(place.name),
        domain=own_domain(place.website),
        street=comparable_street(place.street or place.address),
        postcode=comparable_postcode(place.postcode),
        city=intern(normalised(place.city or "")),
        is_placeless=(is_placeless := _is_row_without_place(place)),
        is_bare=is_placeless and is_named_by_site(place),
        phone=comparable_phone(place.phone_e164, place.phone),
        kinds=families_of_categories(place.category_ids or place.category_labels),
    )


def known_prospect(prospect: Prospect) -> Known:
    """What a prospect is found by."""
    has_point = prospect.lat is not None and prospect.lon is not None
    return Known(
        company=prospect.company_hash,
        lat=prospect.lat if has_point else None,
        lon=prospect.lon if has_point else None,
        name=comparable_name(prospect.name),
        domain=None if prospect.domain and is_shared(prospect.domain) else prospect.domain,
        street=comparable_street(prospect.street),
        postcode=comparable_postcode(prospect.postcode),
        city=intern(normalised(prospect.city or "")),
        is_placeless=(is_placeless := not has_point and _is_of_rows_without_place(prospect)),
        is_bare=is_placeless and _is_said_by_site(prospect, "name"),
        phone=comparable_phone(prospect.phone_e164, prospect.phone),
        kinds=families_of_categories(prospect.categories),
    )


def _is_row_without_place(place: Place) -> bool:
    """Sources of businesses know where they are, and their branches apart; a person's list often does not."""
    has_point = place.lat is not None and place.lon is not None
    return place.source == IMPORT and not (has_point or place.street or place.address or place.postcode)


def _is_of_rows_without_place(prospect: Prospect) -> bool:
    return IMPORT in prospect.sources and (
        {*prospect.sources} <= _ROWS_AND_SITES and _is_said_by_site(prospect, "street", "postcode")
    )


def _is_said_by_site(prospect: Prospect, *fields: str) -> bool:
    """Whether these fields hold nothing, or what its own website says."""
    there = [field for field in fields if getattr(prospect, field)]
    origins = [prospect.origin_of(field) for field in there]
    return all(origin is not None and origin.source in (WEBSITE, DOMAIN_ITSELF) for origin in origins)
