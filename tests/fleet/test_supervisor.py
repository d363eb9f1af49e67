"""The supervisor's rules, on a clock that the test turns. Real processes are in test_supervisor_processes.py."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.kit.effort import effort

from cocli.errors import ConfigError
from cocli.fleet.slot import RestartSettings
from cocli.fleet.supervisor import Supervisor, Wanted
from cocli.models.heartbeat import WorkerReport

MIB = 1 << 20
SETTINGS = RestartSettings(backoff_first=1, backoff_longest=60, healthy=30, memory=100 * MIB, drain=10, look=1)


@dataclass
class Played:
    """A worker that the test plays."""

    queue: str
    code: int | None = None
    held: int = MIB
    drains: int = 0
    killed: bool = False
    report: WorkerReport | None = None
    last_error: str | None = None
    obeys: bool = True
    pid: int = 1

    def exit_code(self) -> int | None:
        return self.code

    def memory(self) -> int:
        return self.held

    def drain(self) -> None:
        self.drains += 1
        if self.obeys:
            self.code = 0

    def kill(self) -> None:
        self.killed, self.code = True, -9

    def pipes(self) -> tuple[int, int, int]:
        return (0, 1, 2)


@dataclass
class World:
    now: float = 0.0
    wanted: Wanted = field(default_factory=Wanted)
    workers: list[Played] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    error: Exception | None = None

    def __post_init__(self) -> None:
        self.supervisor = Supervisor(
            self._read,
            self._spawn,
            rng=random.Random(1),
            settings=SETTINGS,
            say=self.said.append,
            clock=lambda: self.now,
        )

    def _read(self) -> Wanted:
        if self.error is not None:
            raise self.error
        return self.wanted

    def _spawn(self, queue: str, name: str) -> Played:
        assert name.startswith(queue)
        self.workers.append(Played(queue))
        return self.workers[-1]

    def pass_by(self, seconds: float) -> None:
        for _ in range(round(seconds / 0.5)):
            self.now += 0.5
            self.supervisor.tick()

    @property
    def alive(self) -> list[Played]:
        return [one for one in self.workers if one.code is None]


@pytest.fixture
def world() -> World:
    made = World(wanted=Wanted({"gm-list": 2, "enrichment": 1}, "f1"))
    made.pass_by(1)
    return made


def test_it_runs_what_is_asked_for_and_follows_changes(world: World) -> None:
    assert world.supervisor.running() == {"gm-list": 2, "enrichment": 1}
    world.wanted = Wanted({"gm-list": 1, "gm-details": 1}, "f1")
    world.pass_by(2)
    assert world.supervisor.running() == {"gm-list": 1, "gm-details": 1}
    assert len(world.alive) == 2
    assert not any(one.killed for one in world.workers)


def test_who_was_killed_is_told_from_who_could_not_work(world: World) -> None:
    """Somebody who kills workers does not make the machine unable to work."""
    for queue, code in (("enrichment", -9), ("enrichment", 6), ("gm-list", -9), ("enrichment", -4)):
        next(one for one in world.alive if one.queue == queue).code = code
        world.pass_by(60)
    assert world.supervisor.deaths == {"enrichment": 3, "gm-list": 1}
    assert (world.supervisor.restarts, world.supervisor.unable) == (4, 2)


def test_one_that_dies_is_started_again_later_each_time(world: World) -> None:
    waits = []
    for _ in range(7):
        dying = next(one for one in world.alive if one.queue == "enrichment")
        dying.code, died_at = -9, world.now
        dying.last_error = "out of luck"
        while not any(one.queue == "enrichment" for one in world.alive):
            world.pass_by(0.5)
        waits.append(world.now - died_at)
    assert waits[0] <= 2
    assert waits == sorted(waits)
    assert 25 <= waits[-1] <= 61
    assert world.supervisor.last_error is not None
    assert "killed by signal 9: out of luck" in world.supervisor.last_error
    world.pass_by(SETTINGS.healthy + 1)
    next(one for one in world.alive if one.queue == "enrichment").code = 1
    world.pass_by(2)
    assert any(one.queue == "enrichment" for one in world.alive), "it was well: the next one starts at once"


def test_one_that_holds_too_much_memory_is_drained_and_replaced(world: World) -> None:
    greedy = world.workers[0]
    greedy.held = 101 * MIB
    world.pass_by(6)
    assert greedy.drains == 1
    assert world.supervisor.running() == {"gm-list": 2, "enrichment": 1}
    assert world.supervisor.last_error is not None
    assert "101 MiB" in world.supervisor.last_error


def test_one_that_does_not_end_is_killed(world: World) -> None:
    for one in world.workers:
        one.obeys = False
    world.wanted = Wanted({}, "f1")
    world.pass_by(SETTINGS.drain - 1)
    assert not any(one.killed for one in world.workers)
    world.pass_by(4)
    assert all(one.killed for one in world.workers)


def test_a_new_configuration_replaces_workers_and_a_broken_one_changes_nothing(world: World) -> None:
    world.wanted = Wanted(world.wanted.counts, "f2")
    world.pass_by(2)
    assert [one.drains for one in world.workers[:3]] == [1, 1, 1]
    assert len(world.alive) == 3
    world.error = ConfigError(reason="a typo")
    world.pass_by(5)
    assert len(world.alive) == 3
    assert "a typo" in str(world.supervisor.last_error)


def test_restart_replaces_those_of_a_queue(world: World) -> None:
    assert world.supervisor.restart(["gm-list"]) == 2
    world.pass_by(2)
    assert sorted(one.queue for one in world.workers if one.drains) == ["gm-list", "gm-list"]
    assert world.supervisor.running() == {"gm-list": 2, "enrichment": 1}


def test_what_workers_did_is_not_forgotten_when_they_are_gone(world: World) -> None:
    def did(count: int) -> WorkerReport:
        return WorkerReport(queue="gm-list", worker="w", ended={"completed": count, "lost": 1})

    for one in world.workers:
        if one.queue == "gm-list":
            one.report = did(5)
    assert world.supervisor.completed() == {"gm-list": 10}
    world.workers[0].code = -9
    world.pass_by(3)
    world.alive[-1].report = did(2)
    assert world.supervisor.completed()["gm-list"] == 12


class Hardship(RuleBasedStateMachine):
    """Whatever happens: never more workers in their slots than asked for, and none forgotten."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()

    @rule(lists=st.integers(0, 3), sites=st.integers(0, 3), fingerprint=st.sampled_from("ab"))
    def configure(self, lists: int, sites: int, fingerprint: str) -> None:
        self.world.wanted = Wanted({"gm-list": lists, "enrichment": sites}, fingerprint)

    @rule(seconds=st.integers(1, 40))
    def wait(self, seconds: int) -> None:
        self.world.pass_by(seconds)

    @precondition(lambda self: self.world.alive)
    @rule(data=st.data())
    def hit_one(self, data: st.DataObject) -> None:
        one = data.draw(st.sampled_from(self.world.alive))
        hit: Callable[[], None] = data.draw(
            st.sampled_from(
                [
                    lambda: setattr(one, "code", -9),
                    lambda: setattr(one, "held", 200 * MIB),
                    lambda: setattr(one, "obeys", False),
                ]
            )
        )
        hit()

    @invariant()
    def none_too_many_and_none_forgotten(self) -> None:
        running = self.world.supervisor.running()
        leaving = len(self.world.supervisor._leaving)
        assert len(self.world.alive) <= sum(running.values()) + leaving
        for queue, count in running.items():
            assert count <= 3, queue

    def teardown(self) -> None:
        self.world.wanted = Wanted({"gm-list": 1}, "c")
        for one in self.world.workers:
            one.held = MIB
        self.world.pass_by(SETTINGS.backoff_longest + SETTINGS.drain + 20)
        assert self.world.supervisor.running() == {"gm-list": 1}
        assert len(self.world.alive) == 1


Hardship.TestCase.settings = settings(max_examples=effort(20), stateful_step_count=15)
TestHardship = Hardship.TestCase
