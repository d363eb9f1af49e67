"""Coverage as a number: states, sums, estimates, and maps that are harmless to open."""

from __future__ import annotations

import json
import math
import random
import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.keys.tile import Tile
from cocli.pipeline.plan.areas import read_areas
from cocli.pipeline.plan.coverage import Coverage, CoverageState, Passed, Totals, judged, tile_state
from cocli.pipeline.plan.coverage_files import render_geojson, render_kml
from cocli.pipeline.plan.coverage_map import STYLES, render_html, render_svg
from cocli.pipeline.plan.mission import MissionPass, Splits
from cocli.pipeline.plan.recapture import Population, chapman, summed

SINCE = 1_000_000
GOOGLE = "google-maps"


def passed(
    outcome: str | None = "exhausted", read_at: int | None = SINCE, tile: str = "39.8_-89.7", **values: int
) -> Passed:
    given: dict[str, int | None] = {"found": 10, "earlier": None, "again": None, "expected": None}
    if outcome is None:
        given["found"], read_at = None, None
    return Passed(tile, "plumber", GOOGLE, outcome, read_at, **(given | values))


def state(one: Passed, splits: Splits | None = None) -> CoverageState:
    (pair,) = judged([one], splits or Splits(SINCE))
    return pair.state


def test_the_states_of_a_target() -> None:
    assert state(passed()) is CoverageState.READ
    assert state(passed(read_at=SINCE - 1)) is CoverageState.STALE
    assert state(passed("cut_short")) is CoverageState.CUT_SHORT
    assert state(passed("blocked")) is CoverageState.BLOCKED
    assert state(passed(None)) is CoverageState.UNREAD


def test_a_tile_whose_parts_are_all_read_is_read() -> None:
    splits = Splits(SINCE)
    quarters = Tile(39_800, -89_700).split()
    for quarter in quarters[:3]:
        splits.add(str(quarter), "plumber", GOOGLE, MissionPass("exhausted", SINCE, 50))
    assert state(passed("cut_short"), splits) is CoverageState.CUT_SHORT
    splits.add(str(quarters[3]), "plumber", GOOGLE, MissionPass("cut_short", SINCE, 120))
    assert state(passed("cut_short"), splits) is CoverageState.CUT_SHORT
    for part in quarters[3].split():
        splits.add(str(part), "plumber", GOOGLE, MissionPass("exhausted", SINCE, 40))
    (pair,) = judged([passed("cut_short", found=120)], splits)
    assert (pair.state, pair.found) == (CoverageState.READ, 3 * 50 + 4 * 40)
    splits.add(str(part), "plumber", GOOGLE, MissionPass("cut_short", SINCE, 120))
    assert state(passed("cut_short"), splits) is CoverageState.CUT_SHORT, "at the floor, and still not all was shown"


def test_the_sums() -> None:
    coverage = Coverage()
    rows = [passed(expected=12), passed(None, tile="39.9_-89.7"), passed("blocked", tile="40.0_-89.7")]
    rows += [passed(tile="40.1_-89.7", earlier=8, again=6), passed(read_at=5, tile="40.2_-89.7")]
    for pair in judged(rows, Splits(SINCE), {("39.9_-89.7", "plumber"): 3}):
        coverage.add(pair)
    totals = coverage.totals
    assert (totals.pairs, totals.share(CoverageState.READ), totals.found) == (5, 0.4, 30)
    assert (totals.expected, totals.expected_pairs, totals.found_of_expected) == (15, 2, 10)
    assert (totals.oldest, totals.newest) == (5, SINCE)
    population = chapman(8, 10, 6)
    assert totals.population == population
    assert totals.completeness == pytest.approx(0.4 * population.completeness)
    assert Totals().completeness is None
    assert list(coverage.phrases) == ["plumber"]
    assert [tile_state(one) for one in coverage.tiles.values()] == ["read", "unread", "blocked", "read", "stale"]


def test_a_tile_is_called_by_what_asks_for_attention() -> None:
    def of(*states: CoverageState) -> str:
        totals = Totals()
        totals.states.update(states)
        return tile_state(totals)

    assert of(CoverageState.READ, CoverageState.UNREAD) == "partly"
    assert of(CoverageState.READ, CoverageState.STALE) == "stale"
    assert of(CoverageState.READ, CoverageState.CUT_SHORT, CoverageState.UNREAD) == "cut_short"
    assert of(CoverageState.CUT_SHORT, CoverageState.BLOCKED) == "blocked"
    assert {of(one) for one in CoverageState} == {one.value for one in CoverageState}


# --- capture and recapture


def test_chapman_as_in_the_books() -> None:
    """200 marked, 150 caught, 25 of them marked: the textbook's 1,166 or so."""
    found = chapman(200, 150, 25)
    assert found.total == pytest.approx(201 * 151 / 26 - 1)
    assert found.low < found.total < found.high
    assert found.seen == 325


@given(st.integers(0, 500), st.integers(0, 500), st.data())
def test_an_estimate_is_never_below_what_was_seen(first: int, second: int, data: st.DataObject) -> None:
    both = data.draw(st.integers(0, min(first, second)))
    found = chapman(first, second, both)
    assert found.seen <= found.low <= found.total <= found.high
    assert 0 < found.completeness <= 1 or found.seen == 0
    if both == first == second:
        assert found == Population(first, first, first, first)
    with pytest.raises(ValueError, match="cannot be the same"):
        chapman(first, second, min(first, second) + 1)


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    random.seed(7)
    held, estimates = 0, []
    for _ in range(400):
        marks = [(random.random() < 0.6, random.random() < 0.7) for _ in range(150)]
        found = chapman(sum(a for a, _ in marks), sum(b for _, b in marks), sum(a and b for a, b in marks))
        held += found.low <= 150 <= found.high
        estimates.append(found.total)
    assert held / 400 > 0.9
    assert sum(estimates) / 400 == pytest.approx(150, rel=0.02)


def test_several_tiles_together_are_surer_than_each() -> None:
    one = chapman(20, 20, 10)
    both = summed([one, one])
    assert both is not None
    assert both.total == 2 * one.total
    assert both.high - both.total == pytest.approx(math.sqrt(2) * (one.high - one.total))
    assert summed([]) is None


# --- maps


def tiles(*names: str) -> dict[str, Totals]:
    coverage = Coverage()
    outcomes = ["exhausted", "cut_short", "blocked", None]
    for number, name in enumerate(names):
        for pair in judged([passed(outcomes[number % 4], tile=name)], Splits(SINCE)):
            coverage.add(pair)
    return coverage.tiles


HOSTILE = 'x"><script>alert(1)</script>&\x1b[31m]]>'


def test_the_map_is_one_harmless_file() -> None:
    svg = render_svg(HOSTILE, tiles("39.8_-89.7", "39.8_-89.6", "39.9_-89.7", "39.9_-89.6"))
    root = ET.fromstring(svg)
    assert not [element for element in root.iter() if element.tag.endswith("script")]
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")
    page = render_html(HOSTILE, [(HOSTILE, HOSTILE)], tiles("39.8_-89.7"))
    assert "<script" not in page
    assert not re.search(r"(?:src|href)=", page)
    assert "\x1b" not in page


def test_the_states_differ_by_more_than_colour() -> None:
    patterns = [lines for state, (_, lines, _) in STYLES.items() if state not in ("read", "unread")]
    assert all(patterns)
    assert len(set(patterns)) == len(patterns)
    svg = render_svg("x", tiles("39.8_-89.7"))
    for _, _, words in STYLES.values():
        assert words in svg


def rectangles(svg: str) -> list[dict[str, float]]:
    root = ET.fromstring(svg)
    found = [
        one for one in root.iter() if one.tag.endswith("rect") and any(child.tag.endswith("title") for child in one)
    ]
    return [{name: float(one.attrib[name]) for name in ("x", "y", "width", "height")} for one in found]


def test_neighbours_are_drawn_beside_each_other() -> None:
    north_west, south_east = sorted(
        rectangles(render_svg("x", tiles("39.9_-89.7", "39.8_-89.6"))), key=lambda one: one["y"]
    )
    assert north_west["x"] + north_west["width"] == pytest.approx(south_east["x"], abs=0.02)
    assert north_west["y"] + north_west["height"] == pytest.approx(south_east["y"], abs=0.02)
    across = rectangles(render_svg("x", tiles("0.0_179.9", "0.0_-180.0")))
    assert sorted(one["x"] for one in across)[1] == pytest.approx(
        min(one["x"] for one in across) + across[0]["width"], abs=0.02
    )


def test_a_map_of_many_tiles_joins_them() -> None:
    many = {f"{lat / 10:.1f}_{lon / 10:.1f}": Totals() for lat in range(200) for lon in range(100, 210)}
    for totals in many.values():
        totals.states[CoverageState.READ] += 1
    boxes = rectangles(render_svg("x", many))
    assert len(boxes) == 200
    assert "read to the end: 22,000 tiles" in render_svg("x", many)


def test_no_tile_makes_an_empty_map() -> None:
    assert rectangles(render_svg("x", {})) == []


def test_kml_and_geojson_are_read_back_as_the_tiles() -> None:
    shown = tiles("39.8_-89.7", "39.8_-89.6", "-0.1_-180.0")
    features = json.loads(render_geojson(shown))["features"]
    assert [feature["properties"]["state"] for feature in features] == ["read", "cut_short", "blocked"]
    for data in (render_geojson(shown), render_kml(HOSTILE, shown)):
        areas = read_areas(data.encode(), file="coverage")
        assert [area.name for area in areas] == list(shown)
        assert areas[0].polygon.bounds == (-89.7, 39.8, -89.6, 39.9)
