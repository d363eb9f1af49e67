"""What killed workers leave of tasks that have ended is removed at once; what is still to be done stays."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from cocli.app.queues.leftovers import remove_leftovers
from cocli.app.queues.queues import QueueOnStore
from cocli.formats import json_records
from cocli.keys.paths import task_files, task_folder
from cocli.models.completion import Blocked, Ok
from cocli.models.task import Task
from cocli.queue.base import Claim, NewTask, TaskPlace
from cocli.queue.leased.queue import LeasedQueue
from cocli.queue.places import Places
from cocli.store.memory import MemoryStore
from tests.kit.faulty_store import Crashed, Fault, FaultKind, FaultyStore, Operation

PLACE = Places("plumbers", "gm-list")
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


class World:
    """A store whose clock stands still: no lease runs out in it."""

    def __init__(self) -> None:
        self.time = NOW
        self.store = MemoryStore(clock=lambda: self.time)
        self.queue = LeasedQueue(self.store, "plumbers", "gm-list", worker="w", lease_seconds=300)

    def killed_before_deleting(self, file: str) -> LeasedQueue:
        """A worker whose machine dies when it is about to remove this file."""

        def plan(operation: Operation) -> Fault | None:
            dies = operation.name == "delete" and operation.key.endswith(file)
            return Fault(FaultKind.CRASH_BEFORE) if dies else None

        return LeasedQueue(FaultyStore(self.store, plan), "plumbers", "gm-list", worker="killed", lease_seconds=300)

    def remove(self) -> int:
        place = QueueOnStore(self.store, PLACE, "plumbers", "gm-list")
        return remove_leftovers(place, self.folders())

    def folders(self) -> list[str]:
        found = (task_folder(info.key) for info in self.store.list(PLACE.pending))
        return list(dict.fromkeys(folder[0] for folder in found if folder))

    def states(self, task_id: str) -> list[TaskPlace]:
        return list(self.queue.inspect(task_id).states)


def claimed(queue: LeasedQueue) -> Claim:
    claim = queue.claim()
    assert claim is not None
    return claim


@pytest.mark.parametrize("file", ["task.json", "lease.json"])
def test_a_completed_task_is_removed_though_its_lease_lasts(file: str) -> None:
    world = World()
    world.queue.put(NewTask("t"))
    worker = world.killed_before_deleting(file)
    worker.ack(claimed(worker), Ok())
    with pytest.raises(Crashed):
        worker.close()
    assert world.states("t") == [TaskPlace.PENDING, TaskPlace.COMPLETED]
    assert world.remove() == 1
    assert world.folders() == []
    assert world.states("t") == [TaskPlace.COMPLETED]


def test_a_task_that_was_set_aside_is_removed_and_its_token_is_kept() -> None:
    world = World()
    world.queue.put(NewTask("t"))
    worker = world.killed_before_deleting("task.json")
    with pytest.raises(Crashed):
        worker.ack(claimed(worker), Blocked(reason="captcha"))
    assert world.remove() == 1
    assert world.states("t") == [TaskPlace.SIDELINED]
    world.queue.recover()
    assert claimed(world.queue).token > 1


def test_what_is_waiting_or_in_hand_stays() -> None:
    world = World()
    world.queue.put_many([NewTask("waits"), NewTask("in-hand")])
    held = claimed(world.queue)
    assert world.remove() == 0
    assert len(world.folders()) == 2
    world.queue.ack(held, Ok())


def test_a_task_that_came_back_from_the_sideline_stays() -> None:
    world = World()
    world.queue.put(NewTask("t"))
    world.queue.ack(claimed(world.queue), Blocked(reason="captcha"))
    [aside] = [info.key for info in world.store.list(PLACE.sideline)]
    entry = world.store.get(aside).data
    world.queue.recover()
    world.store.put(aside, entry)  # as a recovery leaves it that was cut off before its last step
    assert world.remove() == 0
    assert claimed(world.queue).task.task_id == "t"


def test_a_next_life_is_not_removed_with_the_last_one() -> None:
    """The task is put anew between the look and the removal: another object stands there."""
    world = World()
    world.queue.put(NewTask("t"))
    worker = world.killed_before_deleting("task.json")
    worker.ack(claimed(worker), Ok())
    with pytest.raises(Crashed):
        worker.close()
    task_key = task_files(world.folders()[0])[0]
    born = json_records.read(Task, world.store.get(task_key).data, file=task_key)

    def put_anew(operation: Operation) -> None:
        if operation.name == "delete":
            anew = born.with_changes(created_at=NOW + timedelta(seconds=1), nonce="another-life")
            world.store.put(task_key, json_records.render(anew))

    place = QueueOnStore(FaultyStore(world.store, put_anew), PLACE, "plumbers", "gm-list")
    assert remove_leftovers(place, world.folders()) == 0
    assert world.store.get(task_key)


def test_it_stops_when_it_is_told_to() -> None:
    world = World()
    for name in ("a", "b"):
        world.queue.put(NewTask(name))
        worker = world.killed_before_deleting("task.json")
        worker.ack(claimed(worker), Ok())
        with pytest.raises(Crashed):
            worker.close()
    place = QueueOnStore(world.store, PLACE, "plumbers", "gm-list")
    answers = iter([False, True])
    assert remove_leftovers(place, world.folders(), stop=lambda: next(answers)) == 1
    assert len(world.folders()) == 1
