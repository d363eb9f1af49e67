"""The grid: no gap and no double, whatever the area; the failures of float loops by name."""

from __future__ import annotations

import math

import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.kit.effort import effort

from cocli.errors import UsageError
from cocli.keys.tile import Tile
from cocli.pipeline.plan.geography import distance_m
from cocli.pipeline.plan.grid import EARTH_MILES, tiles_of_area, tiles_of_circle

lats = st.floats(-90, 90)
lons = st.floats(-180, 180)
radii = st.floats(0.5, 60)
MILE_M = 6_371_000 / EARTH_MILES


def point_at(lat: float, lon: float, miles: float, bearing: float) -> tuple[float, float]:
    """Where one arrives after some miles in one direction."""
    phi, angle = math.radians(lat), miles / EARTH_MILES
    sine = math.sin(phi) * math.cos(angle) + math.cos(phi) * math.sin(angle) * math.cos(bearing)
    arrived = math.asin(max(-1.0, min(1.0, sine)))
    east = math.atan2(math.sin(bearing) * math.sin(angle) * math.cos(phi), math.cos(angle) - math.sin(phi) * sine)
    return math.degrees(arrived), (lon + math.degrees(east) + 180) % 360 - 180


@given(lats, lons, radii, st.floats(0, 1), st.floats(0, 2 * math.pi))
@example(39.8, 179.95, 25.0, 0.99, math.pi / 2)
@example(89.99, 10.0, 25.0, 0.99, 1.0)
@example(-90.0, 10.0, 25.0, 0.99, 1.0)
@settings(max_examples=effort(60))
def test_every_point_of_a_circle_is_in_exactly_one_tile(
    lat: float, lon: float, radius: float, part: float, bearing: float
) -> None:
    tiles = tiles_of_circle(lat, lon, radius)
    assert len(tiles) == len(set(tiles))
    # A metre inside: points are rounded to millionths of a degree.
    inside = point_at(lat, lon, max(0.0, radius * part - 0.001), bearing)
    assert Tile.containing(*inside) in tiles


@pytest.mark.parametrize(
    ("lat", "radius"), [(75.0, 400.0), (-75.0, 400.0), (84.0, 500.0), (60.03, 300.0), (0.0, 300.0), (39.8, 958.0)]
)
def test_the_widest_row_is_not_that_of_the_centre(lat: float, radius: float) -> None:
    """Far from the equator a circle is widest poleward of its centre."""
    tiles = set(tiles_of_circle(lat, 10.0, radius))
    for number in range(3600):
        assert Tile.containing(*point_at(lat, 10.0, radius - 0.001, math.radians(number / 10))) in tiles


@given(lats, lons, radii)
@settings(max_examples=effort(15))
def test_no_tile_of_a_circle_lies_outside_of_it(lat: float, lon: float, radius: float) -> None:
    for tile in tiles_of_circle(lat, lon, radius)[:400]:
        assert nearest_m(tile, lat, lon) <= radius * MILE_M + 1


def nearest_m(tile: Tile, lat: float, lon: float) -> float:
    """How far a tile is from a point, found by brute force along its edges (and 0 for a point within)."""
    south, west, size = tile.lat / 1000, tile.lon / 1000, tile.size / 1000
    if south <= lat <= south + size and (lon - west) % 360 <= size:
        return 0.0
    steps = [number / 200 * size for number in range(201)]
    edges = [(south + step, side) for step in steps for side in (west, west + size)]
    edges += [(side, west + step) for step in steps for side in (south, south + size)]
    # Samples of an edge are up to half a step away from the nearest point of it.
    return min(distance_m(lat, lon, *edge) for edge in edges) - math.radians(size / 400) * 6_371_000


def test_grid_off_by_one_at_the_north_row_and_the_east_column() -> None:
    """2025-12-31: a float loop compared sums of 0.1 with the end, and left the last row and column out."""
    tiles = set(tiles_of_area(shapely.box(-118.3, 33.7, -117.8, 34.2)))
    assert tiles == {Tile(lat, lon) for lat in range(33_700, 34_200, 100) for lon in range(-118_300, -117_800, 100)}
    rows = {tile.lat for tile in tiles_of_area(shapely.box(0.0, 0.0, 0.3, 0.3))}
    assert rows == {0, 100, 200}, "0.3 is held as 0.299999…: neither a row too few nor one too many"
    north = max(tile.lat for tile in tiles_of_circle(39.8, -89.65, 25))
    east = max(tile.lon for tile in tiles_of_circle(39.8, -89.65, 25))
    assert Tile.containing(39.8 + 24.99 / 69.1, -89.65).lat == north
    assert Tile.containing(39.8, -89.65 + 24.99 / (69.1 * math.cos(math.radians(39.8)))).lon == east


def test_the_search_is_at_the_centre_and_the_name_is_the_corner() -> None:
    """Defect 3: the task used the south-west corner, so that every search was miles off."""
    (tile,) = tiles_of_area(shapely.box(-118.28, 33.72, -118.22, 33.78))
    assert (str(tile), tile.centre) == ("33.7_-118.3", (33.75, -118.25))


def test_across_the_date_line_and_over_the_poles() -> None:
    around = tiles_of_circle(0.05, 179.99, 10)
    assert {tile.lon for tile in around} >= {179_800, 179_900, -180_000, -179_900}
    assert max(tile.lon for tile in around) == 179_900
    pole = tiles_of_circle(89.95, 0, 10)
    assert {tile.lon for tile in pole if tile.lat == 89_900} == set(range(-180_000, 180_000, 100))
    assert max(tile.lat for tile in pole) == 89_900
    crossing = shapely.box(179.95, -16.05, 180.15, -15.95)
    assert {str(tile) for tile in tiles_of_area(crossing)} == {
        f"{lat}_{lon}" for lat in ("-16.1", "-16.0") for lon in ("179.9", "-180.0", "-179.9")
    }
    assert len(tiles_of_area(shapely.box(-180, -90, 180, -89.9))) == 3600


@given(st.data())
@settings(max_examples=effort(25))
def test_every_point_of_a_polygon_is_in_exactly_one_tile(data: st.DataObject) -> None:
    west, south = data.draw(st.floats(-179, 178)), data.draw(st.floats(-89, 88))
    corner = st.tuples(st.floats(west, west + 0.9), st.floats(south, south + 0.9))
    hull = shapely.MultiPoint(data.draw(st.lists(corner, min_size=3, max_size=8))).convex_hull.buffer(0.01)
    hole = hull.centroid.buffer(0.004)
    area = hull.difference(hole)
    tiles = tiles_of_area(area)
    assert len(tiles) == len(set(tiles))
    expected = {
        tile for tile in around(area) if shapely.set_precision(area, 1e-6).intersection(box_of(tile)).area > 1e-12
    }
    assert expected <= set(tiles)
    assert all(shapely.intersects(area.buffer(1e-5), box_of(tile)) for tile in tiles)
    inside = area.representative_point()
    assert Tile.containing(inside.y, inside.x) in tiles


def box_of(tile: Tile) -> shapely.Geometry:
    west, south, size = tile.lon / 1000, tile.lat / 1000, tile.size / 1000
    return shapely.box(west, south, west + size, south + size)


def around(area: shapely.Geometry) -> list[Tile]:
    west, south, east, north = area.bounds
    rows = range(math.floor(south * 10) - 1, math.ceil(north * 10) + 2)
    columns = range(math.floor(west * 10) - 1, math.ceil(east * 10) + 2)
    return [Tile(row * 100, column * 100) for row in rows if -900 <= row < 900 for column in columns if column < 1800]


@given(lats, st.floats(-179, 179), radii, st.floats(-0.5, 0.5))
@settings(max_examples=effort(15))
def test_tiles_of_overlapping_areas_coincide(lat: float, lon: float, radius: float, shift: float) -> None:
    one, two = set(tiles_of_circle(lat, lon, radius)), set(tiles_of_circle(lat, lon + shift, radius))
    corners = [(tile.lat % 100, tile.lon % 100, tile.size) for tile in one | two]
    assert set(corners) == {(0, 0, 100)}, "one grid for all: tiles are the same or have nothing in common"


def test_a_hole_is_not_planned_and_touching_is_not_meeting() -> None:
    ring = shapely.box(0, 0, 0.5, 0.5).difference(shapely.box(0.1, 0.1, 0.4, 0.4))
    assert len(tiles_of_area(ring)) == 25 - 9
    assert [str(tile) for tile in tiles_of_area(shapely.box(0.1, 0.1, 0.2, 0.2))] == ["0.1_0.1"]
    large = shapely.box(0, 0, 3, 3).difference(shapely.box(1, 1, 2, 2))
    assert len(tiles_of_area(large)) == 900 - 100, "whole blocks are taken and left out as well"
    assert tiles_of_area(shapely.Polygon()) == []


def test_a_circle_needs_a_radius() -> None:
    for miles in (0.0, -1.0, 7000.0, math.nan):
        with pytest.raises(UsageError):
            tiles_of_circle(0, 0, miles)
