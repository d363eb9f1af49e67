"""Time travel: the figures, the map, the list and the file of a moment, beside those of now."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.kit.web import NAME, RunningWeb, company, fill, running_web

from cocli.app.indexes.care import compact_index
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.workspace import Workspace, open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town.campaign import TownHome
from cocli.index.writer import IndexWriter
from cocli.keys.tile import Tile
from cocli.models.record import render_utc
from cocli.models.witness import TargetTile, Witness
from cocli.service.web.access import Role

if TYPE_CHECKING:
    import httpx2

SOURCE = "overture"
NORTH, SOUTH = Tile(39800, -89700), Tile(39700, -89700)


@dataclass(frozen=True)
class PastWeb:
    """A server over a campaign that grew: nothing, then two businesses and a tile that was read, then more of both."""

    running: RunningWeb
    before: datetime
    then: datetime


def packed(workspace: Workspace, index: str, records: list[Any]) -> None:
    """Records, and a version of the index that has them."""
    indexes = campaign_indexes(workspace, NAME)
    writer: Any = IndexWriter(indexes.open(indexes.ref(index)))
    writer.append(records)
    compact_index(indexes, indexes.ref(index))


def read_tile(tile: Tile, at: datetime, found: int) -> Witness:
    return Witness(
        tile=tile, phrase="plumber", source=SOURCE, read_at=at, worker="pi-1", campaign=NAME, outcome="exhausted",
        count=found,
    )  # fmt: skip


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PastWeb]:
    folder = tmp_path_factory.mktemp("past")
    home = TownHome(folder)
    home.data.mkdir(parents=True)
    with open_workspace(home.environ, Flags()) as workspace:
        now = workspace.store.now
        before = now()
        fill(workspace, 2)
        targets = [TargetTile(tile=tile, phrase="plumber", campaign=NAME, planned_at=before) for tile in (NORTH, SOUTH)]
        packed(workspace, "target-tiles", targets)
        packed(workspace, "scraped-tiles", [read_tile(NORTH, before, 2)])
        packed(workspace, "prospects", [])
        then = now()
        packed(workspace, "prospects", [company(3, primary_email=None, all_emails=()), company(4)])
        packed(workspace, "scraped-tiles", [read_tile(SOUTH, now(), 7)])
    with running_web(folder, filled=False) as running:
        yield PastWeb(running, before - timedelta(seconds=1), then)


def asked(caller: httpx2.Client, what: str, moment: datetime | str) -> Any:
    text = moment if isinstance(moment, str) else render_utc(moment)
    return caller.get(f"/api/{NAME}/{what}", params={"as_of": text}).raise_for_status().json()


def figures(document: Any) -> tuple[int, int, int]:
    found = document["report"]["figures"]
    return found["businesses"], found["with_email"], found["searches"]["read"]


def states(document: Any) -> dict[str, str]:
    return {feature["id"]: feature["properties"]["state"] for feature in document["features"]}


def test_figures_of_then_are_those_that_a_report_would_have_said(past: PastWeb) -> None:
    with past.running.caller(Role.VIEWER) as caller:
        then, now = asked(caller, "dashboard", past.then), asked(caller, "dashboard", "2999-01-01")
        report = caller.get(f"/data/{NAME}/dashboard.json").json()["report"]
    assert figures(then) == (2, 2, 1)
    assert then["report"]["at"] == then["at"] == render_utc(past.then)
    assert {point["at"] <= then["at"] for point in then["report"]["trend"]} == {True}
    assert (then["problems"], then["queues"], then["downloads"]) == ([], [], [])
    assert now["report"] == report, "what is yet to come is now"


def test_the_map_of_then_has_what_was_read_by_then(past: PastWeb) -> None:
    with past.running.caller(Role.VIEWER) as caller:
        then = asked(caller, "coverage", past.then)
        now = caller.get(f"/data/{NAME}/coverage.geojson").json()
    assert states(then) == {str(NORTH): "read", str(SOUTH): "unread"}
    assert states(now) == {str(NORTH): "read", str(SOUTH): "read"}
    assert (then["totals"]["found"], now["totals"]["found"]) == (2, 9)
    assert then["at"] == render_utc(past.then)


def test_before_the_beginning_there_was_nothing(past: PastWeb) -> None:
    with past.running.caller(Role.VIEWER) as caller:
        dashboard, coverage = asked(caller, "dashboard", past.before), asked(caller, "coverage", past.before)
        rows = asked(caller, "prospects", past.before)
    assert figures(dashboard) == (0, 0, 0)
    assert (coverage["features"], coverage["totals"]) == ([], None)
    assert (rows["total"], rows["rows"]) == (0, [])


def test_the_list_and_its_file_are_of_then(past: PastWeb) -> None:
    with past.running.caller(Role.VIEWER) as caller:
        rows = asked(caller, "prospects", past.then)["rows"]
        file = caller.get(f"/api/{NAME}/export", params={"format": "csv", "as_of": render_utc(past.then)})
        everything = caller.get(f"/api/{NAME}/prospects").json()
    assert [row["name"] for row in rows] == ["Pipes 1", "Pipes 2"]
    assert [row["name"] for row in csv.DictReader(io.StringIO(file.content.decode("utf-8-sig")))] == [
        "Pipes 1", "Pipes 2",
    ]  # fmt: skip
    assert everything["total"] == 4


@pytest.mark.parametrize("what", ["dashboard", "coverage", "prospects", "export"])
def test_a_time_that_is_none_is_refused(past: PastWeb, what: str) -> None:
    with past.running.caller(Role.VIEWER) as caller:
        answer = caller.get(f"/api/{NAME}/{what}", params={"as_of": "yesterday"})
    assert answer.status_code == 400
    assert "yesterday" in answer.json()["error"]["message"]
