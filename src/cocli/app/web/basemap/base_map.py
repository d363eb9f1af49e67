"""Coasts, borders and towns around a campaign as one GeoJSON file, cut to its area."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from shapely import get_coordinates
from shapely.geometry import box, mapping

from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
from cocli.app.indexes.query import QueryOptions, opened_query
from cocli.app.web.basemap.topology import Topology
from cocli.app.web.data_file import GEOJSON, bytes_file
from cocli.keys.tile import Tile
from cocli.pipeline.plan.gazetteer import Gazetteer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.app.indexes.indexes import Indexes
    from cocli.app.web.data_file import DataFile
    from cocli.app.web.site import DataSite

SCHEMA = "cocli.web-basemap/1"
CREDITS = "Natural Earth; U.S. Census Bureau; GeoNames"
_POINTS = "SELECT min(lat), min(lon), max(lat), max(lon) FROM prospects WHERE lat IS NOT NULL AND lon IS NOT NULL"
_TILES = "SELECT DISTINCT tile FROM target_tiles"
_DEGREES_OF_A_MILE = 1 / 69.0
_LEAST_MARGIN = 0.5
_TOWNS = 80
_DETAIL = 2_000
"""A shape's outline is simplified until a screen of so many points across cannot tell."""
_DIGITS = 4
_WIDE = 25.0
"""Counties are drawn where the area is narrower than so many degrees."""
_US = (-180.0, 17.0, -64.0, 72.0)


@dataclass(frozen=True, slots=True)
class MapBox:
    """A part of the map, in degrees."""

    west: float
    south: float
    east: float
    north: float

    @property
    def width(self) -> float:
        return max(self.east - self.west, self.north - self.south)

    def widened(self) -> MapBox:
        """With as much around it as people need to see where it is."""
        margin = max(_LEAST_MARGIN, self.width / 2)
        return MapBox(
            max(-180.0, self.west - margin),
            max(-85.0, self.south - margin),
            min(180.0, self.east + margin),
            min(85.0, self.north + margin),
        )

    def meets(self, other: tuple[float, float, float, float]) -> bool:
        west, south, east, north = other
        return self.west < east and west < self.east and self.south < north and south < self.north

    @classmethod
    def around(cls, corners: list[tuple[float, float]]) -> MapBox:
        """Around points of latitude and longitude; the world where there is none."""
        if not corners:
            return cls(-180.0, -60.0, 180.0, 80.0)
        lats, lons = [lat for lat, _ in corners], [lon for _, lon in corners]
        return cls(min(lons), min(lats), max(lons), max(lats))


def make_base_map(site: DataSite, name: str) -> DataFile:
    """`{campaign}/basemap.geojson`."""
    area = campaign_area(campaign_indexes(site.workspace, name))
    return bytes_file(f"{name}/basemap.geojson", base_map(area), GEOJSON)


def campaign_area(indexes: Indexes) -> MapBox:
    """Where a campaign looks, and where it found something."""
    corners: list[tuple[float, float]] = []
    for place in needed_campaign(indexes).settings.model().prospecting.locations:
        reach = place.radius_miles * _DEGREES_OF_A_MILE
        corners += [(place.lat - reach, place.lon - reach), (place.lat + reach, place.lon + reach)]
    with opened_query(indexes, _TILES, QueryOptions(fresh=True)) as query:
        for (text,) in query.result().rows():
            lat, _, lon = str(text).partition("_")
            tile = Tile.parse(lat, lon)
            corners += [
                (tile.lat / 1000, tile.lon / 1000),
                ((tile.lat + tile.size) / 1000, (tile.lon + tile.size) / 1000),
            ]
    with opened_query(indexes, _POINTS, QueryOptions(fresh=True)) as query:
        south, west, north, east = next(iter(query.result().rows()))
    if south is not None:
        corners += [(south, west), (north, east)]
    return MapBox.around(corners)


@lru_cache(maxsize=16)
def base_map(area: MapBox) -> bytes:
    """The base of an area: land, borders within it, towns."""
    seen = area.widened()
    features = [*_areas(seen), *_towns(seen)]
    document = {
        "type": "FeatureCollection",
        "schema": SCHEMA,
        "bbox": [seen.west, seen.south, seen.east, seen.north],
        "credits": CREDITS,
        "features": features,
    }
    return json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _areas(seen: MapBox) -> Iterator[dict[str, Any]]:
    yield from _drawn("countries-50m.json.gz", "countries", "country", seen)
    if seen.meets(_US):
        yield from _drawn("us-counties-10m.json.gz", "states", "state", seen)
        if seen.width < _WIDE:
            yield from _drawn("us-counties-10m.json.gz", "counties", "county", seen)


def _drawn(file: str, layer: str, kind: str, seen: MapBox) -> Iterator[dict[str, Any]]:
    frame = box(seen.west, seen.south, seen.east, seen.north)
    for name, shape in _topology(file).shapes(layer, frame):
        cut = shape.intersection(frame).simplify(seen.width / _DETAIL)
        if not cut.is_empty and len(get_coordinates(cut)) > 3:
            yield _feature({"kind": kind, "name": name}, _rounded(mapping(cut)))


def _towns(seen: MapBox) -> Iterator[dict[str, Any]]:
    for city in Gazetteer().within(seen.south, seen.west, seen.north, seen.east)[:_TOWNS]:
        point = {"type": "Point", "coordinates": [round(city.lon, _DIGITS), round(city.lat, _DIGITS)]}
        yield _feature({"kind": "town", "name": city.name, "population": city.population}, point)


def _feature(properties: dict[str, Any], geometry: Any) -> dict[str, Any]:
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value


@cache
def _topology(file: str) -> Topology:
    packed = files("cocli.app.web.basemap").joinpath(file).read_bytes()
    return Topology(json.loads(gzip.decompress(packed)))
