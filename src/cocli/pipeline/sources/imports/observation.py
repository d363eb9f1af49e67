"""A row as an observation: what a file that a person brought says of one business."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.errors import RecordError
from cocli.keys.identities import normalised
from cocli.models.place import Place
from cocli.pipeline.sources.imports import IMPORT, values
from cocli.pipeline.sources.imports.countries import country_of
from cocli.pipeline.sources.imports.domains import site_name
from cocli.pipeline.websites.facts.phones.phones import to_e164

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from cocli.pipeline.sources.imports.mapping import ColumnMapping
    from cocli.pipeline.sources.imports.rows import ImportRow

_SOCIALS = ("facebook", "instagram", "linkedin")
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
            name = site_name(self._website(said))
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
        socials = {name: said[name] for name in _SOCIALS if name in said}
        return ImportedPlace(row, place, emails, _contact(said), tags, socials)

    def _said(self, row: ImportRow) -> dict[str, str]:
        """Field → text. Of several columns the first that is not blank counts; addresses of mail are taken of all."""
        said: dict[str, str] = {}
        for name, columns in self.columns.items():
            texts = [values.text_of(row.cells.get(column)) for column in columns]
            there = [text for text in texts if text is not None]
            if there:
                said[name] = " ; ".join(there) if name == "email" else there[0]
        if "name" not in said and (person := _full_name(said)):
            said["name"] = person  # who works on their own has no company
        return said

    def _place_values(self, said: dict[str, str]) -> dict[str, Any]:
        country = self._read("country", said, country_of) or self.country
        lat, lon = (
            self._read(name, said, lambda text, most=most: values.coordinate_of(text, most))
            for name, most in (("lat", 90), ("lon", 180))
        )
        located = lat is not None and lon is not None and (lat, lon) != (0.0, 0.0)
        has_parts = any(name in said for name in ("city", "postcode"))
        address = said.get("address")
        rating = self._read("rating", said, values.number_of)
        reviews = self._read("review_count", said, values.count_of)
        phone = said.get("phone")
        return {
            "source": IMPORT,
            "place_id": self._place_id(said),
            "name": said["name"][:_NAME_LENGTH],
            "category_labels": tuple(part.strip() for part in said.get("category", "").split(";") if part.strip()),
            "phone": phone,
            "phone_e164": self._e164(phone, country) if phone else None,
            "website": self._website(said),
            "street": said.get("street") or (address if has_parts else None),
            "address": address,
            "city": said.get("city"),
            "region": said.get("region"),
            "postcode": said.get("postcode"),
            "country": country,
            "lat": lat if located else None,
            "lon": lon if located else None,
            "rating": rating if rating is not None and 0 < rating <= 5 else None,
            "review_count": int(reviews) if reviews is not None and reviews >= 0 else None,
            "observed_at": self.observed_at,
            "document": self.document,
        }

    def _e164(self, phone: str, country: str | None) -> str | None:
        """A number that cannot be read is kept as the text that it is, and counted."""
        found = to_e164(phone, country)
        if found is None and country is None:
            found = to_e164(phone, self.phone_country())
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
        website = said.get("website")
        if website and not values.is_map_address(website):
            return website
        return said.get("domain")


def _full_name(said: Mapping[str, str]) -> str | None:
    return " ".join(said[name] for name in ("first_name", "last_name") if name in said) or None


def _contact(said: Mapping[str, str]) -> str | None:
    """The person that is named beside the company."""
    contact = said.get("contact") or _full_name(said)
    return contact if contact and normalised(contact) != normalised(said["name"]) else None


def _source_id(found: dict[str, Any], said: dict[str, str], emails: tuple[str, ...]) -> str:
    """The same business in the next version of the file has the same id: from who and where it is, not from its row."""
    where = [found["place_id"], found["address"] or found["street"], found["city"], found["postcode"], found["website"]]
    if said["name"] == site_name(found["website"]):
        where[-1] = None  # its name is its address already, however that is written
    elif not any(where) and found["lat"] is None:  # then how it is reached has to tell it from others of its name
        where = [found["phone"], *emails]
    parts = [normalised(said["name"]), *(normalised(part or "") for part in where)]
    parts += [repr(found["lat"]), repr(found["lon"])]
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()[:16]
