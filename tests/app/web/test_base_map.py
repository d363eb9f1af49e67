"""The base map that the program brings: what is on it, where, and that it is small."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from importlib.resources import files
from typing import Any

from shapely.geometry import Point, shape

from cocli.app.web.basemap.base_map import MapBox, base_map

SPRINGFIELD = MapBox(-89.8, 39.7, -89.5, 39.9)


def drawn(area: MapBox) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    document = json.loads(base_map(area))
    kinds: dict[str, list[Any]] = {}
    for feature in document["features"]:
        kinds.setdefault(feature["properties"]["kind"], []).append(feature)
    return document, kinds


def named(features: list[Any], place: Point) -> list[str]:
    return [found["properties"]["name"] for found in features if shape(found["geometry"]).contains(place)]


def test_around_a_town_of_illinois() -> None:
    document, kinds = drawn(SPRINGFIELD)
    middle = Point(-89.65, 39.8)
    assert named(kinds["country"], middle) == ["United States of America"]
    assert named(kinds["state"], middle) == ["Illinois"]
    assert named(kinds["county"], middle) == ["Sangamon"]
    assert kinds["town"][0]["properties"]["name"] == "Springfield"
    west, south, east, north = document["bbox"]
    for feature in document["features"]:
        left, low, right, high = shape(feature["geometry"]).bounds
        assert west <= left <= right <= east
        assert south <= low <= high <= north
    assert len(gzip.compress(base_map(SPRINGFIELD))) < 30_000


def test_a_coast_has_land_and_sea() -> None:
    _, kinds = drawn(MapBox(8.0, 43.9, 9.4, 44.6))
    assert named(kinds["country"], Point(8.9, 44.55)) == ["Italy"]
    assert named(kinds["country"], Point(8.7, 43.9)) == [], "the Gulf of Genoa"
    assert "county" not in kinds
    assert "Genoa" in [town["properties"]["name"] for town in kinds["town"]]


def test_the_whole_world_is_no_large_file() -> None:
    _, kinds = drawn(MapBox.around([]))
    assert len(kinds["country"]) > 150
    assert named(kinds["country"], Point(134.5, -25.3)) == ["Australia"]
    assert "county" not in kinds
    assert len(gzip.compress(base_map(MapBox.around([])))) < 300_000


def test_what_was_brought_along_is_what_the_list_says() -> None:
    folder = files("cocli.app.web.basemap")
    told = dict(re.findall(r"\| `([\w.-]+\.gz)` .*`([0-9a-f]{64})`", folder.joinpath("VENDORED.md").read_text("utf-8")))
    found = {
        entry.name: hashlib.sha256(entry.read_bytes()).hexdigest()
        for entry in folder.iterdir()
        if entry.name.endswith(".gz")
    }
    assert told == found
    assert sum(len(folder.joinpath(name).read_bytes()) for name in found) < 1_000_000
