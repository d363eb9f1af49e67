"""A supervisor makes room for a newer release of itself: its workers go on, and are replaced one by one."""

from __future__ import annotations

import json
import os
import secrets
import signal
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from tests.fleet.test_supervisor import SETTINGS, Played, World
from tests.fleet.test_supervisor_processes import a_mission, stats
from tests.kit.cluster import Cluster

from cocli.app.machines.cluster import read_beats
from cocli.app.workspace import Workspace, open_workspace
from cocli.config.resolve import Flags
from cocli.fleet.succession import InheritedWorker, inherited_workers, successor_words
from cocli.fleet.supervisor import Wanted
from cocli.models.heartbeat import WorkerReport


def _heir(count: int) -> tuple[World, list[Played]]:
    """A supervisor that inherited so many workers, which the test plays."""
    world = World(wanted=Wanted({"enrichment": count}, "now"))
    old = [Played("enrichment", obeys=False) for _ in range(count)]
    for number, worker in enumerate(old, 1):
        world.supervisor.inherit(InheritedWorker("plumbers", "enrichment", number, number, (0, 1, 2)), worker)
    return world, old


def _tick(world: World, times: int = 3) -> None:
    for _ in range(times):
        world.now += 0.2
        world.supervisor.tick()


def test_one_goes_when_the_one_before_has_gone_and_its_successor_works() -> None:
    world, old = _heir(3)
    for number, worker in enumerate(old):
        _tick(world)
        assert [each.drains for each in old] == [1] * (number + 1) + [0] * (2 - number)
        assert len(world.workers) == number + 1, "a successor starts as soon as one is asked to go"
        worker.code = 0
        _tick(world)
        assert sum(each.drains for each in old) == number + 1, "the successor has not told yet that it works"
        world.workers[number].report = WorkerReport(queue="enrichment", worker=f"w{number}")
    _tick(world)
    assert world.supervisor.is_gone
    assert len(world.workers) == 3
    assert world.supervisor.running() == {"enrichment": 3}


def test_a_release_whose_workers_die_takes_no_work_from_the_one_before() -> None:
    world, old = _heir(2)
    _tick(world)
    old[0].code = 0
    for _ in range(50):
        world.workers[-1].code = 1
        _tick(world, 5)
    assert old[1].drains == 0
    assert old[1].code is None


def test_who_is_in_a_hurry_has_all_of_them_give_back_their_tasks() -> None:
    world, old = _heir(3)
    _tick(world)
    world.supervisor.hurry_inherited()
    assert [worker.drains for worker in old] == [2, 2, 2]
    world.now += SETTINGS.drain + 1
    _tick(world)
    assert all(worker.killed for worker in old), "at last"


def test_what_is_told_is_told_once_and_strangers_are_not_taken_for_children() -> None:
    reading, writing = os.pipe()
    try:
        stranger = InheritedWorker("plumbers", "enrichment", 1, os.getppid(), (reading, writing, writing))
        environ = {"COCLI_INHERITED_WORKERS": json.dumps([asdict(stranger)])}
        assert inherited_workers(environ) == []
        assert environ == {}
        assert inherited_workers(environ) == []
    finally:
        os.close(reading)
        os.close(writing)


def test_a_program_becomes_what_its_name_leads_to_now(tmp_path: Path) -> None:
    program = tmp_path / "cocli"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert successor_words([str(program), "supervisor"]) == [str(program), "supervisor"]
    assert successor_words(["/x/cocli/__main__.py", "supervisor"])[1:] == ["-m", "cocli", "supervisor"]


# --- real processes


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path, f"c{secrets.token_hex(6)}")
    yield made
    made.end()


@pytest.fixture
def workspace(cluster: Cluster) -> Iterator[Workspace]:
    with open_workspace(cluster.environ(), Flags()) as opened:
        yield opened


@pytest.mark.timeout(240)
def test_workers_are_replaced_one_by_one_while_they_work(cluster: Cluster, workspace: Workspace) -> None:
    campaign = a_mission(workspace, cluster, {"gm-list": 2})
    total = stats(campaign).pending
    cluster.start("h1")
    supervisor = cluster.supervisors["h1"]
    cluster.wait_for(lambda: len(cluster.workers()) == 2)
    cluster.wait_for(lambda: stats(campaign).completed)
    (began,) = (beat.heartbeat.started_at for beat in read_beats(campaign.store).beats)
    before = {worker.pid for worker in cluster.workers()}
    fewest = [len(before)]
    os.kill(supervisor.pid, signal.SIGUSR2)

    def replaced() -> bool:
        now = {worker.pid for worker in cluster.workers()}
        fewest.append(len(now))
        return len(now) == 2 and not now & before

    cluster.wait_for(replaced)
    assert min(fewest) >= 2, "at no moment are there fewer workers"
    assert supervisor.poll() is None, "it is the same process"
    beats = {beat.heartbeat.started_at for beat in read_beats(campaign.store).beats}
    assert beats != {began}, "its successor reports"
    cluster.wait_for(lambda: stats(campaign).pending == 0)
    found = stats(campaign)
    assert (found.completed or 0) + sum(found.sidelined.values()) == total
    assert (found.leased, found.expired) == (0, 0)
    supervisor.terminate()
    assert supervisor.wait(60) == 0, cluster.log()
    assert not cluster.workers()
