"""Files of areas: what is read, and what is refused with where it is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cocli.errors import AreaRefused
from cocli.pipeline.plan.areas import read_areas, united
from cocli.pipeline.plan.grid import tiles_of_area
from cocli.pipeline.plan.kml import read_kml

SQUARE = [[-118.3, 33.7], [-118.1, 33.7], [-118.1, 33.9], [-118.3, 33.9], [-118.3, 33.7]]


def geojson(geometry: Any, name: str | None = None) -> bytes:
    feature = {"type": "Feature", "properties": {"name": name}, "geometry": geometry}
    return json.dumps({"type": "FeatureCollection", "features": [feature]}).encode()


def polygon(*rings: Any) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": list(rings)}


def kml(body: str, start: str = '<?xml version="1.0" encoding="UTF-8"?>') -> bytes:
    return f'{start}<kml xmlns="http://www.opengis.net/kml/2.2"><Document>{body}</Document></kml>'.encode()


def placemark(coordinates: str, name: str = "Harbour") -> str:
    ring = f"<LinearRing><coordinates>{coordinates}</coordinates></LinearRing>"
    return f"<Placemark><name>{name}</name><Polygon><outerBoundaryIs>{ring}</outerBoundaryIs></Polygon></Placemark>"


def tiles(data: bytes) -> set[str]:
    return {str(tile) for tile in tiles_of_area(united(read_areas(data, file="area")))}


FOUR = {"33.7_-118.3", "33.7_-118.2", "33.8_-118.3", "33.8_-118.2"}


def test_geojson_and_kml_say_the_same() -> None:
    assert tiles(geojson(polygon(SQUARE))) == FOUR
    assert tiles(json.dumps(polygon(SQUARE)).encode()) == FOUR
    corners = " ".join(f"{lon},{lat},0" for lon, lat in SQUARE)
    assert tiles(kml(f"<Folder>{placemark(corners)}</Folder>")) == FOUR
    named = read_areas(kml(placemark(corners)), file="area")
    assert [area.name for area in named] == ["Harbour"]
    collection = {
        "type": "GeometryCollection",
        "geometries": [polygon(SQUARE), {"type": "Point", "coordinates": [0, 0]}],
    }
    assert tiles(geojson(collection)) == FOUR
    several = {"type": "MultiPolygon", "coordinates": [[SQUARE], [SQUARE]]}
    assert tiles(geojson(several)) == FOUR, "polygons that overlap are no mistake"


def test_a_hole_of_a_polygon() -> None:
    outer = [[0, 0], [0.5, 0], [0.5, 0.5], [0, 0.5], [0, 0]]
    hole = [[0.1, 0.1], [0.4, 0.1], [0.4, 0.4], [0.1, 0.4], [0.1, 0.1]]
    assert len(tiles(geojson(polygon(outer, hole)))) == 16


def test_a_polygon_that_crosses_itself_is_refused_with_where() -> None:
    bow = [[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]
    with pytest.raises(AreaRefused, match=r'feature 1 "Bow": the polygon crosses itself near 0\.5, 0\.5'):
        read_areas(geojson(polygon(bow), "Bow"), file="bow.geojson")


@pytest.mark.parametrize(
    "ring",
    [
        [[179.9, -16], [-179.9, -16], [-179.9, -15.8], [179.9, -15.8], [179.9, -16]],
        [[179.9, -16], [180.1, -16], [180.1, -15.8], [179.9, -15.8], [179.9, -16]],
        [[-180.1, -16], [-179.9, -16], [-179.9, -15.8], [-180.1, -15.8], [-180.1, -16]],
    ],
    ids=["jumping", "beyond 180", "beyond -180"],
)
def test_a_polygon_across_the_date_line(ring: Any) -> None:
    assert tiles(geojson(polygon(ring))) == {"-16.0_179.9", "-16.0_-180.0", "-15.9_179.9", "-15.9_-180.0"}


def test_a_hole_across_the_date_line_stays_in_its_polygon() -> None:
    outer = [[179.5, 0], [-179.5, 0], [-179.5, 1], [179.5, 1], [179.5, 0]]
    hole = [[-179.9, 0.1], [-179.6, 0.1], [-179.6, 0.9], [-179.9, 0.9], [-179.9, 0.1]]
    assert len(tiles(geojson(polygon(outer, hole)))) == 100 - 24


def test_a_ring_around_a_pole_is_closed_over_it() -> None:
    ring = [[lon, 89.8] for lon in range(-180, 180, 30)]
    assert len(tiles(geojson(polygon([*ring, ring[0]])))) == 2 * 3600
    antarctic = [[-180, -90], [-180, -89.9], [0, -89.9], [180, -89.9], [180, -90], [-180, -90]]
    assert len(tiles(geojson(polygon(antarctic)))) == 3600
    all_round = [[-180, 89.8], [180, 89.8], [180, 90], [-180, 90], [-180, 89.8]]
    assert len(tiles(geojson(polygon(all_round)))) == 2 * 3600


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"name,lat,lon\n", "neither GeoJSON nor KML"),
        (b"", "neither"),
        (b"{", "not JSON"),
        (b'{"type": "Topology"}', '"Topology" is no geometry'),
        (b'{"type": "FeatureCollection"}', "without features"),
        (geojson({"type": "Point", "coordinates": [1, 2]}), "no polygon"),
        (geojson(polygon([[0, 0], [1, 1]])), "three are needed"),
        (geojson(polygon([[0, 0], [1, 1], [2, 2], [0, 0]])), "crosses itself|no area|too few"),
        (geojson(polygon([["a", 0], [1, 1], [2, 2], [0, 0]])), "not a longitude and a latitude"),
        (geojson(polygon([[33.7, -118.3], [33.9, -118.3], [33.9, -118.1], [33.7, -118.3]])), "longitude comes first"),
        (geojson(polygon([[999, 1], [1, 1], [2, 2], [999, 1]])), "longitude 999"),
        (geojson(polygon()), "without corners"),
        (b'{"type": "Polygon", "coordinates": [[[NaN, 0], [1, 0], [1, 1], [NaN, 0]]]}', "not a longitude"),
        (b"<html></html>", "not KML: it begins with <html>"),
        (b"<kml>", "not KML"),
        (b"PK\x03\x04", "KMZ"),
        (kml("<Placemark><Polygon/></Placemark>"), "one outer boundary"),
        (kml(placemark("1,2 x,3")), '"x,3" is not'),
        (kml("", start='<!DOCTYPE kml [<!ENTITY a "b">]>'), "not KML"),
    ],
)
def test_what_is_no_area_is_refused_with_the_reason(data: bytes, reason: str) -> None:
    with pytest.raises(AreaRefused, match=reason):
        read_areas(data, file="area")


def test_kml_that_says_utf_8_and_is_not() -> None:
    data = kml(placemark("0,0 1,0 1,1 0,0", "Caf\xe9")).decode().encode("cp1252")
    assert read_areas(data, file="area")[0].name == "Caf\xe9"


def test_kml_with_ampersands_that_nobody_escaped() -> None:
    body = placemark("0,0 1,0 1,1 0,0", "Salt & Pepper &amp; <![CDATA[<b>&c;</b>]]>")
    assert read_areas(kml(body), file="area")[0].name == "Salt & Pepper & <b>&c;</b>"


def test_real_kml_has_what_its_truth_says(captures: Path) -> None:
    folder = captures / "exports"
    for truth in json.loads((folder / "truth.json").read_text("utf-8")):
        if not truth["file"].endswith(".kml"):
            continue
        data = (folder / truth["file"]).read_bytes()
        found = read_kml(data, file=truth["file"])
        assert len(found) == truth["placemarks"]
        assert sum(len(one.points) for one in found) == truth["points"]
        assert sum(len(one.polygons) for one in found) == truth["polygons"]
        assert sum(one.lines for one in found) == truth["linestrings"]
        if truth["polygons"]:
            assert len(read_areas(data, file=truth["file"])) == truth["polygons"]


def test_some_areas_of_a_file_are_chosen_by_what_it_says_of_them() -> None:
    def square(west: float, **properties: Any) -> dict[str, Any]:
        ring = [[west, 10], [west + 0.05, 10], [west + 0.05, 10.05], [west, 10.05], [west, 10]]
        return {"type": "Feature", "properties": properties, "geometry": {"type": "Polygon", "coordinates": [ring]}}

    features = [square(1, ZCTA5CE20="62701"), square(2, ZCTA5CE20="62702", name="Nórth"), square(3, plz=8001)]
    data = json.dumps({"type": "FeatureCollection", "features": features}).encode()

    def chosen(*names: str) -> list[float]:
        return [area.polygon.bounds[0] for area in read_areas(data, file="zips.geojson", chosen=names)]

    assert chosen() == [1, 2, 3]
    assert chosen("62701", "8001") == [1, 3]
    assert chosen("north") == [2]
    with pytest.raises(AreaRefused, match="no area of it is called 99999"):
        chosen("62701", "99999")
