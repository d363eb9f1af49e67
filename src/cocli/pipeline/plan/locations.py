"""A table of places (`locations_csv`): name, latitude, longitude, radius in miles. What cannot be meant so is refused
with its row, above all a latitude and a longitude that were swapped."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from pydantic import ValidationError

from cocli.errors import AmbiguousPlace, AreaRefused, UnknownPlace
from cocli.models.campaign import Location
from cocli.models.record import explain
from cocli.pipeline.plan.geography import distance_m, radius_miles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.plan.gazetteer import Gazetteer

_NAMES = {
    "name": ("name", "location", "city", "place", "town", "title"),
    "lat": ("lat", "latitude", "y"),
    "lon": ("lon", "lng", "long", "longitude", "x"),
    "radius_miles": ("radius_miles", "radius", "miles", "radius_mi"),
    "radius_km": ("radius_km", "km", "kilometres", "kilometers"),
}
_NEAR_M, _FAR_M = 80_000.0, 160_000.0
"""50 and 100 miles: how near a place of that name must be, and how far the other way round, to be sure of a swap."""
LARGEST = 64 << 20


def read_locations(data: bytes, *, file: str, gazetteer: Gazetteer) -> list[Location]:
    """The places of a table. The columns go by their headings; others than the four are left alone."""
    if len(data) > LARGEST:
        raise AreaRefused(file=file, part="the file", reason=f"{len(data):,} bytes are more than {LARGEST:,}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AreaRefused(file=file, part=f"byte {error.start}", reason="it is not UTF-8") from error
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
    try:
        columns = _columns(next(rows, []), file)
        found = list(_places(rows, columns, file, gazetteer))
    except csv.Error as error:
        raise AreaRefused(file=file, part=f"row {rows.line_num}", reason=str(error)) from error
    if not found:
        raise AreaRefused(file=file, part="the file", reason="it has no places")
    return found


def _delimiter(text: str) -> str:
    first = text.partition("\n")[0]
    return max(",;\t", key=first.count)


def _columns(header: list[str], file: str) -> dict[str, int]:
    given = [re.sub(r"[\s-]+", "_", cell.strip().lower()) for cell in header]
    columns: dict[str, int] = {}
    for field, names in _NAMES.items():
        at = [index for index, name in enumerate(given) if name in names]
        if len(at) > 1:
            raise AreaRefused(
                file=file, part="row 1", reason=f"two columns may be {field}: {header[at[0]]}, {header[at[1]]}"
            )
        if at:
            columns[field] = at[0]
    if "name" not in columns or ("lat" in columns) != ("lon" in columns):
        shown = ", ".join(header[:10]) or "nothing"
        reason = f"expected the columns name, lat, lon and perhaps radius_miles, found {shown}"
        raise AreaRefused(file=file, part="row 1", reason=reason)
    return columns


def _places(rows: Iterator[list[str]], columns: dict[str, int], file: str, gazetteer: Gazetteer) -> Iterator[Location]:
    for number, row in enumerate(rows, start=2):
        cells = {field: row[at].strip() for field, at in columns.items() if at < len(row)}
        if not any(cell.strip() for cell in row):
            continue
        part = f"row {number}"
        try:
            yield _place(cells, file, part, gazetteer)
        except ValidationError as error:
            raise AreaRefused(file=file, part=part, reason=explain(error)) from error
        except (UnknownPlace, AmbiguousPlace) as error:
            raise AreaRefused(file=file, part=part, reason=error.message) from error


def _place(cells: dict[str, str], file: str, part: str, gazetteer: Gazetteer) -> Location:
    name = cells.get("name", "")
    radius = _radius(cells, file, part)
    if not cells.get("lat") and not cells.get("lon"):
        city = gazetteer.resolve(name)
        return Location(name=name, lat=city.lat, lon=city.lon, **radius)
    lat, lon = (_number(cells.get(field, ""), file, part) for field in ("lat", "lon"))
    if abs(lat) > 90 >= abs(lon):
        reason = f"the latitude {lat:g} is not on the globe; latitude and longitude seem to be swapped"
        raise AreaRefused(file=file, part=part, reason=reason)
    if abs(lon) <= 90 and _is_swapped(name, lat, lon, gazetteer):
        reason = (
            f"{name} is near {lon:g}, {lat:g}, not near {lat:g}, {lon:g}: latitude and longitude seem to be swapped"
        )
        raise AreaRefused(file=file, part=part, reason=reason)
    return Location(name=name, lat=lat, lon=lon, **radius)


def _radius(cells: dict[str, str], file: str, part: str) -> dict[str, float]:
    """In miles, whichever unit the heading or the cell names; nothing where the row says nothing."""
    given = cells.get("radius_miles") or (f"{cells['radius_km']} km" if cells.get("radius_km") else "")
    if not given:
        return {}
    radius = radius_miles(given)
    return {"radius_miles": _number(given, file, part) if radius is None else radius}


def _is_swapped(name: str, lat: float, lon: float, gazetteer: Gazetteer) -> bool:
    """Whether a place of that name is where the two numbers point the other way round, and none where they point."""
    first, *rest = name.split(",")
    cities = gazetteer.called(first, rest)
    as_given = [distance_m(lat, lon, city.lat, city.lon) for city in cities]
    swapped = [distance_m(lon, lat, city.lat, city.lon) for city in cities]
    return bool(cities) and min(swapped) <= _NEAR_M and min(as_given) >= _FAR_M


def _number(text: str, file: str, part: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise AreaRefused(file=file, part=part, reason=f'"{text[:40]}" is not a number') from error
