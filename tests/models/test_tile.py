"""Tiles on integers: every point in exactly one tile, names that come back, no row or column lost at an edge."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.errors import IdentityError
from cocli.keys.tile import Tile

SIZES = st.sampled_from((100, 50, 25))


@pytest.mark.parametrize(
    ("lat", "lon", "name"),
    [
        (33.75, -118.25, "33.7_-118.3"),
        (33.7, -118.3, "33.7_-118.3"),
        (0.3, 0.7, "0.3_0.7"),
        (0.0, -0.0, "0.0_0.0"),
        (-0.04, -0.1, "-0.1_-0.1"),
        (90.0, 180.0, "89.9_-180.0"),
        (-90.0, -180.0, "-90.0_-180.0"),
        (89.95, 179.99, "89.9_179.9"),
    ],
)
def test_the_tile_of_a_point(lat: float, lon: float, name: str) -> None:
    assert str(Tile.containing(lat, lon)) == name


@given(st.floats(-90, 89.9999), st.floats(-180, 179.9999), SIZES)
def test_a_point_lies_in_its_tile(lat: float, lon: float, size: int) -> None:
    tile = Tile.containing(lat, lon, size)
    assert tile.lat - 0.001 <= lat * 1000 < tile.lat + size + 0.001
    assert tile.lon - 0.001 <= lon * 1000 < tile.lon + size + 0.001


@given(st.integers(-900, 899), st.integers(-1800, 1799))
def test_a_corner_belongs_to_its_own_tile(lat: int, lon: int) -> None:
    """Off by one at the north row and the east column, once: the float 0.3 is a little less than 0.3."""
    tile = Tile.containing(lat / 10, lon / 10)
    assert (tile.lat, tile.lon) == (lat * 100, lon * 100)
    assert Tile.parse(tile.lat_name, tile.lon_name) == tile
    assert "-0.0" not in (tile.lat_name, tile.lon_name)


@given(st.integers(-900, 899), st.integers(-1800, 1799))
def test_quarters_cover_a_tile_without_overlap(lat: int, lon: int) -> None:
    tile = Tile(lat * 100, lon * 100)
    quarters = tile.split()
    assert len(set(quarters)) == 4
    assert sum(quarter.size**2 for quarter in quarters) == tile.size**2
    for quarter in quarters:
        assert Tile.parse(quarter.lat_name, quarter.lon_name) == quarter
        assert Tile.containing(*quarter.centre) == tile
        assert len(quarter.split()) == 4


def test_the_centre_is_the_centre() -> None:
    assert Tile(33_700, -118_300).centre == (33.75, -118.25)
    assert Tile(25, 25, 25).centre == (0.0375, 0.0375)


@pytest.mark.parametrize(
    ("lat", "lon", "size"), [(1, 0, 100), (0, 30, 50), (0, 0, 10), (90_000, 0, 100), (0, 180_000, 100)]
)
def test_what_is_no_tile(lat: int, lon: int, size: int) -> None:
    with pytest.raises(IdentityError):
        Tile(lat, lon, size)


def test_the_smallest_tile_is_not_split() -> None:
    with pytest.raises(IdentityError, match="floor"):
        Tile(0, 0, 25).split()


@pytest.mark.parametrize("name", ["33", "33.", "33.7000", "-0.0", "033.7", "1e1", "٣٣.٧", " 33.7"])
def test_names_that_are_no_coordinates(name: str) -> None:
    with pytest.raises(IdentityError):
        Tile.parse(name, "0.0")
