"""What was read before serves every campaign: harvested from the kept captures, by the commands that a person types."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cocli

WEST = ("North Star Plumbing", "Ace Drains", "Joe the Plumber")
EAST = ("Beacon Pipes", "Union Heating")
PLACES = {
    "North Star Plumbing": (38.51, -101.09, {"craft": "plumber", "website": "https://north-star.example"}),
    "Ace Drains": (38.55, -101.05, {"craft": "plumber", "website": "https://ace-drains.example"}),
    "Joe the Plumber": (38.57, -101.03, {"craft": "plumber"}),
    "Beacon Pipes": (38.52, -100.95, {"craft": "plumber", "website": "https://beacon.example"}),
    "Union Heating": (38.53, -100.97, {"craft": "hvac", "website": "https://union.example"}),
}
WEST_TILE, EAST_TILE = "38.55,-101.05,1", "38.55,-100.95,1"


@dataclass
class Desk:
    """A person at a machine whose only source is a small file of OpenStreetMap."""

    cocli: Cocli
    home: Path

    def run(self, *words: str, code: int = 0) -> Any:
        done = self.cocli(*words)
        assert done.code == code, done.err
        return done

    def file(self, release: str, covers: str = "-101.1,38.5,-100.9,38.6", **more: Any) -> None:
        """Add a file with all places, and perhaps more of them, each as latitude, longitude and tags."""
        places = PLACES | {name.replace("_", " "): place for name, place in more.items()}
        features = [
            {
                "type": "Feature",
                "properties": {"@id": f"node/{number}", "name": name, **tags},
                "geometry": {"type": "Point", "coordinates": [lon, lat]},
            }
            for number, (name, (lat, lon, tags)) in enumerate(places.items(), start=1)
        ]
        path = self.home / f"{release}.geojson"
        path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
        claims = ("--as", "openstreetmap", "--release", release, f"--covers={covers}")
        self.run("source", "add", str(path), *claims)

    def campaign(self, name: str, *places: str, query: str = "plumber") -> None:
        located = [word for place in places for word in ("--location", f"Here,{place}")]
        self.run("campaign", "new", name, "--query", query, *located)
        self.run("campaign", "edit", name, "--set", 'prospecting.sources=["openstreetmap"]')
        self.run("campaign", "build-mission-index", name)

    def queue(self, name: str, *words: str) -> Any:
        return self.run("campaign", "queue-mission", name, "--json", *words).json

    def read(self, name: str) -> dict[str, int]:
        """Have the waiting tiles read, as a worker does."""
        ended: dict[str, int] = self.run("worker", "gm-list", "--once", "-c", name, "--json").json["ended"]
        return ended

    def names(self, name: str) -> list[str]:
        """The businesses that a person gets."""
        self.run("campaign", "settle", name)
        path = self.home / "list.csv"
        path.unlink(missing_ok=True)
        self.run("export", name, "--format", "csv", "--out", str(path))
        with path.open(encoding="utf-8-sig", newline="") as file:
            return sorted(row["name"] for row in csv.DictReader(file))

    def witness(self, column: str) -> list[Any]:
        sql = f"select {column} as v from scraped_tiles order by all"
        found = self.run("index", "query", sql, "-c", "first", "--fresh", "--json")
        return [row["v"] for row in found.json["rows"]]

    def means(self, name: str, *rows: str) -> None:
        """Say what phrases mean, in the campaign's own table."""
        table = self.home / "data" / "campaigns" / name / "categories.csv"
        table.write_text("\n".join(["phrase,scheme,category", *rows, ""]))

    def waiting(self, name: str, queue: str = "enrichment") -> list[str]:
        tasks = (self.home / "data" / "campaigns" / name / "queues" / queue / "pending").rglob("task.json")
        return sorted(path.parent.name for path in tasks)


@pytest.fixture
def desk(cocli: Cocli, home: Path) -> Desk:
    return Desk(cocli, home)


@pytest.fixture
def first(desk: Desk) -> Desk:
    """A campaign has read the western tile."""
    desk.file("2026-10-01.0")
    desk.campaign("first", WEST_TILE)
    assert desk.queue("first")["outcomes"] == {"queued": 1}
    assert desk.read("first") == {"completed": 1}
    assert desk.names("first") == sorted(WEST)
    return desk


def test_a_second_campaign_gets_what_the_first_one_read(first: Desk) -> None:
    first.campaign("second", WEST_TILE, EAST_TILE)
    dry = first.queue("second", "--dry-run")
    assert (dry["harvested"], dry["harvest"]["dry_run"], dry["outcomes"]) == (1, True, {"would_queue": 1})
    assert first.names("second") == []
    done = first.queue("second")
    assert (done["harvested"], done["harvest"]["from_files"], done["outcomes"]) == (1, 0, {"queued": 1})
    assert first.names("second") == sorted(WEST)
    assert first.waiting("second") == ["ace-drains.example", "north-star.example"]
    assert first.waiting("second", "gm-list") == ["38.5_-101.0_plumber"]
    again = first.queue("second")
    assert (again["harvested"], again["outcomes"]) == (0, {"already_pending": 1})
    first.read("second")
    assert first.names("second") == sorted([*WEST, "Beacon Pipes"])
    assert first.queue("first")["harvested"] == 0, "nothing was read in its tile since"


def test_a_campaign_that_was_removed_and_made_again_gets_its_businesses_back(first: Desk) -> None:
    first.run("campaign", "rm", "first", "--yes")
    first.campaign("first", WEST_TILE)
    done = first.queue("first")
    assert (done["harvested"], done["outcomes"]) == (1, {})
    assert first.names("first") == sorted(WEST)
    assert first.waiting("first") == ["ace-drains.example", "north-star.example"]


def test_changed_categories_are_read_from_the_file_that_lies_here(first: Desk) -> None:
    first.run("campaign", "edit", "first", "--location", f"There,{EAST_TILE}")
    first.run("campaign", "build-mission-index", "first")
    first.queue("first")
    first.read("first")
    assert first.names("first") == sorted([*WEST, "Beacon Pipes"])
    first.means("first", "plumber,openstreetmap,craft=plumber", "plumber,openstreetmap,craft=hvac")
    done = first.queue("first")
    assert (done["harvested"], done["harvest"]["from_files"], done["outcomes"]) == (2, 2, {})
    assert first.names("first") == sorted(PLACES)
    assert first.queue("first")["harvested"] == 0


def test_two_campaigns_that_mean_different_things_do_not_take_turns(first: Desk) -> None:
    first.campaign("second", WEST_TILE, EAST_TILE)
    first.means("second", "plumber,openstreetmap,craft=hvac")
    assert first.queue("second")["harvest"]["from_files"] == 1
    first.read("second")
    assert first.names("second") == ["Union Heating"]
    for campaign in ("first", "second", "first", "second"):
        assert first.queue(campaign)["harvested"] == 0, campaign
    assert first.names("first") == sorted(WEST)


def test_a_newer_release_is_read_and_the_witness_names_it(first: Desk) -> None:
    assert first.witness("release") == ["2026-10-01.0"]
    first.file("2026-11-01.0", Newcomer_Plumbing=(38.56, -101.01, {"craft": "plumber"}))
    done = first.queue("first")
    assert (done["harvested"], done["harvest"]["from_files"], done["outcomes"]) == (1, 1, {})
    assert first.witness("release") == ["2026-11-01.0"], "the later release replaces the earlier one in its tiles"
    assert first.names("first") == sorted([*WEST, "Newcomer Plumbing"])
    assert first.queue("first")["harvested"] == 0
    first.campaign("second", WEST_TILE)
    done = first.queue("second")
    assert (done["harvested"], done["harvest"]["from_files"]) == (1, 0), "from the capture of the newer release"
    assert first.names("second") == sorted([*WEST, "Newcomer Plumbing"])


def test_a_file_of_another_region_has_nothing_read_again(first: Desk, home: Path) -> None:
    feature = {
        "type": "Feature",
        "properties": {"@id": "node/77", "name": "Far Away", "craft": "plumber"},
        "geometry": {"type": "Point", "coordinates": [8.5, 47.5]},
    }
    (home / "far.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    first.run("source", "add", str(home / "far.geojson"), "--as", "openstreetmap", "--release", "2026-11-09.0")
    assert first.queue("first")["harvested"] == 0


def test_a_phrase_of_the_same_categories_needs_no_request(first: Desk) -> None:
    first.campaign("second", WEST_TILE, query="plumbing service")
    assert first.queue("second")["outcomes"] == {"queued": 1}
    assert first.read("second") == {"completed": 1}
    assert first.names("second") == sorted(WEST)


def test_an_exclusion_takes_a_business_away_and_gives_it_back(desk: Desk) -> None:
    desk.file("2026-10-01.0")
    desk.campaign("first", WEST_TILE)
    desk.run("campaign", "edit", "first", "--set", 'exclude.domains=["ace-drains.example"]')
    desk.queue("first")
    desk.read("first")
    assert desk.names("first") == ["Joe the Plumber", "North Star Plumbing"]
    desk.run("campaign", "edit", "first", "--set", "exclude.domains=[]")
    done = desk.queue("first")
    assert (done["harvested"], done["harvest"]["from_files"], done["outcomes"]) == (1, 0, {})
    assert desk.names("first") == sorted(WEST)
    assert desk.waiting("first") == ["ace-drains.example", "north-star.example"]
    desk.run("campaign", "edit", "first", "--set", 'exclude.names=["Joe the Plumber"]')
    assert desk.queue("first")["harvested"] == 0, "what is excluded is left out by whoever reads"
    assert desk.names("first") == ["Ace Drains", "North Star Plumbing"]


def test_a_changed_parser_reads_the_captures_again(first: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as newer_program:
        newer_program.setattr("cocli.pipeline.sources.open_places.node.PARSER_VERSION", "2")
        done = first.queue("first")
        assert (done["harvested"], done["harvest"]["from_files"], done["outcomes"]) == (1, 0, {})
        assert first.queue("first")["harvested"] == 0
    assert first.queue("first")["harvested"] == 0, "an older program leaves what a newer one read"


def test_a_capture_that_is_not_here_makes_its_tile_a_task_again(first: Desk) -> None:
    first.run("source", "rm", "2026-10-01.0.geojson", "--yes")
    for path in (first.home / "data" / "uploads").rglob("*.pb"):
        path.unlink()
    first.campaign("second", WEST_TILE)
    shown = first.run("campaign", "queue-mission", "second")
    assert "1 tile cannot be harvested, and will be read again" in shown.err
    assert "There is no document 2026-10-01.0/38.5_-101.1/plumber" in shown.err
    done = first.queue("second")
    assert (done["harvested"], done["harvest"]["missing"], done["outcomes"]) == (0, 0, {"already_pending": 1})
    assert done["counts"]["missing"] == 1
    assert first.waiting("second", "gm-list")[0].startswith("38.5_-101.1_plumber~")
    first.file("2026-10-01.0")
    assert first.read("second") == {"completed": 1}
    assert first.names("second") == sorted(WEST)
    assert first.queue("second")["outcomes"] == {}


def test_the_quarters_of_a_tile_are_harvested_with_it(desk: Desk) -> None:
    """The file has the western half of the tile alone, so that the first campaign reads the tile and its quarters."""
    desk.file("2026-10-01.0", covers="-101.1,38.5,-101.05,38.6")
    desk.campaign("first", WEST_TILE)
    desk.queue("first")
    assert desk.read("first") == {"completed": 3, "sidelined": 2}, "nothing is known of the eastern quarters"
    found = desk.names("first")
    desk.campaign("second", WEST_TILE)
    done = desk.queue("second")
    assert (done["harvested"], done["outcomes"]) == (3, {"queued": 2})
    assert desk.names("second") == found
    assert found
    assert desk.waiting("second", "gm-list") == ["38.50_-101.05_plumber", "38.55_-101.05_plumber"]
    assert desk.queue("second")["harvested"] == 0


def test_the_captures_of_another_account_are_not_harvested(first: Desk) -> None:
    first.campaign("second", WEST_TILE)
    first.run("campaign", "edit", "second", "--set", "campaign.account=somebody-else")
    first.run("source", "rm", "2026-10-01.0.geojson", "--yes")
    shown = first.run("campaign", "queue-mission", "second")
    assert "its capture belongs to another account" in shown.err


def test_it_is_said_what_a_phrase_is_looked_for_as_before_anything_is_queued(desk: Desk) -> None:
    desk.file("2026-10-01.0")
    desk.campaign("first", WEST_TILE, query="emergency plumber")
    told = desk.run("campaign", "plan", "first", "--queue").err
    assert '"emergency plumber" is looked for as "plumber".' in told
    desk.read("first")
    assert desk.names("first") == sorted(WEST)
    assert desk.queue("first")["harvested"] == 0
    desk.campaign("second", WEST_TILE, query="zorbing")
    told = desk.run("campaign", "plan", "second", "--queue").err
    assert 'No table of categories knows "zorbing"' in told
    assert 'cocli source categories "zorbing" -c second' in told
    desk.campaign("third", WEST_TILE, query="emergency plumber")
    assert desk.queue("third")["harvest"]["from_files"] == 0, "the capture says what was taken for the phrase"
    assert desk.names("third") == sorted(WEST)
