"""Machines with the heartbeats of real supervisors: how each feels, and scale, pause and restart by a click."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from cocli.app.campaigns.campaign import edit_campaign
from cocli.app.machines.cluster import read_beats
from cocli.app.machines.command_listing import list_commands
from cocli.app.workspace import Campaign, open_workspace
from cocli.config.edit import parse_change
from cocli.config.resolve import Flags
from cocli.config.version import __version__
from cocli.demo.town.campaign import TownHome
from cocli.formats import json_records
from cocli.models.heartbeat import Heartbeat
from cocli.service.web.access import Role
from tests.kit.effort import effort
from tests.kit.web import NAME, fill, running_web
from tests.kit.webhooks import wait_for
from tests.web.looking import AXE, live_reader

HOST = "pi-1"
PATIENCE = 180_000


@contextmanager
def supervisor(home: TownHome, log: Path) -> Iterator[None]:
    words = ["supervisor", "-c", NAME, "--host", HOST, "--heartbeat", "1"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "cocli", *words],
            env={**home.environ, "PATH": "/usr/bin:/bin"},
            stderr=output,
            stdout=output,
        )
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)


def feverish(home: TownHome) -> None:
    """What a machine in a hot kitchen wrote: its clock is five minutes ahead, its disk full, its parser broken."""
    with open_workspace(home.environ, Flags()) as workspace:
        store = workspace.store
        (beat,) = read_beats(store, NAME).beats
        written = beat.heartbeat.with_changes(
            hostname="pi-kitchen",
            machine="another",
            at=store.now() + timedelta(minutes=5),
            temperature=81.5,
            disk_free_bytes=12_000_000,
            last_error="<b>disk</b> full",
            period_seconds=600.0,
            workers={},
        )
        assert isinstance(written, Heartbeat)
        store.put("status/pi-kitchen.json", json_records.render(written))


@pytest.mark.timeout(900)
@pytest.mark.skipif(effort(1) < 2, reason="a supervisor and its workers are started: make scenarios runs it")
def test_a_real_machine_is_looked_at_scaled_paused_and_restarted(browser: Any, tmp_path: Path) -> None:
    home = TownHome(tmp_path)
    home.data.mkdir(parents=True)
    with open_workspace(home.environ, Flags()) as workspace:
        fill(workspace, 1)
        edit_campaign(workspace, NAME, [parse_change(f"workers.{HOST}.enrichment=1")])
    with supervisor(home, tmp_path / "supervisor.log"), running_web(tmp_path, filled=False) as running:
        reader = live_reader(browser, running, Role.ADMIN, viewport={"width": 1280, "height": 900})
        page = reader.open(f"?campaign={NAME}&view=machines")
        card = page.get_by_role("region", name=HOST, exact=True)
        card.get_by_text("alive").wait_for(timeout=PATIENCE)
        said = card.inner_text()
        for word in ("Processor", "Memory", "Disk free", __version__):
            assert word in said
        feverish(home)
        hot = page.get_by_role("region", name="pi-kitchen", exact=True)
        hot.get_by_text("81.5 °C").wait_for(timeout=PATIENCE)
        hot.get_by_text("<b>disk</b> full").wait_for()
        hot.get_by_text("5 min ahead").wait_for()
        hot.get_by_text("12 MB").wait_for()
        assert (reader.violations() if AXE.is_file() else []) == []

        workers = card.locator("tr", has_text="enrichment").locator("td").nth(1)
        card.get_by_role("button", name=f"One worker more for enrichment on {HOST}").click()
        page.get_by_label("What was done").get_by_text("cocli remote send").first.wait_for()
        wait_for(lambda: workers.inner_text().strip() == "2")
        card.get_by_role("button", name=f"One worker fewer for enrichment on {HOST}").click()
        wait_for(lambda: workers.inner_text().strip() == "1")

        card.get_by_role("button", name="Restart").click()
        page.get_by_role("dialog").get_by_role("button", name="Restart").click()
        page.get_by_label("What was done").get_by_text("restart").first.wait_for()
        with open_workspace(home.environ, Flags()) as workspace:
            campaign = workspace.campaign(NAME)
            wait_for(lambda: ("restart", HOST, "done") in executed(campaign))

        reader.open(f"?campaign={NAME}&view=queues")
        page.locator("section.queue", has_text="gm-list").get_by_role("button", name="Pause").click()
        with open_workspace(home.environ, Flags()) as workspace:
            wait_for(lambda: "gm-list" in workspace.campaign(NAME).settings.model().queue.paused)
        page.locator("section.queue", has_text="gm-list").get_by_text("paused").wait_for(timeout=PATIENCE)
        assert reader.complaints == []


def executed(campaign: Campaign) -> set[tuple[str, str | None, str]]:
    """What was asked, who did it, what came of it."""
    return {(row.text, row.host, row.state) for row in list_commands(campaign, 50)}
