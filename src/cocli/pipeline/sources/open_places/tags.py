"""Tags as OpenStreetMap has them, and AllThePlaces after it: what a business is, where, and how to reach it."""

from __future__ import annotations

from typing import Any

from cocli.pipeline.sources.open_places.kind import Contacts
from cocli.pipeline.sources.open_places.opening_hours import read_opening_hours
from cocli.pipeline.sources.open_places.values import (
    JsonRow,
    country_code,
    joined_address,
    listed,
    text,
    web_address,
    web_addresses,
)

MAIN_KEYS = (
    *("amenity", "shop", "craft", "office", "healthcare", "tourism", "leisure", "club", "industrial", "sport"),
    *("cuisine", "healthcare:speciality", "landuse", "man_made", "aeroway", "historic", "education", "emergency"),
    *("telecom", "railway", "public_transport", "natural", "religion", "trade", "clothes", "military"),
    *("beauty", "microbrewery", "organic", "social_facility"),
)
"""The keys that say what a thing is."""
_LIFECYCLE = ("disused", "abandoned", "was", "demolished", "razed", "closed")
_CLOSED_KEYS = ("amenity", "shop", "craft", "office", "healthcare", "tourism", "leisure")
_NETWORKS = {
    "facebook": "https://www.facebook.com/{}",
    "instagram": "https://www.instagram.com/{}",
    "twitter": "https://twitter.com/{}",
    "linkedin": "https://www.linkedin.com/company/{}",
    "youtube": "https://www.youtube.com/{}",
    "tiktok": "https://www.tiktok.com/@{}",
    "pinterest": "https://www.pinterest.com/{}",
}
_NUMBER_FIRST = frozenset(["US", "CA", "GB", "IE", "AU", "NZ", "FR", "LU", "ZA", "IN", "SG", "HK", "PH", "MT"])
"""Countries that write `1 Main Street`; others write `Hauptstraße 1`."""


def terms_of(tags: JsonRow) -> list[str]:
    """`shop=farm`, one for each value of the keys that matter."""
    return [f"{key}={value}" for key in MAIN_KEYS if key in tags for value in listed(tags[key])]


def tag_values(tags: JsonRow, country: str | None) -> tuple[dict[str, Any], dict[str, str | None]]:
    """The fields of a place, and the attributes that it has no field for. `country` is that of the file."""
    address = _address(tags, country)
    contacts = Contacts(
        phones=_phones(tags),
        websites=web_addresses(_either(tags, "website", "url")),
        emails=_either(tags, "email"),
        socials=_profiles(tags),
        country=address["country"] or country,
    )
    attributes: dict[str, str | None] = dict(contacts.attributes())
    for name in ("brand", "brand:wikidata", "operator", "opening_hours", "branch"):
        attributes[name] = text(tags.get(name))
    values = {
        "category_ids": terms_of(tags),
        "hours": read_opening_hours(text(tags.get("opening_hours"))),
        "business_status": "permanently_closed" if is_gone(tags) else None,
        **contacts.values(),
        **address,
    }
    return values, attributes


def is_gone(tags: JsonRow) -> bool:
    """Mapped as something that was there once, and as nothing that is there now."""
    return bool(former_terms(tags)) and not any(key in tags for key in _CLOSED_KEYS)


def former_terms(tags: JsonRow) -> list[str]:
    """What it was: `disused:shop=farm` → `shop=farm`."""
    parts = [(*key.partition(":"), value) for key, value in tags.items() if ":" in key]
    return [
        f"{key}={item}"
        for prefix, _, key, value in parts
        if prefix in _LIFECYCLE and key in _CLOSED_KEYS
        for item in listed(value)
    ]


def _either(tags: JsonRow, *names: str) -> list[str]:
    return [item for name in names for key in (name, f"contact:{name}") for item in listed(tags.get(key))]


def _phones(tags: JsonRow) -> list[str]:
    return list(dict.fromkeys([*_either(tags, "phone"), *_either(tags, "mobile")]))


def _profiles(tags: JsonRow) -> list[str]:
    found: list[str] = []
    for network, form in _NETWORKS.items():
        for value in _either(tags, network):
            name = value.removeprefix("@")
            plain = "/" not in name and " " not in name and "." not in name
            address = web_address(form.format(name) if plain else value)
            found += [address] if address else []
    return found


def _address(tags: JsonRow, country: str | None) -> dict[str, Any]:
    own = country_code(tags.get("addr:country"))
    parts = {
        "street": _street(tags, own or country),
        "district": text(tags.get("addr:suburb")) or text(tags.get("addr:district")),
        "city": text(tags.get("addr:city")) or text(tags.get("addr:town")) or text(tags.get("addr:village")),
        "postcode": text(tags.get("addr:postcode")),
        "region": text(tags.get("addr:state")) or text(tags.get("addr:province")),
        "country": own,
    }
    return parts | {"address": text(tags.get("addr:full")) or joined_address(parts)}


def _street(tags: JsonRow, country: str | None) -> str | None:
    if whole := text(tags.get("addr:street_address")):
        return whole
    street = text(tags.get("addr:street")) or text(tags.get("addr:place"))
    house = text(tags.get("addr:housenumber"))
    if not street or not house:
        return street
    return f"{house} {street}" if country in _NUMBER_FIRST else f"{street} {house}"
