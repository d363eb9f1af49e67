"""What a person does to a task, while workers are at it and while the machine dies between any two steps."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from cocli.app.queues.care import TaskCare
from cocli.app.queues.queues import QueueOnStore
from cocli.errors import LeaseLost, QueueError
from cocli.formats import json_records
from cocli.models.completion import Ok
from cocli.models.lease import Lease
from cocli.models.task import Task
from cocli.queue.base import NewTask, TaskPlace
from cocli.queue.leased.queue import LeasedQueue
from cocli.queue.places import Places
from cocli.store.base import Store
from cocli.store.memory import MemoryStore
from tests.kit.faulty_store import Crashed, Fault, FaultKind, FaultyStore, Operation


class World:
    """A store whose clock is moved by hand, a queue on it, and a person."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 15, 12, tzinfo=UTC)
        self.store = MemoryStore(clock=lambda: self.time)

    def queue(self, worker: str = "w") -> LeasedQueue:
        return LeasedQueue(self.store, "plumbers", "gm-list", worker=worker, lease_seconds=300)

    def person(self, store: Store | None = None) -> TaskCare:
        return TaskCare(QueueOnStore(store or self.store, Places("plumbers", "gm-list"), "plumbers", "gm-list"))

    def later(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)

    def lease(self, task_id: str = "a") -> Lease:
        key = Places("plumbers", "gm-list").folder(task_id) + "lease.json"
        return json_records.read(Lease, self.store.get(key).data)


@pytest.fixture
def world() -> World:
    world = World()
    world.queue().put(NewTask("a", {"n": 1}))
    return world


def test_a_lease_is_alive_until_the_stores_clock_says_otherwise(world: World) -> None:
    assert world.queue().claim()
    world.later(299)
    with pytest.raises(QueueError):
        world.person().release("a")
    with pytest.raises(QueueError):
        world.person().sideline("a", "x")
    world.later(4)
    assert world.person().release("a").status == "released"


def test_release_keeps_token_attempts_and_what_is_finished(world: World) -> None:
    assert world.queue("first").claim()
    before = world.lease()
    world.later(400)
    world.person().release("a")
    after = world.lease()
    assert (after.token, after.attempt, after.held) == (before.token, before.attempt, False)
    assert after.sequence > before.sequence
    assert [(attempt.worker, attempt.outcome) for attempt in after.history] == [("first", "expired")]


def test_a_worker_whose_lease_was_taken_learns_it_at_its_next_renewal(world: World) -> None:
    for verb in ("release", "sideline"):
        queue = world.queue(verb)
        queue.put(NewTask(verb))
        claim = queue.claim()
        while claim is not None and claim.task.task_id != verb:
            claim = queue.claim()
        assert claim is not None
        person = world.person()
        if verb == "release":
            person.release(verb, force=True)
        else:
            person.sideline(verb, "x", force=True)
        with pytest.raises(LeaseLost):
            queue.renew(claim)
        with pytest.raises(LeaseLost):
            queue.ack(claim, Ok())


def test_an_expired_worker_cannot_complete_what_was_set_aside(world: World) -> None:
    queue = world.queue("slow")
    claim = queue.claim()
    assert claim is not None
    world.later(400)
    claim.written_at -= 400  # its own count of seconds
    assert world.person().sideline("a", "x").status == "sidelined"
    with pytest.raises(LeaseLost):
        queue.ack(claim, Ok())
    assert world.queue().inspect("a").states == [TaskPlace.SIDELINED]


def test_set_aside_with_its_history(world: World) -> None:
    assert world.queue("first").claim()
    world.later(400)
    world.person().sideline("a", "closed for good")
    view = world.queue().inspect("a")
    assert view.task is not None
    assert view.sidelined is not None
    assert (view.sidelined.category, view.sidelined.reason) == ("manual", "closed for good")
    assert [(attempt.worker, attempt.outcome) for attempt in view.task.history] == [("first", "expired")]
    assert view.task.payload == {"n": 1}


def test_what_is_completed_is_not_set_aside(world: World) -> None:
    """The worker died after its completion: the person finishes the clean-up."""
    queue = world.queue()
    claim = queue.claim()
    assert claim is not None
    queue.ack(claim, Ok())  # not cleaned up
    world.later(400)
    assert world.person().sideline("a", "x").status == "already_completed"
    assert world.queue().inspect("a").states == [TaskPlace.COMPLETED]
    assert list(world.store.list(Places("plumbers", "gm-list").pending)) == []


def crash_points(count: int = 12) -> Iterator[tuple[int, FaultKind]]:
    for number in range(1, count + 1):
        yield number, FaultKind.CRASH_BEFORE
        yield number, FaultKind.CRASH_AFTER


@pytest.mark.parametrize("claimed_before", [False, True], ids=["never claimed", "expired"])
@pytest.mark.parametrize(("number", "kind"), list(crash_points()))
def test_a_crash_between_any_two_steps_loses_nothing(
    world: World, number: int, kind: FaultKind, claimed_before: bool
) -> None:
    if claimed_before:
        assert world.queue("first").claim()
        world.later(400)
    tokens = [world.lease().token] if claimed_before else [0]

    def plan(operation: Operation) -> Fault | None:
        return Fault(kind) if operation.number == number else None

    try:
        done = world.person(FaultyStore(world.store, plan)).sideline("a", "x").status == "sidelined"
    except Crashed:
        done = False
    world.later(400)
    claim = world.queue("next").claim()
    states = world.queue().inspect("a").states
    if claim is None:
        assert states == [TaskPlace.SIDELINED]
        assert list(world.store.list(Places("plumbers", "gm-list").pending)) == []
    else:
        assert not done
        assert states == [TaskPlace.PENDING]
        assert claim.token > tokens[0]
        assert claim.task.payload == {"n": 1}


@pytest.mark.parametrize("number", range(1, 12))
def test_a_lost_answer_is_no_lost_race(world: World, number: int) -> None:
    assert world.queue("first").claim()
    world.later(400)

    def plan(operation: Operation) -> Fault | None:
        lost = operation.number == number and operation.name == "put"
        return Fault(FaultKind.LOST_ANSWER) if lost else None

    assert world.person(FaultyStore(world.store, plan)).sideline("a", "x").status == "sidelined"
    assert world.queue().inspect("a").states == [TaskPlace.SIDELINED]


def test_two_people_at_once(world: World) -> None:
    """Between the look and the swap somebody else is quicker: the second sees what the first has done."""
    other = world.person()

    def plan(operation: Operation) -> Fault | None:
        if operation.name == "put" and not done:
            done.append(other.sideline("a", "first").status)
        return None

    done: list[str] = []
    second = world.person(FaultyStore(world.store, plan)).sideline("a", "second").status
    assert (done, second) == (["sidelined"], "already_sidelined")
    aside = world.queue().inspect("a")
    assert aside.sidelined is not None
    assert aside.sidelined.reason == "first"


def test_a_recovered_task_can_be_set_aside_again(world: World) -> None:
    tokens = [0]
    for life in range(3):
        assert world.person().sideline("a", f"life {life}").status == "sidelined"
        assert [recovered.outcome for recovered in world.queue().recover(task_ids=["a"])] == ["recovered"]
        key = Places("plumbers", "gm-list").task("a")
        tokens.append(json_records.read(Task, world.store.get(key).data).last_token)
    assert json_records.read(Task, world.store.get(key).data).recoveries == 3
    assert tokens == sorted(set(tokens))
    claim = world.queue().claim()
    assert claim is not None
    assert (claim.attempt, claim.token > tokens[-1]) == (1, True)
