"""Run, by clicks alone: a list is brought and its file downloaded; an area is drawn and its businesses found."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town import Town as BuiltTown
from cocli.demo.town import build_town, serve_websites
from cocli.demo.town.campaign import TownHome, load_places, write_files
from cocli.service.web.access import Role
from tests.kit.effort import effort
from tests.kit.web import RunningWeb, running_web
from tests.scenarios.conftest import user_file
from tests.web.looking import AXE, live_reader

PATIENCE = 400_000
LIST = b"name,city,phone\nAcme Roofing,Springfield,+1 217 555 0100\nBob's Pipes,Springfield,+1 217 555 0101\n"
in_make_scenarios = pytest.mark.skipif(effort(1) < 2, reason="whole runs of the program: make scenarios runs them")


@dataclass
class Ready:
    """A server on a machine that has the town's open data, and reaches its websites."""

    running: RunningWeb
    town: BuiltTown


@pytest.fixture
def ready(tmp_path: Path) -> Iterator[Ready]:
    town, home = build_town(), TownHome(tmp_path / "home")
    with serve_websites(town, hang_seconds=0.2) as websites:
        files = write_files(home, town, websites)
        (home.folder / "config.toml").write_text(user_file(files), "utf-8")
        with open_workspace(home.environ, Flags()) as workspace:
            load_places(workspace, files)
        with running_web(home.folder, filled=False) as running:
            yield Ready(running, town)


def downloaded(page: Any, path: Path) -> list[dict[str, str]]:
    with page.expect_download(timeout=PATIENCE) as waited:
        page.get_by_role("link", name="Get the file").click(timeout=PATIENCE)
    waited.value.save_as(path)
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@in_make_scenarios
@pytest.mark.timeout(900)
def test_a_list_is_brought_and_its_file_is_downloaded(ready: Ready, browser: Any, tmp_path: Path) -> None:
    reader = live_reader(browser, ready.running, Role.ADMIN, viewport={"width": 1280, "height": 900})
    page = reader.open("?view=run")
    page.get_by_label("Name").fill("leads")
    brought: Any = {"name": "leads.csv", "mimeType": "text/csv", "buffer": LIST}
    page.locator("input[type=file]").set_input_files(brought)
    page.get_by_text("2 rows").wait_for(timeout=PATIENCE)
    page.get_by_role("button", name="Start").click()
    page.get_by_label("What was done").get_by_text("cocli run").wait_for()
    rows = downloaded(page, tmp_path / "leads.csv")
    assert [row["name"] for row in rows] == ["Acme Roofing", "Bob's Pipes"]
    assert (reader.violations() if AXE.is_file() else []) == []
    assert reader.complaints == []


@in_make_scenarios
@pytest.mark.timeout(900)
def test_an_area_is_drawn_and_its_businesses_are_downloaded(ready: Ready, browser: Any, tmp_path: Path) -> None:
    """Corners by clicks on the map, then typed: what is drawn is what is searched."""
    reader = live_reader(browser, ready.running, Role.ADMIN, viewport={"width": 1280, "height": 900})
    page = reader.open("?view=run&map=svg")
    page.get_by_role("button", name="Draw an area on the map").click()
    drawing = page.locator(".svg-map")
    for x, y in ((100, 100), (200, 100), (200, 180)):
        drawing.click(position={"x": x, "y": y})
    page.get_by_text("3 corners drawn").wait_for()
    assert page.locator(".svg-map .shape").count() == 4
    west, south, east, north = ready.town.region.bbox
    corners = f"{south},{west}\n{south},{east}\n{north},{east}\n{north},{west}"
    page.get_by_label("Corners: latitude, longitude, one a line").fill(corners)
    page.get_by_label("Corners: latitude, longitude, one a line").blur()
    page.get_by_text("4 corners drawn").wait_for()
    page.get_by_label("Name").fill("flowers")
    page.get_by_label("Phrases, one a line").fill("florist")
    assert (reader.violations() if AXE.is_file() else []) == []
    page.get_by_role("button", name="Start").click()
    page.get_by_label("What was done").get_by_text("cocli run flowers").wait_for()
    rows = downloaded(page, tmp_path / "flowers.csv")
    assert len(rows) >= 8
    assert any(row["email"] for row in rows)
    page.get_by_role("link", name="flowers").first.click()
    page.get_by_role("heading", level=1, name="Dashboard").wait_for()
    page.get_by_text("with an e-mail address").first.wait_for()
    assert reader.complaints == []
