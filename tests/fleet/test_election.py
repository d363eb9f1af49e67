"""The election: one supervisor at a time, another one when it is gone, and it costs little."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.kit.manual_time import ManualTime
from tests.kit.simulator import assert_caught, assert_clean

from cocli import logs
from cocli.errors import QueueUnusable
from cocli.fleet.election import LEASE_SECONDS, LOOK_SECONDS, TASK, Election, elected_worker
from cocli.keys.paths import CompletedKey, task_files
from cocli.queue.base import NewTask
from cocli.queue.leased.queue import CLOCK_MARGIN, LeasedQueue
from cocli.queue.places import UPKEEP, Places
from cocli.store.counting import CountingStore
from cocli.store.memory import MemoryStore

SCENARIOS = Path(__file__).with_name("election_scenario.py")


class Turn:
    """Two supervisors, each with a clock of its own that a test can hold still."""

    def __init__(self) -> None:
        self.times = {name: ManualTime() for name in ("a", "b")}
        self.store = CountingStore(MemoryStore(clock=self.times["b"].now))
        self.elections = {name: Election(self.store, "c", name, runtime=time) for name, time in self.times.items()}

    def pass_by(self, seconds: float, *, still: str | None = None) -> None:
        for _ in range(round(seconds)):
            for name, time in self.times.items():
                time.pass_by(1.0, renewing=name != still)

    def elected(self) -> list[str]:
        return [name for name, election in self.elections.items() if election.stand()]


def test_one_is_elected_and_another_one_takes_over_within_a_lease() -> None:
    turn = Turn()
    assert turn.elected() == ["a"]
    assert elected_worker(turn.store, "c") == "a"
    for _ in range(20):
        turn.pass_by(LOOK_SECONDS)
        assert turn.elected() == ["a"]
    turn.pass_by(LEASE_SECONDS + CLOCK_MARGIN + LOOK_SECONDS, still="a")
    assert turn.elections["b"].stand(), "a fell silent"
    assert turn.elections["b"].token == 2
    assert not turn.elections["a"].stand(), "it stood still, and asks before it does anything"
    assert elected_worker(turn.store, "c") == "b"


def test_an_election_leaves_nothing_in_what_others_log(caplog: pytest.LogCaptureFixture) -> None:
    """Two that were elected one after the other, and end in that order: neither has told for whom records are."""
    turn = Turn()
    assert turn.elected() == ["a"]
    turn.pass_by(LEASE_SECONDS + CLOCK_MARGIN + LOOK_SECONDS, still="a")
    assert turn.elections["b"].stand()
    for election in turn.elections.values():
        election.close()
    logs.get_logger("cocli.example").warning("something else")
    assert [getattr(caplog.records[-1], name) for name in ("campaign", "queue", "task")] == [None, None, None]


def test_who_resigns_is_followed_at_the_next_look() -> None:
    turn = Turn()
    assert turn.elected() == ["a"]
    turn.elections["a"].resign()
    assert elected_worker(turn.store, "c") is None
    turn.pass_by(LOOK_SECONDS)
    assert turn.elections["b"].stand()


def test_a_task_that_was_removed_is_put_again() -> None:
    turn = Turn()
    assert turn.elected() == ["a"]
    turn.store.delete_many(task_files(Places("c", UPKEEP).folder(TASK)))
    for _ in range(30):
        turn.pass_by(LOOK_SECONDS)
        turn.elected()
    assert len(turn.elected()) == 1


def test_nothing_is_put_for_a_campaign_that_was_removed() -> None:
    store = MemoryStore()
    assert not Election(store, "c", "a", exists=lambda: False).stand()
    assert list(store.list()) == []


def test_a_lease_that_cannot_be_read_stops_nobody_for_long() -> None:
    turn = Turn()
    assert turn.elected() == ["a"]
    turn.store.put(task_files(Places("c", UPKEEP).folder(TASK))[1], b"{")
    for _ in range(40):
        turn.pass_by(LOOK_SECONDS)
        turn.elected()
    assert len(turn.elected()) == 1


def test_a_completed_task_is_said_and_not_waited_for() -> None:
    store = MemoryStore()
    queue = LeasedQueue(store, "c", UPKEEP)
    queue.put(NewTask(TASK))
    store.put(str(CompletedKey("c", UPKEEP, TASK)), b"{}")
    store.delete(Places("c", UPKEEP).task(TASK))
    with pytest.raises(QueueUnusable, match="nobody finishes c"):
        Election(store, "c", "a").stand()


def test_standing_by_costs_few_requests() -> None:
    """docs/workers.md has these figures."""
    turn = Turn()
    turn.elected()
    turn.pass_by(60.0)
    turn.store.reset()
    for _ in range(12):
        turn.pass_by(5.0)
        assert turn.elected() == ["a"]
    counts = turn.store.counts
    assert counts["put"] <= 13, "renewals of who is elected"
    assert counts["list"] <= 12 * 3, "looks of who is not"
    assert counts["get"] <= 12 * 2
    assert counts["head"] <= 2


@pytest.mark.timeout(180)
def test_the_election_holds_in_the_simulator() -> None:
    done = assert_clean(f"{SCENARIOS}:ElectionScenario", range(25))
    assert done.tally["elected"] > 25
    assert {"crashed", "pause", "lost_answer", "unavailable"} <= set(done.tally)


def test_who_does_not_wait_for_the_end_of_a_lease_is_caught() -> None:
    assert_caught(f"{SCENARIOS}:ImpatientScenario", within_seeds=20, match="had lost it|given out")
