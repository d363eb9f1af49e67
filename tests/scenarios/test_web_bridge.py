"""From a click to what everybody sees: changes go to real supervisors, one of which is killed in between."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town.campaign import TownHome
from cocli.service.web.access import Role
from tests.kit.web import NAME, fill, running_web
from tests.scenarios.conftest import in_make_scenarios, wait_until

HOSTS = ("pi-1", "pi-2")
CHANGES = 20
PROMISED = 15.0
BUSY = 4.0
"""How much slower everything may be on a machine that does other things as well."""


@pytest.fixture
def supervisors(tmp_path: Path) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """Two of them, as they are run: they look for commands every three seconds."""
    home = TownHome(tmp_path)
    home.data.mkdir(parents=True)
    with open_workspace(home.environ, Flags()) as workspace:
        fill(workspace, 1)
    started: dict[str, subprocess.Popen[bytes]] = {}
    for host in HOSTS:
        words = ["supervisor", "-c", NAME, "--host", host, "--heartbeat", "1"]
        with (tmp_path / f"{host}.log").open("wb") as log:
            started[host] = subprocess.Popen(
                [sys.executable, "-m", "cocli", *words], env={**home.environ, "PATH": "/usr/bin:/bin"}, stderr=log
            )
    yield started
    for process in started.values():
        process.kill()
        process.wait()


def _wish(number: int) -> tuple[str, Any]:
    """A change, and what config.json says once it is seen."""
    if number % 2:
        return (
            f"add-exclude domain:chain-{number}.example",
            lambda seen: f"chain-{number}.example" in seen["exclude"]["domains"],
        )
    return f"add-query trade {number}", lambda seen: f"trade {number}" in seen["queries"]


def _click(caller: httpx2.Client, number: int) -> tuple[float, str]:
    """Send one change, and look as a page does until it is seen; the seconds, and who executed it."""
    text, is_seen = _wish(number)
    begun = time.monotonic()
    sent = caller.post(f"/api/{NAME}/commands", json={"commands": [{"text": text}]}).json()["results"][0]
    assert sent["state"] == "sent", sent
    name = sent["sent"][0]["id"]
    while True:
        config = caller.get(f"/data/{NAME}/config.json").json()
        row = next((known for known in config["commands"] if known["id"] == name), None)
        if row is not None and row["state"] in ("done", "already", "failed") and is_seen(config):
            return time.monotonic() - begun, row["host"]
        assert time.monotonic() - begun < PROMISED * BUSY, (text, row)
        time.sleep(0.3)


@in_make_scenarios
@pytest.mark.timeout(900)
def test_twenty_changes_are_seen_though_a_supervisor_dies(
    tmp_path: Path, supervisors: dict[str, subprocess.Popen[bytes]], capsys: pytest.CaptureFixture[str]
) -> None:
    with running_web(tmp_path, filled=False) as web, web.caller(Role.ADMIN) as caller:
        wait_until(
            lambda: set(caller.get(f"/data/{NAME}/config.json").json()["listeners"]) == set(HOSTS), "both listen"
        )
        before = [_click(caller, number) for number in range(CHANGES // 2)]
        gone = before[-1][1]
        supervisors[gone].kill()
        after = [_click(caller, number) for number in range(CHANGES // 2, CHANGES)]
        refused = caller.post(f"/api/{NAME}/commands", json={"commands": [{"text": "scale gm-list=many"}]}).json()
        undo = caller.get(f"/data/{NAME}/config.json").json()["commands"][0]["undo"]
    took = [seconds for seconds, _ in (*before, *after)]
    with capsys.disabled():
        print(
            f"\nfrom click to seen: {len(took)} changes, {max(took):.1f} s at most, mean {sum(took) / len(took):.1f} s"
        )
    assert {host for _, host in before} <= set(HOSTS)
    assert {host for _, host in after} == set(HOSTS) - {gone}
    assert refused["results"][0]["state"] == "refused"
    assert "QUEUE=COUNT" in refused["results"][0]["reason"]
    assert undo.startswith(("remove-query", "remove-exclude"))
