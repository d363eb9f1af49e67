"""From one model to another, explicitly: an observation becomes a contribution to the gold record.

A contribution is a record of its own, with the origin of every value; `merge_prospects` adds it to what is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocli.errors import IdentityError
from cocli.keys.identities import company_hash, company_identity, is_place_id, normalised, registrable_domain
from cocli.keys.slugs import slug_of
from cocli.models.domain import Domain
from cocli.models.email import EmailEntry
from cocli.models.origin import Origin
from cocli.models.place import OpenHours
from cocli.models.prospect import Prospect, StaffMember
from cocli.pipeline.merge.rules import DOMAIN_ITSELF, MATCHING, RULES, WEBSITE, MergeRule
from cocli.pipeline.merge.site_address import address_for, address_values
from cocli.pipeline.sources.imports import IMPORT
from cocli.pipeline.sources.imports.domains import site_name
from cocli.pipeline.sources.registry import find_source
from cocli.pipeline.websites.hosts.shared import own_domain, social_network

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.models.place import Place
    from cocli.models.record import Record
    from cocli.models.website import FoundEmail, Website

DISTINCT_IDS = "google-maps:cid:"
"""Ids of a source that gives every business one: two of them are two businesses, at one door and under one name."""
MAX_STAFF = 20
"""People of one business. Whoever names more runs a directory of its staff: the record of the website has them."""
_WITH_ORIGIN = (MergeRule.BEST, MergeRule.PAIRED, MergeRule.OLDEST)


def origin_fields(model: type[Record], values: dict[str, Any]) -> list[str]:
    """The names under which the origin of these values is kept: every filled field whose source decides."""
    names = [name for name, rule in RULES[model].items() if rule in _WITH_ORIGIN and _is_filled(values.get(name))]
    entries = [name for name, rule in RULES[model].items() if rule is MergeRule.ENTRIES]
    return names + [f"{name}.{entry}" for name in entries for entry in values.get(name) or ()]


def _is_filled(value: Any) -> bool:
    return value not in (None, (), [], "") and not (isinstance(value, str) and value.isspace())


def _observed(
    model: type[Record], values: dict[str, Any], source: str, at: datetime, document: str | None, reason: str | None
) -> tuple[Origin, ...]:
    fields = origin_fields(model, values)
    if not fields:
        return ()
    return (Origin(fields=tuple(fields), source=source, observed_at=at, document=document, reason=reason),)


def place_source(place: Place) -> str:
    """A row of a result list says less, and less surely, than the page of the place itself."""
    source = find_source(place.source) if place.rank is not None else None
    return place.source if source is None else source.row_name


def is_named_by_site(place: Place) -> bool:
    """Whether a row of a file has no name but its website's domain."""
    return place.source == IMPORT and place.name == site_name(place.website)


def place_identity(place: Place, *, domain_is_free: bool = True) -> str:
    """The identity of a business of which only this observation is known.

    `domain_is_free` is False for the second branch on one domain: it is known by name and address. A place without an
    address is known by its name and point, one without a point by its source's id: branches never share either.
    """
    if place.place_id:
        return company_identity(place=place.place_id)
    known_as = source_id_of(place) or ""
    if known_as.startswith(DISTINCT_IDS):
        return company_identity(name=place.source, street=known_as, postcode=place.source)
    domain = own_domain(place.website) if domain_is_free else None
    if domain:
        return company_identity(domain=domain)
    name = place.name if normalised(place.name) else f"{place.source} {place.source_id}"
    point = None if place.lat is None or place.lon is None else _point(place.lat, place.lon)
    street = place.street or place.address or ""
    if not normalised(street):
        street = point or f"{place.source} {place.source_id}"
    # "1 Main Street" is in every town.
    return company_identity(name=name, street=street, postcode=place.postcode or place.city or point)


def _point(lat: float, lon: float) -> str:
    """A point to about ten metres, with letters for the signs: normalising drops a minus."""
    north_south = "s" if lat < 0 else "n"
    east_west = "w" if lon < 0 else "e"
    return f"point {north_south}{abs(round(lat * 10_000))} {east_west}{abs(round(lon * 10_000))}"


def source_id_of(place: Place) -> str | None:
    """How this place is called where it was seen, unless that is its place id."""
    if is_place_id(place.source_id):
        return None
    return f"{place.source}:{place.source_id}"[:1024]


def place_to_prospect(
    place: Place, campaign: str, *, company: str | None = None, reason: str | None = None
) -> Prospect:
    """What one observation says of a business. `company` is the hash that a `Matcher` found, `reason` why."""
    company = company or company_hash(place_identity(place))
    network = social_network(place.website)
    known_as = source_id_of(place)
    values: dict[str, Any] = {
        "place_id": place.place_id,
        "slug": slug_of(place.name, company),
        "name": place.name,
        "phone": place.phone or place.phone_e164,
        "phone_e164": place.phone_e164,
        "website": place.website,
        "domain": own_domain(place.website),
        "street": place.street or place.address,
        "city": place.city,
        "region": place.region,
        "postcode": place.postcode,
        "country": place.country,
        **({"lat": place.lat, "lon": place.lon} if place.lat is not None and place.lon is not None else {}),
        "categories": place.category_ids or place.category_labels,
        "rating": place.rating,
        "review_count": place.review_count,
        "hours": place.hours,
        "business_status": place.business_status,
        "socials": {network: place.website} if network else {},
    }
    source = place_source(place)
    origins = _observed(Prospect, values, source, place.observed_at, place.document, reason)
    if is_named_by_site(place):
        origins = _with_name_of(DOMAIN_ITSELF, origins)
    return Prospect(
        company_hash=company,
        campaign=campaign,
        phrases=_one_or_none(place.phrase),
        tiles=_one_or_none(place.tile),
        first_seen=place.observed_at,
        updated_at=place.observed_at,
        sources=(source,),
        source_ids=_one_or_none(known_as),
        origins=origins,
        **values,
    )


def _with_name_of(source: str, origins: tuple[Origin, ...]) -> tuple[Origin, ...]:
    """The same origins, but the name is said by somebody else: whoever counts more replaces it."""
    (origin,) = origins
    return _without(origin, "name"), origin.model_copy(update={"fields": ("name",), "source": source})


def sighted_prospect(place: Place, campaign: str) -> Prospect:
    """What a worker writes of a place that it saw.

    Branches share a domain, and no worker sees them all: each is known by its own name and address until `reconcile`
    looks at all of them.
    """
    company = company_hash(place_identity(place, domain_is_free=False))
    return place_to_prospect(place, campaign, company=company)


def _one_or_none(value: object) -> tuple[str, ...]:
    """A list of what may be known: as a text, or empty."""
    if not value:
        return ()
    return (str(value),)


def website_to_prospect(website: Website, prospect: Prospect) -> Prospect:
    """What a crawl of its website says of a prospect: the same business, only the values that the pages gave.

    What the site calls itself, or its title, is a candidate for the name that loses to every map and to every import:
    it names prospects that had none, or only their domain.
    """
    values: dict[str, Any] = {"name": website.name or website.title or ""}
    if website.status == "alive":
        emails = tuple(found.email for found in website.emails)
        values |= _ways_to_reach(website) | _visitors_facts(website, prospect)
    else:
        emails = ()
    origins = _observed(Prospect, values, WEBSITE, website.crawled_at, website.document, None)
    number = _number_by_country(website, prospect) if "phone" not in values else None
    if number is not None:
        values["phone_e164"], origin = number
        origins = (*origins, origin)
    slug = prospect.origin_of("slug")
    if slug is not None:
        origins = (*origins, slug.model_copy(update={"fields": ("slug",)}))
    return Prospect(
        company_hash=prospect.company_hash,
        slug=prospect.slug,
        campaign=prospect.campaign,
        all_emails=emails,
        first_seen=prospect.first_seen,
        updated_at=website.crawled_at,
        sources=(WEBSITE,),
        origins=origins,
        **values,
    )


def _ways_to_reach(website: Website) -> dict[str, Any]:
    values: dict[str, Any] = {
        "website": website.final_url,
        "domain": website.domain if website.final_url else None,
        "socials": dict(website.socials),
        "primary_email": website.primary_email,
    }
    # One in full, else a national number as it stands there: its country may be told by another source.
    phone = next((phone for phone in website.phones if phone.e164), next(iter(website.phones), None))
    if phone is not None:
        values |= {"phone": phone.raw, "phone_e164": phone.e164}
    return values


def _number_by_country(website: Website, prospect: Prospect) -> tuple[str, Origin] | None:
    """A national number that somebody gave without a country, read by that of the website; it stays theirs."""
    said = prospect.origin_of("phone")
    if said is None or said.source == WEBSITE or not prospect.phone or prospect.phone_e164 or not website.country:
        return None
    from cocli.pipeline.websites.facts.phones.number import listed_e164  # tables of some megabytes

    number = listed_e164(prospect.phone, website.country)
    if number is None:
        return None
    reason = f"the website's country is {website.country}"
    return number, said.model_copy(update={"fields": ("phone_e164",), "reason": reason})


def _visitors_facts(website: Website, prospect: Prospect) -> dict[str, Any]:
    """Whom one meets there, where, and when."""
    values: dict[str, Any] = {
        "hours": tuple(OpenHours(day=open_.day, opens=open_.opens, closes=open_.closes) for open_ in website.hours),
        "people": tuple(
            StaffMember(name=person.name, role=person.role, email=person.email, phone=person.phone)
            for person in website.people[:MAX_STAFF]
        ),
    }
    address = address_for(website, prospect)
    if address is not None:
        values |= address_values(address)
    return values


def website_to_domain(website: Website, company: str | None = None, *, at: datetime | None = None) -> Domain:
    """What a crawl says of the domain. `at` is when it was, where the website's own content is older."""
    crawled_at = at or website.crawled_at
    values: dict[str, Any] = {
        "company_hash": company,
        "status": website.status,
        "scraper_version": website.scraper_version,
    }
    origins = _observed(Domain, values, WEBSITE, crawled_at, website.document, None)
    return Domain(domain=website.domain, last_crawled=crawled_at, origins=origins, **values)


def website_to_emails(website: Website, company: str | None = None) -> list[EmailEntry]:
    """The addresses that a crawl found, one record each."""
    return [
        _email(website, found, company) for found in {email.email: email for email in reversed(website.emails)}.values()
    ]


def _email(website: Website, found: FoundEmail, company: str | None) -> EmailEntry:
    values: dict[str, Any] = {
        "domain": _domain_of(found.email) or website.domain,
        "company_hash": company,
        "source_page": found.page,
        "method": found.method,
        "label": found.label,
        "name": found.name,
        "confidence": found.confidence,
    }
    return EmailEntry(
        email=found.email,
        first_seen=website.crawled_at,
        last_seen=website.crawled_at,
        origins=_observed(EmailEntry, values, WEBSITE, website.crawled_at, website.document, None),
        **values,
    )


def _domain_of(email: str) -> str | None:
    try:
        return registrable_domain(email.rsplit("@", 1)[-1])
    except IdentityError:
        return None  # an address at a bare host: it lies with the website that it was found on


def move_prospect(old: Prospect, company: str, *, reason: str, at: datetime) -> tuple[Prospect, Prospect]:
    """The business is known under a better identity now: the old record, which points there, and what it contributes.

    The old record stays, as evidence; nothing of it is lost to the new one.
    """
    pointer = Origin(fields=("merged_into",), source=MATCHING, observed_at=at, reason=reason)
    kept = tuple(_without(origin, "merged_into") for origin in old.origins)
    pointing = old.with_changes(
        merged_into=company,
        updated_at=max(at, old.updated_at),
        origins=(*(origin for origin in kept if origin.fields), pointer),
    )
    contribution = old.with_changes(
        company_hash=company, merged_into=None, origins=tuple(origin for origin in kept if origin.fields)
    )
    return pointing, contribution


def _without(origin: Origin, field: str) -> Origin:
    return origin.model_copy(update={"fields": tuple(name for name in origin.fields if name != field)})
