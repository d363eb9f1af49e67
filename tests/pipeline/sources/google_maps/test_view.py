"""What the map showed, and whether a search covered its tile."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.keys.tile import Tile
from cocli.pipeline.sources.google_maps.browser.search_url import search_url
from cocli.pipeline.sources.google_maps.browser.view import reach_in_view, seen_box, shown_share

TILE = Tile(38_500, -101_100)
TILES = st.sampled_from([100, 50, 25]).flatmap(
    lambda size: st.builds(
        lambda row, column: Tile(row * size, column * size, size),
        st.integers(-80_000 // size, 80_000 // size - 1),
        st.integers(-180_000 // size, 180_000 // size - 1),
    )
)


@given(TILES)
def test_the_address_that_is_opened_shows_the_whole_tile(tile: Tile) -> None:
    box = seen_box(search_url("https://maps.example", tile, "coffee shop"))
    assert box is not None
    assert shown_share(box, tile) == pytest.approx(1, abs=0.002)
    assert reach_in_view("exhausted", None, box, tile) == ("exhausted", None)


@pytest.mark.parametrize(
    ("moved", "reach"),
    [((0, 0), "exhausted"), ((0.02, 0.02), "exhausted"), ((0.06, 0.06), "cut_short"), ((4.0, 17.0), "blocked")],
)
def test_a_map_that_moved_away_does_not_count(moved: tuple[float, float], reach: str) -> None:
    lat, lon = TILE.centre
    box = seen_box(f"https://maps.example/maps/search/plumber/@{lat + moved[0]:.5f},{lon + moved[1]:.5f},12.7z?hl=en")
    assert reach_in_view("exhausted", None, box, TILE)[0] == reach


@pytest.mark.parametrize(
    "url",
    [
        "https://maps.example/maps/place/X/@38.5,-101.1,17z",
        "https://maps.example/maps/search/plumber",
        "https://maps.example/maps/search/plumber/@38.5,-101.1,5000m",
        "https://maps.example/maps/search/plumber/@938.5,-101.1,12z",
        "https://maps.example/maps/search/plumber/@3.8.5,-101.1,12z",
    ],
)
def test_a_page_that_does_not_say_where_it_stands_is_believed(url: str) -> None:
    assert seen_box(url) is None
    assert reach_in_view("exhausted", None, None, TILE) == ("exhausted", None)
    assert reach_in_view("blocked", "consent", seen_box(url), TILE) == ("blocked", "consent")
