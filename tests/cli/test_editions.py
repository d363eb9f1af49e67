"""A changed parser, from the command line: replayed, compared, promoted, and taken back. On a folder and on S3."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cocli.app.goal.goal import GoalSettings, GoalWatcher, achieve_goal
from cocli.app.why.trace import untraced
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town import build_town, serve_websites
from cocli.demo.town.campaign import CAMPAIGN, TownHome, found_campaign
from cocli.fleet.drain import Drain
from tests.kit import servers
from tests.kit.effort import effort

PARSER = """
from cocli.documents.graph.node import Node
from cocli.pipeline.nodes import pipeline_graph
from cocli.pipeline.sources.place_states import places_in, with_places

BEFORE = pipeline_graph().node("open-places")


def read_loudly(document, context):
    wanted = [place for place in places_in(BEFORE.function(document, context)) if "Dental" not in place.name]
    return with_places(document, context.node, [place.with_changes(name=place.name.upper()) for place in wanted])


def graph():
    return pipeline_graph(Node(BEFORE.name, read_loudly, version="loud-1", keep=True))
"""
KILLED = """
import os, signal, sys
from cocli.app.documents.promotion import PromotionOptions, promote
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags

def say(text):
    if text == "writing emails":
        os.kill(os.getpid(), signal.SIGKILL)

with open_workspace(os.environ, Flags()) as workspace:
    promote(workspace, sys.argv[1], sys.argv[2], PromotionOptions(), say)
"""
COLUMNS = ("phone", "email", "emails", "website", "domain", "street", "city", "categories")


@dataclass
class Town:
    """A campaign that was made live, and the command line in its home."""

    home: TownHome
    modules: Path

    @property
    def environ(self) -> dict[str, str]:
        path = os.pathsep.join((str(self.modules), os.environ.get("PYTHONPATH", "")))
        return {**os.environ, **self.home.environ, "PYTHONPATH": path}

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "cocli", *words]

    def run(self, *words: str, code: int = 0) -> str:
        done = subprocess.run(self.command(*words), env=self.environ, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout if code == 0 else done.stderr

    def json(self, *words: str) -> Any:
        return json.loads(self.run(*words, "-c", CAMPAIGN, "--json"))

    def exported(self, name: str) -> bytes:
        file = self.home.folder / name
        self.run("export", CAMPAIGN, "-o", str(file), "-q")
        return file.read_bytes()

    def contents(self, folder: str) -> dict[str, bytes]:
        with open_workspace(self.environ, Flags()) as workspace:
            store = workspace.store
            return {info.key: store.get(info.key).data for info in store.list(folder)}


@pytest.fixture(params=["folder", "seaweedfs"])
def town(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Town]:
    variables: dict[str, str] = {}
    store = None
    if request.param == "seaweedfs":
        server: servers.S3Server = request.getfixturevalue("seaweedfs")
        store = server.url("cocli-data-test", tmp_path.name)
        variables = servers.credentials_environment()
    home = TownHome(tmp_path / "home", store=store, variables=variables)
    home.folder.mkdir()
    (tmp_path / "loud.py").write_text(PARSER, encoding="utf-8")
    made = build_town(seed=3)
    with serve_websites(made, hang_seconds=0.5) as websites:
        found_campaign(home, made, websites, ["queue.attempts=1"], phrases=["dentist"])
        live = Town(home, tmp_path)
        with open_workspace(live.environ, Flags()) as workspace:
            achieve_goal(workspace, CAMPAIGN, GoalSettings(), Drain(), GoalWatcher())
        asked = len(websites.requests)
        yield live
        assert len(websites.requests) == asked, "nothing is fetched again"


def rows(data: bytes) -> dict[tuple[str, str], dict[str, str]]:
    found = csv.DictReader(data.decode("utf-8-sig").splitlines())
    return {(row["name"].upper(), row["street"]): row for row in found}


@pytest.mark.skipif(effort(1) < 2, reason="takes minutes: make scenarios runs it; the tutorial's test is in the suite")
@pytest.mark.timeout(900)
def test_a_changed_parser_is_tried_promoted_and_taken_back(town: Town) -> None:
    first = town.exported("first.csv")
    pages = town.contents("companies/")
    refused = town.run("documents", "promote", "nothing", "-c", CAMPAIGN, code=2)
    assert "have no state in the edition nothing" in refused
    assert "cocli documents replay --edition nothing" in refused
    live = town.json("documents", "replay")
    assert (live["job"]["done"], live["job"]["failed"], live["without_node"]["count"]) == (0, 0, 0), "live is the graph"
    again = town.json("documents", "replay", "--edition", "again")
    assert again["job"]["done"] == again["job"]["total"]
    same = town.json("documents", "compare", "main", "again")
    assert (same["different"], same["only_left"], same["only_right"]) == (0, 0, 0)
    assert same["prospects"]["same"] == len(rows(first)) > 10
    assert sum(same["prospects"][name] for name in ("changed", "new", "gone")) == 0

    replay_killed(town)
    changed = town.json("documents", "compare", "main", "loud")
    dental = [row for row in rows(first).values() if "Dental" in row["name"]]
    assert changed["prospects"]["gone"] == len(dental) > 0
    assert changed["prospects"]["new"] == 0
    assert [row["field"] for row in changed["prospects"]["fields"]] == ["name"]
    assert {row["field"] for row in changed["places"]["fields"]} == {"name"}
    assert town.exported("untouched.csv") == first

    would = town.json("documents", "promote", "loud", "--dry-run")["changes"]
    assert town.exported("untouched.csv") == first
    killed = [sys.executable, "-c", KILLED, CAMPAIGN, "loud"]
    assert subprocess.run(killed, env=town.environ).returncode == -signal.SIGKILL
    refused = town.run("documents", "promote", "again", "-c", CAMPAIGN, code=2)
    assert "loud is under way" in refused
    done = town.json("documents", "promote", "loud")
    assert done["changes"] == would
    assert done["changes"]["prospects"]["removed"] == len(dental)
    second = rows(town.exported("second.csv"))
    wanted = {key: row for key, row in rows(first).items() if "Dental" not in row["name"]}
    assert second.keys() == wanted.keys()
    for key, row in second.items():
        assert row["name"] == wanted[key]["name"].upper()
        assert {name: row[name] for name in COLUMNS} == {name: wanted[key][name] for name in COLUMNS}
    with open_workspace(town.environ, Flags()) as workspace:
        assert untraced(workspace, CAMPAIGN).count == 0
        assert workspace.campaign(CAMPAIGN).settings.model().documents.edition == "loud"

    back = town.json("documents", "promote", "main")
    assert back["restored"]
    assert town.exported("third.csv") == first
    assert town.contents("companies/") == pages
    forth = town.json("documents", "promote", "loud")
    assert forth["restored"]
    assert rows(town.exported("fourth.csv")) == second


def replay_killed(town: Town) -> None:
    """Killed once some documents are done; then again, to its end."""
    replay = ("documents", "replay", "--edition", "loud", "--graph", "loud:graph", "-c", CAMPAIGN)
    process = subprocess.Popen(town.command(*replay, "--rate", "5", "-q"), env=town.environ)
    try:
        while not any(0 < job["done"] < job["total"] for job in loud_jobs(town)):
            assert process.poll() is None
    finally:
        process.kill()
        process.wait()
    # Without a rate it is another job, which need not wait for the dead one; what is done it skips.
    done = town.json(*replay[:-2])["job"]
    assert 0 < done["skipped"] < done["total"]
    assert done["done"] + done["skipped"] == done["total"]


def loud_jobs(town: Town) -> list[dict[str, Any]]:
    return [job for job in town.json("documents", "jobs")["jobs"] if job["cluster"] == "loud"]
