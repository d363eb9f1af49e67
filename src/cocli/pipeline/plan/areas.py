"""Files of areas: GeoJSON and KML become one geometry. A file of another kind is refused, with what it seems to be."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.errors import AreaRefused
from cocli.pipeline.plan.gazetteer import folded_name
from cocli.pipeline.plan.kml import read_kml
from cocli.pipeline.plan.rings import make_polygon, together

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shapely import Geometry, Polygon

    from cocli.pipeline.plan.rings import Ring

LARGEST = 64 << 20
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class NamedArea:
    """A polygon of a file, and what the file calls it."""

    name: str | None
    polygon: Polygon


def read_areas(data: bytes, *, file: str, chosen: Sequence[str] = ()) -> list[NamedArea]:
    """The polygons of a file; `AreaRefused` where there are none, or where one cannot be meant so.

    `chosen` names some of its areas: by name, postcode, or whatever else a property of the feature says.
    """
    if len(data) > LARGEST:
        raise AreaRefused(file=file, part="the file", reason=f"{len(data):,} bytes are more than {LARGEST:,}")
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start == b"{":
        found = list(_of_geojson(data, file, _Choice(chosen)))
    elif start == b"<" or data[:2] == b"PK":
        found = list(_of_kml(data, file, _Choice(chosen)))
    else:
        raise AreaRefused(file=file, part="the file", reason="it is neither GeoJSON nor KML")
    if not found:
        reason = "it has no polygon. Points are no area: put them into a table, as prospecting.locations_csv"
        raise AreaRefused(file=file, part="the file", reason=reason)
    return found


class _Choice:
    """Which areas of a file are meant; all of them where none is named."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = {folded_name(name): name for name in names}
        self._met: set[str] = set()

    def wants(self, *said: object) -> bool:
        """Whether an area is meant that a file says this of."""
        if not self._names:
            return True
        met = {folded_name(str(value)) for value in said if isinstance(value, (str, int))} & self._names.keys()
        self._met |= met
        return bool(met)

    def check(self, file: str) -> None:
        """`AreaRefused` for a name that no area has: a misspelt postcode would silently be left out."""
        lacking = [name for folded, name in self._names.items() if folded not in self._met]
        if lacking:
            shown = ", ".join(lacking[:10])
            raise AreaRefused(file=file, part="the file", reason=f"no area of it is called {shown}")


def united(areas: list[NamedArea]) -> Geometry:
    """All areas as one geometry."""
    return together(area.polygon for area in areas)


def _of_kml(data: bytes, file: str, choice: _Choice) -> Iterator[NamedArea]:
    for number, placemark in enumerate(read_kml(data, file=file), start=1):
        part = f"placemark {number}" + (f' "{placemark.name}"' if placemark.name else "")
        if not choice.wants(placemark.name):
            continue
        for rings in placemark.polygons:
            yield NamedArea(placemark.name, make_polygon(rings, file=file, part=part))
    choice.check(file)


def _of_geojson(data: bytes, file: str, choice: _Choice) -> Iterator[NamedArea]:
    try:
        tree = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise AreaRefused(file=file, part="the file", reason=f"it is not JSON: {error}") from error
    features = tree.get("features") if isinstance(tree, dict) and tree.get("type") == "FeatureCollection" else [tree]
    if not isinstance(features, list):
        raise AreaRefused(file=file, part="the file", reason="a FeatureCollection without features")
    for number, feature in enumerate(features, start=1):
        name = _name_of(feature)
        part = f"feature {number}" + (f' "{name}"' if name else "")
        geometry = (
            feature.get("geometry") if isinstance(feature, dict) and feature.get("type") == "Feature" else feature
        )
        if geometry is not None and choice.wants(*_said_of(feature)):
            yield from (NamedArea(name, polygon) for polygon in _polygons(geometry, file, part, 0))
    choice.check(file)


def _polygons(geometry: Any, file: str, part: str, depth: int) -> Iterator[Polygon]:
    kind = geometry.get("type") if isinstance(geometry, dict) else None
    if kind == "Polygon":
        yield _polygon(geometry.get("coordinates"), file, part)
    elif kind == "MultiPolygon" and isinstance(geometry.get("coordinates"), list):
        for rings in geometry["coordinates"]:
            yield _polygon(rings, file, part)
    elif kind == "GeometryCollection" and isinstance(geometry.get("geometries"), list) and depth < _DEEPEST:
        for member in geometry["geometries"]:
            yield from _polygons(member, file, part, depth + 1)
    elif kind not in ("Point", "MultiPoint", "LineString", "MultiLineString"):  # those have no area
        raise AreaRefused(file=file, part=part, reason=f'"{str(kind)[:40]}" is no geometry of GeoJSON')


def _polygon(rings: Any, file: str, part: str) -> Polygon:
    if not isinstance(rings, list):
        raise AreaRefused(file=file, part=part, reason="the coordinates of a polygon are a list of rings")
    return make_polygon([_ring(ring, file, part) for ring in rings], file=file, part=part)


def _ring(ring: Any, file: str, part: str) -> Ring:
    try:
        corners = [(float(corner[0]), float(corner[1])) for corner in ring]
    except (TypeError, ValueError, LookupError) as error:
        raise AreaRefused(file=file, part=part, reason="a corner is not a longitude and a latitude") from error
    if not all(math.isfinite(number) for corner in corners for number in corner):
        raise AreaRefused(file=file, part=part, reason="a corner is not a longitude and a latitude")
    return corners


def _said_of(feature: Any) -> Iterator[object]:
    """Everything by which a feature may be called."""
    if isinstance(feature, dict):
        yield feature.get("id")
        properties = feature.get("properties")
        yield from properties.values() if isinstance(properties, dict) else ()


def _name_of(feature: Any) -> str | None:
    properties = None
    if isinstance(feature, dict):
        properties = feature.get("properties")
    if not isinstance(properties, dict):
        return None
    named = next((properties[key] for key in ("name", "NAME", "Name", "title") if properties.get(key)), None)
    if named is not None:
        return str(named)[:200]
    return None
