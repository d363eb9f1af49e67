"""One supervisor of several campaigns: which it serves, those that come and go, and what the machine says of each."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cocli.app.campaigns.campaign import edit_campaign, new_campaign
from cocli.app.machines.cluster import read_beats
from cocli.app.machines.roster import Roster
from cocli.app.machines.supervisor import Supervised, SupervisorSettings, supervise
from cocli.app.workspace import Workspace, open_workspace
from cocli.config.edit import parse_change
from cocli.config.resolve import Flags
from cocli.errors import UnknownCampaign, UsageError
from cocli.fleet.drain import Drain
from cocli.fleet.stall import Beat

PATIENCE = 120.0


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("COCLI_", "XDG_", "CAMPAIGN_"))}
    environ = {**kept, "HOME": str(tmp_path), "COCLI_DATA_HOME": str(tmp_path / "data")}
    with open_workspace(environ, Flags()) as opened:
        yield opened


def edit(workspace: Workspace, name: str, change: str) -> None:
    edit_campaign(workspace, name, [parse_change(change)])


def served(workspace: Workspace, names: list[str] | None = None, notes: list[str] | None = None) -> list[str]:
    said = [] if notes is None else notes
    return [campaign.name for campaign in Roster(workspace, "pi1", names, said.append).campaigns()]


def test_who_is_served(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match="none yet"):
        served(workspace)
    new_campaign(workspace, "bakers", ["bakery"])
    assert served(workspace) == ["bakers"], "the only one needs no section: a command may give it one"
    new_campaign(workspace, "plumbers", ["plumber"])
    new_campaign(workspace, "roofers", ["roofer"])
    assert served(workspace) == []
    edit(workspace, "plumbers", "workers.pi1.enrichment=0")
    edit(workspace, "roofers", "workers.pi2.enrichment=1")
    assert served(workspace) == ["plumbers"]
    assert served(workspace, ["roofers", "bakers", "roofers"]) == ["roofers", "bakers"]
    with pytest.raises(UnknownCampaign):
        served(workspace, ["glaziers"])


def test_a_file_with_a_mistake_hides_no_other_campaign(workspace: Workspace) -> None:
    for name in ("bakers", "plumbers"):
        new_campaign(workspace, name, ["x"])
        edit(workspace, name, "workers.pi1.enrichment=0")
    workspace.store.put("campaigns/bakers/config.toml", b"[workers.pi1\n")
    notes: list[str] = []
    assert served(workspace, notes=notes) == ["plumbers"]
    assert notes[0].startswith("bakers cannot be served: ")


@pytest.mark.timeout(300)
def test_campaigns_come_and_go_while_it_runs(workspace: Workspace) -> None:
    for name in ("bakers", "plumbers"):
        new_campaign(workspace, name, ["x"])
    edit(workspace, "bakers", "workers.pi1.enrichment=0")
    drain, done, said = Drain(), list[Supervised](), list[str]()
    settings = SupervisorSettings(host="pi1", poll=0.2, period=1.0)
    thread = threading.Thread(
        target=lambda: done.append(supervise(workspace, None, settings, drain, said.append)), daemon=True
    )
    thread.start()
    try:
        wait_for(lambda: beat_of(workspace, "bakers"))
        assert beat_of(workspace, "plumbers") is None
        edit(workspace, "plumbers", "workers.pi1.enrichment=0")
        wait_for(lambda: beat_of(workspace, "plumbers"))
        key = "campaigns/bakers/config.toml"
        workspace.store.put(key, workspace.store.get(key).data.replace(b"pi1", b"pi7"))
        wait_for(lambda: is_stopped(workspace, "bakers"))
        assert not is_stopped(workspace, "plumbers")
        assert "bakers does not ask for workers of pi1 any more" in said
    finally:
        drain.ask_once()
        thread.join(PATIENCE)
    (ended,) = done
    assert set(ended.campaigns) == {"bakers", "plumbers"}
    assert ended.whole
    assert is_stopped(workspace, "plumbers")
    (machine,) = read_beats(workspace.store).beats
    assert machine.heartbeat.stopped_at is not None


def wait_for(holds: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def beat_of(workspace: Workspace, campaign: str) -> Beat | None:
    beats = read_beats(workspace.store, campaign).beats
    return next((beat for beat in beats if beat.heartbeat.campaign == campaign), None)


def is_stopped(workspace: Workspace, campaign: str) -> bool:
    beat = beat_of(workspace, campaign)
    return beat is not None and beat.heartbeat.stopped_at is not None
