"""From a campaign to its queue and back to a map: planning as a person does it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cocli.index.cache import MemoryCache
from cocli.index.writer import IndexWriter
from cocli.keys.paths import IndexRef
from cocli.keys.tile import Tile
from cocli.models.completion import Blocked, Ok
from cocli.models.witness import Witness
from cocli.models.work import ListWork
from cocli.pipeline.indexes import open_index
from cocli.queue.leased.queue import LeasedQueue
from cocli.store import open_store

Write = Callable[..., None]


@pytest.fixture
def planned(cocli: Any) -> Any:
    """A campaign of one tile of land: four tiles, two queries."""
    made = cocli(
        "campaign", "new", "plumbers", "--query", "plumber", "--query", "roofer", "--location", "X,39.9,-89.6,1"
    )
    assert made.code == 0, made.err
    assert cocli("campaign", "build-mission-index", "plumbers").code == 0
    return cocli


@pytest.fixture
def witnessed(home: Path) -> Write:
    def write(tile: str, phrase: str = "plumber", *, days: float = 0, **values: Any) -> None:
        index = open_index(open_store(str(home / "data")), IndexRef("scraped-tiles"), MemoryCache())
        given: dict[str, Any] = {"source": "overture", "worker": "pi", "campaign": "plumbers", "count": 10}
        at = datetime.now(UTC) - timedelta(days=days)
        given |= {"outcome": "exhausted", "tile": tile, "phrase": phrase, "read_at": at}
        IndexWriter(index).put(Witness.checked(given | values))

    return write


def queue_of(home: Path) -> LeasedQueue:
    return LeasedQueue(open_store(str(home / "data")), "plumbers", "gm-list", worker="w")


def mission(cocli: Any, *words: str) -> Any:
    result = cocli("campaign", "queue-mission", "plumbers", *words, "--json")
    assert result.code == 0, result.err
    return result.json


BOTH = ("--set", "prospecting.sources+=google-maps")
TILES = ["39.8_-89.6", "39.8_-89.7", "39.9_-89.6", "39.9_-89.7"]


def test_planning_twice_plans_nothing_new(planned: Any) -> None:
    again = planned("campaign", "build-mission-index", "plumbers", "--json").json
    assert (again["tiles"], again["targets"], again["added"], again["already"]) == (4, 8, 0, 8)
    found = planned(
        "index", "query", "select tile, phrase, location from target_tiles order by all", "-c", "plumbers", "--json"
    )
    rows = found.json["rows"]
    assert [row["tile"] for row in rows if row["phrase"] == "roofer"] == TILES
    assert {row["location"] for row in rows} == {"X"}


def test_a_dry_run_counts_and_writes_nothing(cocli: Any, home: Path) -> None:
    cocli("campaign", "new", "plumbers", "--query", "plumber", "--location", "X,39.9,-89.6,1")
    dry = cocli("campaign", "queue-scrapes", "plumbers", "--dry-run", "--json").json
    assert (dry["targets"]["added"], dry["mission"], dry["estimate"]["tasks"]) == (4, None, 4)
    assert not list((home / "data").rglob("LATEST"))
    shown = cocli("campaign", "queue-scrapes", "plumbers", "--dry-run")
    assert "requests to sources" in shown.err
    assert cocli("campaign", "queue-mission", "plumbers").code == 2
    assert cocli("campaign", "queue-scrapes", "plumbers").code == 0
    assert queue_of(home).stats().pending == 4
    after = cocli("campaign", "queue-scrapes", "plumbers", "--dry-run", "--json").json["mission"]
    assert after["outcomes"] == {"already_pending": 4, "would_queue": 0}


def test_what_was_read_is_not_queued_and_asking_twice_queues_once(planned: Any, witnessed: Write, home: Path) -> None:
    for tile in TILES[:2]:
        witnessed(tile)
    assert mission(planned, "--dry-run")["outcomes"] == {"would_queue": 6}
    assert mission(planned, "--limit", "2")["outcomes"] == {"queued": 2}
    assert mission(planned, "--limit", "2")["left"] == 2
    assert mission(planned)["outcomes"] == {"already_pending": 4, "queued": 2}
    assert mission(planned)["outcomes"] == {"already_pending": 6}
    queue = queue_of(home)
    works = []
    while (claim := queue.claim()) is not None:
        works.append(ListWork.model_validate(claim.task.payload))
        queue.ack(claim, Ok())
    assert {(str(work.tile), work.phrase) for work in works} == {
        (tile, phrase) for tile in TILES for phrase in ("plumber", "roofer")
    } - {(tile, "plumber") for tile in TILES[:2]}
    assert {work.sources for work in works} == {("overture",)}
    told = planned("campaign", "queue-mission", "plumbers")
    assert "6 tasks ended, but no record says that the tile was read" in told.err
    assert queue.stats().pending == 0


def test_a_tile_is_read_again_after_its_time_and_for_a_new_source(planned: Any, witnessed: Write, home: Path) -> None:
    planned("campaign", "queue-mission", "plumbers")
    queue = queue_of(home)
    while (claim := queue.claim()) is not None:
        queue.ack(claim, Ok())
    for tile in TILES:
        for phrase in ("plumber", "roofer"):
            witnessed(tile, phrase, days=40)
    assert mission(planned)["outcomes"] == {}
    stale = mission(planned, "--ttl", "30d")
    assert (stale["outcomes"], stale["counts"]["stale"]) == ({"queued": 8}, 8)
    assert mission(planned, "--ttl", "30d")["outcomes"] == {"already_pending": 8}
    claim = queue_of(home).claim()
    assert claim is not None
    assert "~" in claim.task.task_id
    planned("campaign", "edit", "plumbers", *BOTH)
    new = mission(planned)
    assert (new["outcomes"], new["counts"]["unread"]) == ({"queued": 8}, 8)
    assert new["estimate"]["requests"] > 0
    assert planned("campaign", "queue-mission", "plumbers", "--ttl", "soon").code == 2


def test_a_blocked_task_waits_in_the_sideline_and_is_not_queued_twice(
    planned: Any, witnessed: Write, home: Path
) -> None:
    planned("campaign", "queue-mission", "plumbers")
    queue = queue_of(home)
    claim = queue.claim()
    assert claim is not None
    work = ListWork.model_validate(claim.task.payload)
    witnessed(str(work.tile), work.phrase, outcome="blocked", count=0)
    queue.ack(claim, Blocked(reason="limited view"))
    witnessed(str(work.tile), work.phrase, source="foursquare")
    asked = mission(planned)
    assert asked["outcomes"] == {"already_pending": 7}
    assert (asked["counts"]["sidelined"], asked["counts"]["blocked"]) == (1, 1)
    assert "queue recover gm-list" in planned("campaign", "queue-mission", "plumbers").err


def test_a_tile_that_was_cut_short_is_split(planned: Any, witnessed: Write) -> None:
    witnessed(TILES[0], outcome="cut_short", count=120)
    asked = mission(planned)
    assert (asked["counts"]["split"], asked["outcomes"]) == (1, {"queued": 11})
    quarters = Tile(39_800, -89_600).split()
    for quarter in quarters:
        witnessed(str(quarter))
    assert mission(planned)["outcomes"] == {"already_pending": 7}
    shown = planned("campaign", "coverage", "plumbers", "--json").json["totals"]
    assert (shown["read"], shown["unread"], shown["found"]) == (1, 7, 120)


def test_supervisors_continue_a_search_and_begin_none(planned: Any, witnessed: Write) -> None:
    assert planned("campaign", "settle", "plumbers", "--everything", "--json").json["queued"] == 0, "nobody ordered it"
    witnessed(TILES[0], outcome="cut_short", count=120)
    settled = planned("campaign", "settle", "plumbers", "--everything", "--json").json
    assert (settled["queued"], settled["harvested"]) == (4, 0), "the four parts of the tile"
    assert planned("campaign", "settle", "plumbers", "--everything", "--json").json["queued"] == 0
    assert mission(planned)["outcomes"] == {"queued": 7, "already_pending": 4}


def test_targets_that_are_not_wanted_any_more(planned: Any) -> None:
    planned("campaign", "edit", "plumbers", "--set", "prospecting.queries-=roofer")
    built = planned("campaign", "build-mission-index", "plumbers")
    assert "were left in place" in built.err
    pruned = planned("campaign", "build-mission-index", "plumbers", "--prune", "--json").json
    assert (pruned["surplus"], pruned["removed"], pruned["added"]) == (4, 4, 0)
    assert planned("campaign", "build-mission-index", "plumbers", "--json").json["surplus"] == 0


def test_places_by_name(cocli: Any, home: Path) -> None:
    assert cocli("campaign", "new", "plumbers", "--query", "x", "--location", "Springfield, IL").code == 0
    assert cocli("campaign", "edit", "plumbers", "--location", "Decatur, IL,5").code == 0
    shown = cocli("campaign", "show", "plumbers", "--json").json["settings"]["prospecting"]["locations"]
    assert [(place["name"], place["radius_miles"]) for place in shown] == [
        ("Springfield, IL, US", 25.0),
        ("Decatur, IL, US", 5.0),
    ]
    refused = cocli("campaign", "edit", "plumbers", "--location", "Springfield")
    assert refused.code == 2
    assert "Springfield, MO, US" in refused.err
    assert "hint: Name one of them as it is listed" in refused.err


def test_territories_from_files(cocli: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cocli("campaign", "new", "plumbers", "--query", "x")
    assert "no territory" in cocli("campaign", "build-mission-index", "plumbers").err
    cocli("campaign", "edit", "plumbers", "--set", "prospecting.area=area.geojson")
    missing = cocli("campaign", "build-mission-index", "plumbers")
    assert missing.code == 2
    assert "looked for" in missing.err
    ring = [[0, 0], [0.2, 0], [0.2, 0.1], [0, 0.1], [0, 0]]
    area = home / "data" / "campaigns" / "plumbers" / "area.geojson"
    area.write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}))
    assert cocli("campaign", "build-mission-index", "plumbers", "--json").json["tiles"] == 2
    area.write_text(json.dumps({"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]]}))
    crossed = cocli("campaign", "build-mission-index", "plumbers", "--json")
    assert crossed.code == 6 or crossed.error["code"] == "area_refused"
    monkeypatch.chdir(home)
    (home / "places.csv").write_text("name,lat,lon,radius_miles\nA,39.85,-89.65,1\nLos Angeles,-118.2,34.1,5\n")
    cocli(
        "campaign", "edit", "plumbers", "--unset", "prospecting.area", "--set", "prospecting.locations_csv=places.csv"
    )
    assert "places.csv, row 3" in cocli("campaign", "build-mission-index", "plumbers").err
    (home / "places.csv").write_text("name,lat,lon,radius_miles\nA,39.85,-89.65,1\n")
    assert cocli("campaign", "build-mission-index", "plumbers", "--json").json["tiles"] == 1


def test_coverage_in_numbers_and_maps(planned: Any, witnessed: Write, home: Path, write_prospects: Any) -> None:
    planned("campaign", "edit", "plumbers", *BOTH)
    witnessed(TILES[0], earlier=8, again=6, count=10)
    witnessed(TILES[1], days=200)
    witnessed(TILES[2], source="google-maps", outcome="blocked", count=0)
    write_prospects("a.example", "b.example", sources=("google-maps-list", "overture"))
    write_prospects("c.example", sources=("overture",))
    files = {kind: str(home / f"c.{kind}") for kind in ("html", "svg", "kml", "geojson")}
    options = [word for kind, path in files.items() for word in (f"--{kind}", path)]
    shown = planned("campaign", "coverage", "plumbers", *options, "--json").json
    totals = shown["totals"]
    states = {name: totals[name] for name in ("pairs", "read", "stale", "cut_short", "blocked", "unread")}
    assert states == {"pairs": 16, "read": 1, "stale": 1, "cut_short": 0, "blocked": 1, "unread": 13}
    assert totals["recapture"]["seen"] == 12
    assert totals["recapture"]["total"] == pytest.approx(9 * 11 / 7 - 1, abs=0.05)
    assert totals["completeness"] == pytest.approx(1 / 16 * totals["recapture"]["completeness"])
    assert (totals["expected"], totals["found_of_expected"]) == (20, 0), "a source is not measured by itself"
    assert [(overlap["both"], overlap["first_found"]) for overlap in shown["overlaps"]] == [(2, 3)]
    assert shown["written"] == files
    assert len(shown["pairs"]) == 16
    for path in files.values():
        assert Path(path).stat().st_size > 500
    table = planned("campaign", "coverage", "plumbers", "--targets", "--limit", "3", "--query", "plumber")
    assert "read to the end" in table.out
    assert "there are more" in table.err
    assert "39.8_-89.6" in table.out
    assert planned("campaign", "coverage", "plumbers", "--query", "nobody").code == 2
    assert planned("campaign", "coverage", "plumbers", "--svg", str(home / "no" / "x.svg")).code == 2
