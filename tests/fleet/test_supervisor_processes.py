"""Supervisors and workers as real processes on a real folder: killed with SIGKILL, and counted from outside."""

from __future__ import annotations

import os
import random
import secrets
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.kit.cluster import PATIENCE, Cluster

from cocli.app.campaigns.campaign import edit_campaign, new_campaign
from cocli.app.campaigns.mission import queue_mission
from cocli.app.campaigns.plan import build_targets
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.machines.cluster import read_beats
from cocli.app.machines.command_listing import list_commands
from cocli.app.machines.commands import send_command
from cocli.app.machines.config_watch import wanted_of
from cocli.app.machines.supervisor import SupervisorSettings, run_supervisor
from cocli.app.queues.whereabouts import whereabouts
from cocli.app.results.report import make_report, read_report
from cocli.app.sources.sources import FileClaims, add_source
from cocli.app.workspace import Campaign, Workspace, open_workspace
from cocli.config.edit import parse_change
from cocli.config.resolve import Flags
from cocli.config.template import TemplatePlace
from cocli.demo.town import build_town, truth_of, write_overture
from cocli.errors import ConfigError, SupervisorRunning
from cocli.fleet.drain import Drain
from cocli.fleet.supervisor import Wanted
from cocli.keys.tile import Tile
from cocli.queue.base import QueueStats
from cocli.queue.leased.queue import LeasedQueue


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path, f"c{secrets.token_hex(6)}")
    yield made
    made.end()


@pytest.fixture
def workspace(cluster: Cluster) -> Iterator[Workspace]:
    with open_workspace(cluster.environ(), Flags()) as opened:
        yield opened


def edit(workspace: Workspace, cluster: Cluster, *changes: str) -> Campaign:
    edit_campaign(workspace, cluster.name, [parse_change(change) for change in changes])
    return workspace.campaign(cluster.name)


def a_mission(workspace: Workspace, cluster: Cluster, counts: Mapping[str, int]) -> Campaign:
    """A part of the demo town, its open data on this machine, and tasks in the queue."""
    town = build_town(seed=3)
    write_overture(town, cluster.home / "places.parquet")
    add_source(workspace, str(cluster.home / "places.parquet"), FileClaims(), datetime.now(UTC))
    truth = truth_of(town)
    places = [TemplatePlace(tile, *Tile.parse(*tile.split("_")).centre, 0.5) for tile in truth.tiles]
    new_campaign(workspace, cluster.name, truth.phrases[:3], places)
    wanted = [f"workers.h1.{queue}={count}" for queue, count in counts.items()]
    campaign = edit(workspace, cluster, "queue.lease_seconds=5", *wanted)
    indexes = campaign_indexes(workspace, cluster.name)
    build_targets(indexes, campaign)
    assert queue_mission(indexes, campaign).queued == 3 * len(truth.tiles)
    return campaign


def stats(campaign: Campaign) -> QueueStats:
    queue = LeasedQueue(campaign.store, campaign.name, "gm-list", lease_seconds=5)
    return queue.stats()


@pytest.mark.timeout(240)
def test_killed_workers_and_supervisors_lose_nothing_and_leave_nothing(cluster: Cluster, workspace: Workspace) -> None:
    campaign = a_mission(workspace, cluster, {"gm-list": 2})
    total, chance = stats(campaign).pending, random.Random(7)
    cluster.start("h1")
    cluster.wait_for(lambda: bool(cluster.workers()))
    for kill in range(4):
        time.sleep(chance.uniform(0.2, 0.8))
        workers = cluster.workers()
        if kill % 2 and cluster.supervisors["h1"].poll() is None:
            cluster.kill("h1")
            cluster.start("h1")
        elif workers:
            os.killpg(chance.choice(workers).pid, signal.SIGKILL)
    cluster.wait_for(lambda: stats(campaign).pending == 0)
    found = stats(campaign)
    assert (found.completed or 0) + sum(found.sidelined.values()) == total
    assert (found.leased, found.expired) == (0, 0)
    assert set(found.sidelined) <= {"blocked"}
    cluster.wait_for(lambda: len(cluster.workers()) == 2)
    cluster.kill("h1")
    cluster.wait_for(lambda: not cluster.workers(), 30)


@pytest.mark.timeout(240)
def test_two_supervisors_execute_each_command_once_though_one_is_killed(cluster: Cluster, workspace: Workspace) -> None:
    new_campaign(workspace, cluster.name, ["plumber"], [TemplatePlace("Springfield", 39.85, -89.65, 0.5)])
    campaign = workspace.campaign(cluster.name)
    for host in ("h1", "h2"):
        cluster.start(host)
    cluster.wait_for(lambda: len(read_beats(campaign.store).beats) == 2)
    with pytest.raises(SupervisorRunning, match="runs on this machine"):
        run_supervisor(workspace, campaign, SupervisorSettings(host="h1"), Drain(), lambda _: None)
    texts = [f"add-query phrase {number}" for number in range(4)]
    texts += ["remove-query phrase 0", "add-exclude domain:acme.com", "add-query phrase 0"]
    for number, text in enumerate(texts):
        send_command(campaign, text)
        if number == 3:
            cluster.kill("h1")
    send_command(campaign, "scale enrichment=1", "h2")
    cluster.wait_for(lambda: all(row.state in ("done", "already") for row in list_commands(campaign)))
    rows = list_commands(campaign)
    assert [row.text for row in reversed(rows)] == [*texts, "scale enrichment=1"]
    config = workspace.campaign(cluster.name).settings.model()
    assert config.prospecting.queries == ("plumber", "phrase 1", "phrase 2", "phrase 3", "phrase 0")
    assert config.exclude.domains == ("acme.com",)
    # Nobody plans by hand: whoever executes a command that names something new queues its searches.
    searched = {task.rpartition("_")[2] for task in whereabouts(campaign, "gm-list").waiting}
    assert searched == set(config.prospecting.queries)
    cluster.wait_for(lambda: len(cluster.workers()) == 1, 30)
    cluster.wait_for(
        lambda: any(one.heartbeat.workers == {"enrichment": 1} for one in read_beats(campaign.store).beats)
    )
    cluster.supervisors["h2"].terminate()
    assert cluster.supervisors["h2"].wait(PATIENCE) == 0, cluster.log()
    assert not cluster.workers()
    stopped = {one.heartbeat.hostname: one.heartbeat.stopped_at for one in read_beats(campaign.store).beats}
    assert stopped["h1"] is None
    assert stopped["h2"] is not None


def test_a_report_that_is_kept_shows_what_a_command_changed(cluster: Cluster, workspace: Workspace) -> None:
    new_campaign(workspace, cluster.name, ["plumber"], [TemplatePlace("Springfield", 39.85, -89.65, 0.5)])
    campaign, drain = workspace.campaign(cluster.name), Drain()
    assert make_report(workspace, cluster.name).report.coverage is None, "nothing is planned yet"
    wishes = SupervisorSettings(host="h1", poll=0.2)
    thread = threading.Thread(target=run_supervisor, args=(workspace, campaign, wishes, drain, lambda _: None))
    thread.start()
    try:
        send_command(campaign, "add-query roofer")
        cluster.wait_for(lambda: (kept := read_report(campaign.store, cluster.name).coverage) and kept.targets == 2)
    finally:
        drain.ask_once()
        thread.join(PATIENCE)
    assert not thread.is_alive()


def test_what_a_file_asks_of_a_host(cluster: Cluster, workspace: Workspace) -> None:
    new_campaign(workspace, cluster.name, ["plumber"])

    def wanted(*changes: str) -> Wanted:
        return wanted_of(edit(workspace, cluster, *changes).settings.model(), "h1")

    first = wanted("workers.h1.gm-list=2", "workers.h1.enrichment=1", "workers.h2.gm-list=9")
    assert first.counts == {"gm-list": 2, "enrichment": 1}
    paused = wanted("queue.paused+=gm-list")
    assert paused.counts == {"enrichment": 1}
    planned = wanted("prospecting.queries+=roofer", "workers.h1.enrichment=3")
    assert first.fingerprint == paused.fingerprint == planned.fingerprint, "none of that is read by workers"
    assert wanted("exclude.domains+=acme.com").fingerprint != first.fingerprint
    with pytest.raises(ConfigError, match="workers of gm-lst"):
        wanted("workers.h1.gm-lst=1")
