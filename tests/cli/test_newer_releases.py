"""A newer release of what was loaded is looked for, loaded and read by a refresh: once over all machines."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from cocli.app.campaigns.harvest import HarvestOptions, harvest_campaign
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.ports import free_ports
from tests.cli.conftest import Cocli
from tests.kit.range_server import range_server

FIRST, SECOND, THIRD = "2026-01-21.0", "2026-02-18.0", "2026-03-18.0"
BOX = "5.1,52,5.2,52.1"
CAMPAIGN = "farms"


def publish(bucket: Path, release: str, *names: str) -> None:
    """A release of Overture with these businesses, as its bucket has it."""
    folder = bucket / "release" / release / "theme=places" / "type=place"
    folder.mkdir(parents=True)
    rows = ", ".join(f"('{name}')" for name in names)
    with duckdb.connect(":memory:") as connection:
        connection.execute(
            "COPY (SELECT 'id-' || name AS id, {'primary': 'Farm ' || name} AS names,"
            " {'primary': 'farm', 'alternate': NULL::VARCHAR[]} AS categories,"
            ' ST_GeomFromGeoJSON(\'{"type":"Point","coordinates":[5.15,52.05]}\') AS geometry,'
            " {'xmin': 5.15::FLOAT, 'xmax': 5.15::FLOAT, 'ymin': 52.05::FLOAT, 'ymax': 52.05::FLOAT} AS bbox"
            f" FROM (VALUES {rows}) AS t(name)) TO '{folder}/part.parquet' (FORMAT parquet)"
        )


@dataclass
class Desk:
    """A person whose campaign has read the first release, loaded from a folder."""

    cocli: Cocli
    home: Path
    bucket: Path

    def run(self, *words: str) -> Any:
        done = self.cocli(*words, "--json")
        assert done.code == 0, done.err
        return done.json

    def refresh(self, *words: str) -> Any:
        return self.run("campaign", "refresh", CAMPAIGN, *words)

    def releases(self) -> list[str]:
        return [file["release"] for file in self.run("source", "ls")["files"]]

    def found(self) -> list[tuple[str, str]]:
        told = self.run("campaign", "changes", CAMPAIGN)
        return sorted((change["kind"], change["name"]) for change in told["changes"])

    def let_a_day_pass(self) -> None:
        """As if the answer of today were of yesterday: it is not kept any more."""
        (asked,) = self.home.rglob("newest.json")
        asked.unlink()

    def tasks(self, state: str) -> list[str]:
        folder = self.home / "data" / "campaigns" / CAMPAIGN / "queues" / "releases" / state
        return [str(path) for path in folder.rglob("*.json")]


@pytest.fixture
def desk(cocli: Cocli, home: Path) -> Desk:
    made = Desk(cocli, home, home / "bucket")
    publish(made.bucket, FIRST, "one", "two")
    made.run("campaign", "new", CAMPAIGN, "--query", "farm", "--location", "Utrecht,52.05,5.15,2")
    made.run("campaign", "edit", CAMPAIGN, "--set", 'prospecting.sources=["overture"]', "--set", "refresh.every=30d")
    made.run("source", "fetch", "overture", "-c", CAMPAIGN, "--from", str(made.bucket))
    made.run("campaign", "build-mission-index", CAMPAIGN)
    made.run("campaign", "queue-mission", CAMPAIGN)
    assert made.run("worker", "gm-list", "--once", "-c", CAMPAIGN)["ended"]["completed"] >= 1
    assert made.refresh()["changes"] == 0
    return made


def test_a_newer_release_is_loaded_and_read_and_the_earlier_one_goes(desk: Desk) -> None:
    assert desk.refresh("--now")["files"] == {"due": 0, "read": 0, "loaded": []}, "there is none"
    publish(desk.bucket, SECOND, "two", "three")
    planned = desk.refresh("--dry-run", "--now")
    due = {"queue": "releases", "reason": "newer release", "tasks": 1, "requests": 0}
    assert (planned["due"], desk.releases()) == ([due], [FIRST])
    done = desk.refresh("--now")
    assert (done["files"]["loaded"], done["files"]["read"] >= 1) == ([f"overture {SECOND}"], True)
    assert desk.releases() == [SECOND]
    assert desk.found() == [("missing", "Farm one"), ("new", "Farm three")]
    again = desk.refresh("--now")
    assert (again["files"]["loaded"], again["due"]) == ([], [])
    publish(desk.bucket, THIRD, "three")
    desk.let_a_day_pass()
    words = [sys.executable, "-m", "cocli", "campaign", "settle", CAMPAIGN, "--step", "refresh", "--json", "--quiet"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as step:  # it ends with its pipe
        assert step.wait(timeout=120) == 0
    assert desk.releases() == [THIRD], "supervisors do the same"


def test_it_is_asked_for_once_a_day_and_never_where_nobody_wants_it(desk: Desk) -> None:
    publish(desk.bucket, SECOND, "two")
    assert desk.refresh()["files"]["loaded"] == [], "the answer of today is kept"
    desk.let_a_day_pass()
    desk.run("campaign", "edit", CAMPAIGN, "--set", "refresh.fetch=never")
    said = desk.refresh("--now")
    assert (said["files"]["loaded"], desk.releases()) == ([], [FIRST])
    assert f"cocli source fetch overture -c {CAMPAIGN}" in desk.refresh()["notes"][0]
    desk.run("campaign", "edit", CAMPAIGN, "--set", "refresh.fetch=loaded", "--set", "refresh.budget=0")
    assert desk.refresh("--now")["files"]["loaded"] == [], "a budget of nothing allows no look"
    desk.run("campaign", "edit", CAMPAIGN, "--set", "refresh.budget=1")
    assert desk.refresh()["files"]["loaded"] == [f"overture {SECOND}"]


def test_what_another_machine_has_read_is_not_loaded_here(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(desk.bucket, SECOND, "two", "three")
    own = desk.home / "other-state"
    monkeypatch.setenv("COCLI_STATE_HOME", str(own))
    desk.run("source", "fetch", "overture", "-c", CAMPAIGN, "--from", str(desk.bucket))
    assert desk.refresh()["files"]["read"] >= 1
    monkeypatch.delenv("COCLI_STATE_HOME")
    assert desk.releases() == [FIRST]
    assert desk.refresh("--now")["due"] == []


def test_a_network_that_is_not_there_stops_nothing(desk: Desk) -> None:
    """The list of releases is asked for at a real server, then at nobody's."""
    (about,) = desk.home.rglob("source.json")
    mirror = desk.home / "mirror"
    mirror.mkdir()
    (mirror / "catalog.json").write_text(json.dumps({"latest": FIRST}))

    def loaded_from(base: str) -> None:
        told = json.loads(about.read_text())
        about.write_text(json.dumps(told | {"origin": f"{base}/release/{FIRST}/theme=places/type=place/*"}))

    with range_server({"/": mirror}) as server:
        loaded_from(server.address)
        assert (desk.refresh()["notes"], server.asked) == ([], ["/catalog.json"])
        assert (desk.refresh()["due"], server.asked) == ([], ["/catalog.json"]), "once a day"
        (mirror / "catalog.json").write_text(json.dumps({"latest": SECOND}))
        (due,) = desk.refresh("--dry-run", "--now")["due"]
        assert (due["queue"], due["requests"]) == ("releases", 100)
        (mirror / "catalog.json").write_text("<html>")
        assert "no JSON" in desk.refresh("--dry-run", "--now")["notes"][0]
    loaded_from(f"http://127.0.0.1:{free_ports(1)[0]}")
    done = desk.refresh()
    assert "Newer releases of overture were not looked for" in done["notes"][0]
    assert done["files"] == {"due": 0, "read": 0, "loaded": []}


def test_a_machine_that_has_loaded_nothing_loads_the_territory_where_that_is_wanted(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COCLI_STATE_HOME", str(desk.home / "another"))
    (desk.home / "catalog.json").write_text(json.dumps({"latest": SECOND}))
    with range_server({"/": desk.home}) as server:
        monkeypatch.setattr("cocli.pipeline.sources.overture.releases.CATALOG", f"{server.address}/catalog.json")
        assert (desk.refresh("--dry-run", "--now")["due"], server.asked) == ([], [])
        desk.run("campaign", "edit", CAMPAIGN, "--set", "refresh.fetch=territory", "--set", "refresh.budget=99")
        planned = desk.refresh("--dry-run", "--now")
        assert [(due["queue"], due["tasks"], due["requests"]) for due in planned["due"]] == [("releases", 1, 100)]
        assert (planned["left"], planned["outcomes"]) == (1, {"would_queue": 0}), "it does not fit into the budget"
        assert server.asked == ["/catalog.json"]


def test_what_failed_is_taken_up_again_by_the_next_one(desk: Desk) -> None:
    publish(desk.bucket, SECOND, "two", "three")
    (part,) = (desk.bucket / "release" / SECOND).rglob("part.parquet")
    whole = part.read_bytes()
    part.write_bytes(whole[:100])
    failed = desk.refresh("--now")
    assert failed["files"]["loaded"] == []
    assert f"overture {SECOND} was not loaded" in failed["notes"][0]
    part.write_bytes(whole)
    publish(desk.bucket, THIRD, "three", "four")
    assert desk.refresh("--now")["files"]["loaded"][-1] == f"overture {THIRD}"
    assert desk.releases() == [THIRD]
    assert desk.found() == [
        ("missing", "Farm one"),
        ("missing", "Farm two"),
        ("new", "Farm four"),
        ("new", "Farm three"),
    ]


_MACHINE = """
import sys
from cocli.app.freshness import releases
from cocli.cli.main import main
releases.LEASE_SECONDS = 2.0  # nobody waits a minute for who is dead
sys.exit(main(sys.argv[1:]))
"""


def started(desk: Desk, state: Path) -> subprocess.Popen[str]:
    """Another machine that refreshes: it has the first release in a state folder of its own."""
    environ = os.environ | {"COCLI_STATE_HOME": str(state), "COCLI_CACHE_HOME": f"{state}-cache"}
    words = [sys.executable, "-c", _MACHINE, "campaign", "refresh", CAMPAIGN, "--now", "--json"]
    return subprocess.Popen(words, env=environ, stdout=subprocess.PIPE, text=True, start_new_session=True)


@pytest.mark.timeout(300)
@pytest.mark.waits
def test_of_machines_that_refresh_at_once_one_loads_it_and_a_kill_is_survived(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = [desk.home / f"machine-{number}" for number in range(3)]
    for state in states:
        monkeypatch.setenv("COCLI_STATE_HOME", str(state))
        desk.run("source", "fetch", "overture", "-c", CAMPAIGN, "--from", str(desk.bucket), "--release", FIRST)
    monkeypatch.delenv("COCLI_STATE_HOME")
    publish(desk.bucket, SECOND, "two", "three")
    victim = started(desk, states[0])
    deadline = time.monotonic() + 120
    while not any(path.endswith("lease.json") for path in desk.tasks("pending")):
        assert time.monotonic() < deadline
        if victim.poll() is not None:
            break  # it was quicker than we looked
        time.sleep(0.01)
    if victim.poll() is None:
        os.killpg(victim.pid, signal.SIGKILL)
    victim.communicate()
    loaded: list[str] = []
    while not loaded and not desk.tasks("completed"):
        others = [started(desk, state) for state in states[1:]]
        told = [json.loads(other.communicate(timeout=120)[0]) for other in others]
        loaded += [name for one in told for name in one["files"]["loaded"]]
        assert time.monotonic() < deadline, "its lease runs out"
    assert loaded.count(f"overture {SECOND}") <= 1
    assert len(desk.tasks("completed")) == 1
    assert desk.tasks("pending") == []
    assert desk.refresh()["changes"] is not None
    assert desk.found() == [("missing", "Farm one"), ("new", "Farm three")]


def test_a_reading_of_long_ago_is_read_from_a_later_release(desk: Desk) -> None:
    publish(desk.bucket, SECOND, "two", "three")
    with open_workspace(dict(os.environ), Flags()) as workspace:
        too_old = HarvestOptions(age=timedelta(0))
        assert harvest_campaign(workspace, CAMPAIGN, options=too_old).tiles == 0
        desk.run("source", "fetch", "overture", "-c", CAMPAIGN, "--from", str(desk.bucket))
        assert harvest_campaign(workspace, CAMPAIGN, options=too_old).tiles >= 1
        assert harvest_campaign(workspace, CAMPAIGN, options=too_old).tiles == 0
