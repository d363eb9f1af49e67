"""OpenStreetMap: Overpass JSON, GeoJSON in the forms of the usual tools, and JSON lines with tags.

GeoJSON is written with `properties.tags` (overpass2geojson), with the tags as properties and `@id` (overpass turbo), or
with `osm_id` and `other_tags` (GDAL). A way or a relation is where its `center` is, or the middle of its outline.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.pipeline.sources.open_places.kind import Draft, Facts, FileSighting, OpenFileKind, checked_facts, point_of
from cocli.pipeline.sources.open_places.tags import MAIN_KEYS, former_terms, tag_values, terms_of
from cocli.pipeline.sources.open_places.values import JsonRow, mapping, number, text

if TYPE_CHECKING:
    from cocli.models.place import Place

_ELEMENT = re.compile(r"(?:https?://www\.openstreetmap\.org/)?(node|way|relation)/([0-9]+)")
_OTHER_TAGS = re.compile(r'"((?:[^"\\]|\\.)*)"=>"((?:[^"\\]|\\.)*)"')


class OpenStreetMapRows(OpenFileKind):
    def recognises(self, row: JsonRow) -> bool:
        values = mapping(row.get("properties")) or row
        if "@spider" in values or "fsq_place_id" in values or isinstance(values.get("names"), dict):
            return False
        marked = isinstance(values.get("tags"), dict) or "other_tags" in values or _element_id(row) is not None
        return (marked or any(key in values for key in MAIN_KEYS)) and _point(row) != (None, None)

    def facts(self, row: JsonRow) -> Facts:
        tags = tags_of(row)
        return checked_facts(row, _element_id(row), tags.get("name"), _point(row), _terms(tags))

    def place(self, row: JsonRow, sighting: FileSighting) -> Place:
        tags = tags_of(row)
        values, attributes = tag_values(tags, sighting.country)
        attributes["updated"] = text(row.get("timestamp")) or text(tags.get("@timestamp"))
        return Draft(self, self.facts(row), sighting, attributes).place(values)


def tags_of(row: JsonRow) -> JsonRow:
    """The tags, wherever the tool that wrote the file has put them."""
    values = mapping(row.get("properties")) or row
    tags = {key: value for key, value in values.items() if isinstance(value, str)}
    if isinstance(values.get("tags"), dict):
        tags |= values["tags"]
    if isinstance(values.get("other_tags"), str):
        tags |= {_unescaped(key): _unescaped(value) for key, value in _OTHER_TAGS.findall(values["other_tags"])}
    return tags


def _unescaped(text_of_tag: str) -> str:
    return re.sub(r"\\(.)", r"\1", text_of_tag)


def _terms(tags: JsonRow) -> list[str]:
    """What it is; of what is gone, what it was: whoever looks for it finds that it is closed."""
    return terms_of(tags) or former_terms(tags)


def _element_id(row: JsonRow) -> str | None:
    values = mapping(row.get("properties")) or row
    for candidate in (values.get("@id"), row.get("id"), values.get("id")):
        if isinstance(candidate, str) and (match := _ELEMENT.fullmatch(candidate)):
            return f"{match[1]}/{match[2]}"
    kind, number_of_it = values.get("type"), values.get("id")
    if kind in ("node", "way", "relation") and isinstance(number_of_it, (int, str)):
        return f"{kind}/{number_of_it}"
    osm = values.get("osm_id") or values.get("osm_way_id")
    return f"osm/{osm}" if isinstance(osm, (int, str)) and osm else None


def _point(row: JsonRow) -> tuple[object, object]:
    if isinstance(row.get("geometry"), dict):
        return point_of(row["geometry"])
    for where in (row, mapping(row.get("center"))):
        if "lat" in where and "lon" in where:
            return where["lat"], where["lon"]
    bounds = mapping(row.get("bounds"))
    edges = [number(bounds.get(name)) for name in ("minlat", "maxlat", "minlon", "maxlon")]
    south, north, west, east = edges
    if south is None or north is None or west is None or east is None:
        return None, None
    return (south + north) / 2, (west + east) / 2
