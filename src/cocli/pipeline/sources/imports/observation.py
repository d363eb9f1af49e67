"""A row as an observation: what a file that a person brought says of one business."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.errors import RecordError
from cocli.keys.identities import normalised
from cocli.models.place import Place
from cocli.pipeline.sources.google_maps.parser.links import read_place_link
from cocli.pipeline.sources.imports import IMPORT, values
from cocli.pipeline.sources.imports.countries import country_of
from cocli.pipeline.sources.imports.domains import site_name
from cocli.pipeline.sources.imports.reading.addresses import split_address
from cocli.pipeline.sources.imports.reading.opening import is_yes, status_of
from cocli.pipeline.sources.imports.reading.points import checked_point, point_of
from cocli.pipeline.sources.imports.reading.stars import stars_of
from cocli.pipeline.sources.open_places.opening_hours import read_opening_hours
from cocli.pipeline.websites.facts.phones.number import listed_e164
from cocli.pipeline.websites.hosts.shared import social_network

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from cocli.pipeline.sources.imports.mapping import ColumnMapping
    from cocli.pipeline.sources.imports.rows import ImportRow

_SOCIALS = ("facebook", "instagram", "linkedin", "x", "youtube", "tiktok", "pinterest")
_ADDRESS = ("street", "city", "region", "postcode")
_NUMBER_FIRST = frozenset(["US", "CA", "GB", "IE", "AU", "NZ", "FR", "LU", "ZA", "IN", "SG", "HK", "PH", "MT"])
"""Countries that write `1 Main Street`; others write `Hauptstraße 1`."""
_DIGITS = re.compile(r"\+?[\d(][\d\s()./-]{5,25}\d")
"""A number with words beside it: `0412 … (Jo)`."""
_SEVERAL = re.compile(r"\s*(?:[;|\n]|,\s*(?=[+(0])|:::|\s/\s)\s*")
_NAME_LENGTH = 500


@dataclass(frozen=True, slots=True)
class ImportedPlace:
    """A place, and what a file knows of a business that a place has no room for."""

    row: ImportRow
    place: Place
    emails: tuple[str, ...] = ()
    contact: str | None = None
    tags: tuple[str, ...] = ()
    socials: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Observer:
    """Makes observations of the rows of one file, and counts the values that it could not read."""

    mapping: ColumnMapping
    observed_at: datetime
    document: str | None = None
    country: str | None = None
    """Of rows that name none: national phone numbers are read as numbers of this country."""
    phone_country: Callable[[], str | None] = lambda: None
    """… and where that is not said either: asked when the first number needs it."""
    unread: Counter[str] = field(default_factory=Counter)
    columns: Mapping[str, tuple[str, ...]] = field(init=False)
    """Field → its columns, put together once and not for each row."""

    def __post_init__(self) -> None:
        self.columns = {name: self.mapping.columns_of(name) for name in self.mapping.fields}

    def observe(self, row: ImportRow) -> ImportedPlace | str:
        """The observation, or why there is none."""
        said = self._said(row)
        if not any(character.isalnum() for character in said.get("name", "")):
            name = site_name(self._website(said)) or _linked_name(said)
            if name is None:
                return "it has no name"
            said["name"] = name
        emails = values.emails_of(said["email"]) if "email" in said else ()
        if "email" in said and not emails:
            self.unread["email"] += 1
        tags = values.tags_of(said.get("tags", ""))
        found = self._place_values(said)
        try:
            place = Place.checked({**found, "source_id": _source_id(found, said, emails)})
        except RecordError as error:
            return error.message
        return ImportedPlace(row, place, emails, _contact(said), tags, _profiles(said))

    def _said(self, row: ImportRow) -> dict[str, str]:
        """Field → text. Of several columns the first that is not blank counts; of e-mail and categories all do."""
        said: dict[str, str] = {}
        for name, columns in self.columns.items():
            texts = [values.text_of(row.cells.get(column)) for column in columns]
            there = [text for text in texts if text is not None]
            if there:
                said[name] = " ; ".join(there) if name in ("email", "category") else there[0]
                if name in ("map_url", "place_id") and len(there) > 1:
                    said[name] = "\n".join(there)
        if "name" not in said and (person := _full_name(said)):
            said["name"] = person  # who works on their own has no company
        return said

    def _place_values(self, said: dict[str, str]) -> dict[str, Any]:
        country = self._read("country", said, country_of) or self.country
        address = said.get("address")
        parts = self._address(said, country)
        country = country or parts.pop("country", None)
        point = self._point(said)
        rating, reviews = self._stars(said)
        phone = said.get("phone")
        return {
            "source": IMPORT,
            **self._ids(said),
            "name": said["name"][:_NAME_LENGTH],
            "category_labels": _categories(said),
            "phone": phone,
            "phone_e164": self._e164(phone, country) if phone else None,
            "website": self._website(said),
            **{name: parts.get(name) for name in _ADDRESS},
            "district": said.get("district"),
            "plus_code": said.get("plus_code") or parts.get("plus_code"),
            "address": address,
            "country": country,
            "lat": point and point[0],
            "lon": point and point[1],
            "rating": rating if rating is not None and 0 < rating <= 5 else None,
            "review_count": int(reviews) if reviews is not None and reviews >= 0 else None,
            "hours": read_opening_hours(said.get("hours")),
            "business_status": _status(said),
            "observed_at": self.observed_at,
            "document": self.document,
        }

    def _address(self, said: dict[str, str], country: str | None) -> dict[str, str]:
        """The parts of the address: their own columns first; a whole address in one column is taken apart."""
        address = said.get("address")
        parts = {name: said[name] for name in _ADDRESS if name in said}
        if address:
            split = split_address(address, country)
            if parts.keys() & {"city", "postcode"} and "street" not in parts:
                split["street"] = _before_town(address, split, parts)
            parts = split | parts
        number, street = said.get("house_number"), parts.get("street")
        if number and street and number not in street.split():
            parts["street"] = f"{number} {street}" if country in _NUMBER_FIRST else f"{street} {number}"
        return parts

    def _point(self, said: dict[str, str]) -> tuple[float, float] | None:
        lat, lon = (
            self._read(name, said, lambda text, most=most: values.coordinate_of(text, most))
            for name, most in (("lat", 90), ("lon", 180))
        )
        if lat is not None and lon is not None:
            return checked_point(lat, lon)
        if point := self._read("point", said, point_of):
            return tuple(point)
        linked = [text for name in ("map_url", "website") if values.is_map_address(text := said.get(name, ""))]
        return next((point for text in linked if (point := point_of(text))), None)

    def _stars(self, said: dict[str, str]) -> tuple[float | None, float | None]:
        """Some programs write both into one cell."""
        both = next((found for name in ("rating", "review_count") if (found := stars_of(said.get(name, "")))), None)
        if both is None:
            return self._read("rating", said, values.number_of), self._read("review_count", said, values.count_of)
        own = said.get("review_count", "")
        return both.rating, values.count_of(own) if own and not stars_of(own) else both.count

    def _ids(self, said: dict[str, str]) -> dict[str, str | None]:
        place = self._place_id(said)
        texts = [said[name] for name in ("cid", "map_url", "place_id", "website") if name in said]
        cid = None if place else next((found for text in texts if (found := values.cid_of(text))), None)
        return {"place_id": place, "cid": cid}

    def _e164(self, phone: str, country: str | None) -> str | None:
        """Of several the first that can be read. What cannot be read is kept as the text that it is, and counted."""
        several = [phone, *(part for part in _SEVERAL.split(phone) if part != phone), *_DIGITS.findall(phone)]
        found = next((number for part in several if (number := listed_e164(part, country))), None)
        if found is None and country is None:
            region = self.phone_country()
            found = next((number for part in several if (number := listed_e164(part, region))), None)
        if found is None:
            self.unread["phone"] += 1
        return found

    def _read(self, name: str, said: dict[str, str], reader: Any) -> Any:
        if name not in said:
            return None
        value = reader(said[name])
        if value is None:
            self.unread[name] += 1
        return value

    def _place_id(self, said: dict[str, str]) -> str | None:
        for name in ("place_id", "map_url", "website"):
            if name in said and (found := values.place_id_of(said[name])):
                return found
        return None

    def _website(self, said: dict[str, str]) -> str | None:
        website = values.first_site_of(said.get("website", ""))
        return website or said.get("domain")


def _categories(said: Mapping[str, str]) -> tuple[str, ...]:
    """What kind of business it is; a map's `shop=yes` says nothing of it."""
    return tuple(label for label in values.listed_of(said.get("category", "")) if is_yes(label) is None)


def _before_town(address: str, split: Mapping[str, str], parts: Mapping[str, str]) -> str:
    """The street of an address beside which the town or the postcode has a column: what stands before that town."""
    town = parts.get("city", "")
    if split.get("street") and (not town or town.casefold() in split.get("city", "").casefold()):
        return split["street"]
    head, found, _ = address.partition(f", {town}")
    return head if town and found else address


def _linked_name(said: Mapping[str, str]) -> str | None:
    """A link of a map says what its place is called."""
    return read_place_link(said["map_url"]).name if "map_url" in said else None


def _profiles(said: Mapping[str, str]) -> dict[str, str]:
    """Network → profile: of the columns that are called so, then of one that holds them all."""
    found = {name: said[name] for name in _SOCIALS if name in said}
    for address in values.addresses_in(said.get("profiles", "")):
        if network := social_network(address):
            found.setdefault(network, address)
    return found


def _status(said: Mapping[str, str]) -> str | None:
    """Closed is closed, whichever column says so."""
    if is_yes(said.get("permanently_closed", "")) or is_yes(said.get("is_open", "")) is False:
        return "permanently_closed"
    status = status_of(said.get("business_status", ""))
    if is_yes(said.get("temporarily_closed", "")) and status != "permanently_closed":
        return "temporarily_closed"
    return status or status_of(said.get("permanently_closed", ""), of_the_business=False)


def _full_name(said: Mapping[str, str]) -> str | None:
    return " ".join(said[name] for name in ("first_name", "last_name") if name in said) or None


def _contact(said: Mapping[str, str]) -> str | None:
    """The person that is named beside the company."""
    contact = said.get("contact") or _full_name(said)
    return contact if contact and normalised(contact) != normalised(said["name"]) else None


def _source_id(found: dict[str, Any], said: dict[str, str], emails: tuple[str, ...]) -> str:
    """The same business in the next version of the file has the same id: from who and where it is, not from its row."""
    where = [found["place_id"], found["address"] or found["street"], said.get("city"), said.get("postcode")]
    where.append(found["website"])
    if said["name"] == site_name(found["website"]):
        where[-1] = None  # its name is its address already, however that is written
    elif not any(where) and found["lat"] is None:  # then how it is reached has to tell it from others of its name
        where = [found["phone"], *emails]
    parts = [normalised(said["name"]), *(normalised(part or "") for part in where)]
    parts += [repr(found["lat"]), repr(found["lon"])]
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()[:16]
