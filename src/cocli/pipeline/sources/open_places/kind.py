"""What the sources of open places have in common: a row is found by its facts, and becomes a place.

`Facts` is what a row is found by: where it lies, and what it is. `FileSighting` is what a place says beside the row:
which search, when, from which document. A row that lacks what every place has is an `UnusableRow`.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from cocli.errors import UnusableRow
from cocli.models.place import Place
from cocli.pipeline.sources.open_places.values import (
    NAME_LIMIT,
    JsonRow,
    clean,
    e164,
    email_addresses,
    number,
    profiles,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from cocli.keys.tile import Tile
    from cocli.pipeline.sources.licence import Licence
    from cocli.pipeline.sources.open_places.parquet_rows import ParquetColumns

ROWS_BLOB = "rows"
"""The blob of a capture that holds the rows, one JSON object a line."""
_ID_LIMIT = 500


@dataclass(frozen=True, slots=True)
class Facts:
    """What a row is found by. A row without a name is not looked for, and has None there."""

    id: str
    name: str | None
    lat: float
    lon: float
    terms: tuple[str, ...]
    """Its categories in lower case, in the words of its source."""


@dataclass(frozen=True, slots=True)
class FileSighting:
    """The search in which a row was found."""

    observed_at: datetime
    document: str | None = None
    phrase: str | None = None
    tile: Tile | None = None
    country: str | None = None
    """Of national phone numbers in rows that name no country."""


@dataclass(slots=True)
class Contacts:
    """What a row says of how to reach a business, in the order of the row."""

    phones: Sequence[str] = ()
    websites: Sequence[str] = ()
    emails: object = ()
    socials: Sequence[str] = ()
    country: str | None = None

    def values(self) -> dict[str, Any]:
        """The fields of a place. A number that is valid is taken before one that is not."""
        numbers = [(raw, e164(raw, self.country)) for raw in self.phones[:10]]
        best = next((number for number in numbers if number[1]), numbers[0] if numbers else (None, None))
        return {"phone": best[0], "phone_e164": best[1], "website": next(iter(self.websites), None)}

    def attributes(self) -> dict[str, str]:
        """What a place has no field for."""
        emails = email_addresses(self.emails)
        found = {
            "email": next(iter(emails), None),
            "emails": "; ".join(emails) if len(emails) > 1 else None,
            "phones": "; ".join(self.phones[:10]) if len(self.phones) > 1 else None,
            "websites": " ".join(self.websites[:10]) if len(self.websites) > 1 else None,
        }
        return {name: value for name, value in found.items() if value} | profiles(self.socials)


class Credited(Protocol):
    """What the rows have to know of their source; `cocli.pipeline.sources.source.Source` is one."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def licence(self) -> Licence: ...


@dataclass(frozen=True)
class OpenFileKind(ABC):
    """How the rows of one source are read."""

    source: Credited
    parquet: ClassVar[ParquetColumns | None] = None
    """The columns of its Parquet files; None where it has none."""

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def licence(self) -> Licence:
        return self.source.licence

    @abstractmethod
    def recognises(self, row: JsonRow) -> bool:
        """Whether a row of a JSON file looks like one of this source."""

    @abstractmethod
    def facts(self, row: JsonRow) -> Facts:
        """What a row is found by."""

    @abstractmethod
    def place(self, row: JsonRow, sighting: FileSighting) -> Place:
        """What a row says of a business."""


@dataclass(slots=True)
class Draft:
    """A place on its way: what every source fills in alike."""

    kind: OpenFileKind
    facts: Facts
    sighting: FileSighting
    attributes: dict[str, str | None] = field(default_factory=dict)

    def place(self, values: dict[str, Any]) -> Place:
        """The place; `UnusableRow` where the row has no name, `RecordError` where a value does not fit."""
        if self.facts.name is None:
            raise UnusableRow(row=self.facts.id, reason="it has no name")
        licence = self.kind.licence
        given = {"licence": licence.name, "attribution": licence.attribution} | self.attributes
        seen = self.sighting
        return Place.checked(
            {
                "source": self.kind.name,
                "source_id": self.facts.id,
                "name": self.facts.name,
                "lat": self.facts.lat,
                "lon": self.facts.lon,
                "attributes": {name: value for name, value in given.items() if value},
                "phrase": seen.phrase,
                "tile": seen.tile,
                "observed_at": seen.observed_at,
                "document": seen.document,
                **values,
            }
        )


def checked_facts(
    row: JsonRow, identity: object, name: object, point: tuple[object, object], terms: list[str]
) -> Facts:
    """`point` is (lat, lon). What no place can do without is checked here, in the same way for all sources."""
    lat, lon = number(point[0]), number(point[1])
    if lat is None or lon is None:
        raise UnusableRow(row="?", reason="it has no point on the map")
    if not (-90 <= lat <= 90 and -180 <= lon <= 180):
        raise UnusableRow(row="?", reason=f"latitude {lat:g}, longitude {lon:g} is not on the globe")
    called = clean(name)
    if called and len(called) > NAME_LIMIT:
        raise UnusableRow(row="?", reason=f"its name has {len(called):,} characters")
    if name is not None and not isinstance(name, str):
        raise UnusableRow(row="?", reason="its name is not a text")
    unique = dict.fromkeys(term for given in terms if (term := (clean(given) or "").lower()))
    return Facts(row_id(row, identity), called, lat, lon, tuple(unique))


def row_id(row: JsonRow, identity: object) -> str:
    """The id that the source gave; where there is none, or none that a file can be named by, one of the content."""
    if isinstance(identity, int) and not isinstance(identity, bool):
        identity = str(identity)
    if isinstance(identity, str) and 0 < len(identity) <= _ID_LIMIT and clean(identity) == identity:
        return identity
    content = json.dumps(row, sort_keys=True, separators=(",", ":"))
    return f"row-{hashlib.sha256(content.encode()).hexdigest()[:24]}"


def point_of(geometry: object) -> tuple[object, object]:
    """(lat, lon) of a GeoJSON geometry: of a point itself, of anything else the middle of its bounding box."""
    if not isinstance(geometry, dict):
        return None, None
    coordinates = geometry.get("coordinates")
    if geometry.get("type") == "Point":
        if isinstance(coordinates, list) and len(coordinates) >= 2:
            return coordinates[1], coordinates[0]
        return None, None
    points = list(_points(coordinates, 4))
    if not points or len(points) != len([point for point in points if None not in point]):
        return None, None
    lons, lats = (
        [point[0] for point in points if point[0] is not None],
        [point[1] for point in points if point[1] is not None],
    )
    return (min(lats) + max(lats)) / 2, (min(lons) + max(lons)) / 2


def _points(coordinates: object, depth: int) -> list[tuple[float | None, float | None]]:
    if not isinstance(coordinates, list) or not depth:
        return []
    if len(coordinates) >= 2 and not isinstance(coordinates[0], list):
        return [(number(coordinates[0]), number(coordinates[1]))]
    return [point for inner in coordinates for point in _points(inner, depth - 1)]
