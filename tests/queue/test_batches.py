"""Batches: one lease, many items, one row each; what is finished is not done again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.kit.manual_time import ManualTime

from cocli.errors import UsageError
from cocli.models.completion import Failed, Ok
from cocli.models.task import TaskError, TaskItem
from cocli.queue.base import AckOutcome, NewTask, PutOutcome
from cocli.queue.leased.claim import LeasedClaim
from cocli.queue.leased.queue import LeasedQueue
from cocli.store.counting import CountingStore
from cocli.store.memory import MemoryStore

MakeQueue = Callable[..., LeasedQueue]


def batch(count: int, task_id: str = "batch-1") -> NewTask:
    return NewTask(task_id, items=[TaskItem(item_id=f"i{n}") for n in range(count)])


def claimed(queue: LeasedQueue) -> LeasedClaim:
    claim = queue.claim()
    assert claim is not None
    return claim


def test_a_batch_costs_two_writes(make_queue: MakeQueue, store: MemoryStore) -> None:
    make_queue().put(batch(100))
    counting = CountingStore(store)
    queue = make_queue("counted", store=counting)
    claim = claimed(queue)
    for item in claim.remaining:
        queue.finish_item(claim, item.item_id, Ok(result={"n": item.item_id}))
    assert queue.ack_batch(claim) is AckOutcome.COMPLETED
    assert counting.counts["put"] == 2
    queue.close()
    view = queue.inspect("batch-1")
    assert [(row.item_id, row.result) for row in view.items] == [(f"i{n}", {"n": f"i{n}"}) for n in range(100)]
    assert queue.put(batch(100)) is PutOutcome.ALREADY_COMPLETED


def test_finished_items_are_not_done_again_after_a_crash(make_queue: MakeQueue, time: ManualTime) -> None:
    dies, other = make_queue("dies"), make_queue("other")
    dies.put(batch(10))
    claim = claimed(dies)
    for number in range(4):
        dies.finish_item(claim, f"i{number}", Ok())
    dies.checkpoint(claim)
    dies.finish_item(claim, "i4", Ok())  # not written down any more
    time.pass_by(100, renewing=False)
    taken = claimed(other)
    assert [item.item_id for item in taken.remaining] == [f"i{n}" for n in range(4, 10)]
    for item in taken.remaining:
        other.finish_item(taken, item.item_id, Ok())
    assert other.ack_batch(taken) is AckOutcome.COMPLETED
    rows = other.inspect("batch-1").items
    assert [(row.item_id, row.worker, row.token) for row in rows][3:5] == [("i3", "dies", 1), ("i4", "other", 2)]


def test_progress_is_written_down_by_itself(make_queue: MakeQueue, time: ManualTime) -> None:
    slow, other = make_queue("slow"), make_queue("other")
    slow.put(batch(10))
    claim = claimed(slow)
    for number in range(6):
        time.pass_by(6, renewing=False)
        slow.finish_item(claim, f"i{number}", Ok())
    time.pass_by(100, renewing=False)
    assert len(claimed(other).remaining) == 4


def test_release_keeps_what_is_finished(make_queue: MakeQueue) -> None:
    queue = make_queue()
    queue.put(batch(3))
    claim = claimed(queue)
    queue.finish_item(claim, "i1", Ok())
    queue.release(claim)
    assert [item.item_id for item in claimed(make_queue("other")).remaining] == ["i0", "i2"]


def test_a_batch_that_is_not_finished_cannot_be_acked(make_queue: MakeQueue) -> None:
    queue = make_queue()
    queue.put(batch(2))
    claim = claimed(queue)
    queue.finish_item(claim, "i0", Ok())
    with pytest.raises(UsageError, match="1 items"):
        queue.ack_batch(claim)
    with pytest.raises(UsageError, match="no item"):
        queue.finish_item(claim, "other", Ok())


def test_items_that_may_succeed_next_time_come_back_a_bounded_number_of_times(make_queue: MakeQueue) -> None:
    queue = make_queue(attempts=3)
    queue.put(batch(3))
    seen = []
    while claim := queue.claim():
        seen.append([item.item_id for item in claim.remaining])
        for item in claim.remaining:
            fails = item.item_id == "i2"
            error = TaskError(code="timeout", message="slow", retryable=True)
            queue.finish_item(claim, item.item_id, Failed(error=error) if fails else Ok())
        queue.ack_batch(claim)
    assert seen == [["i0", "i1", "i2"], ["i2"], ["i2"]]


def test_a_batch_can_be_split(make_queue: MakeQueue) -> None:
    queue = make_queue()
    queue.put(batch(10))
    claim = claimed(queue)
    queue.finish_item(claim, "i0", Ok())
    assert queue.split(claim, 3) is AckOutcome.COMPLETED
    parts: list[str] = []
    while part := queue.claim():
        parts += [item.item_id for item in part.remaining]
        for item in part.remaining:
            queue.finish_item(part, item.item_id, Ok())
        queue.ack_batch(part)
    assert sorted(parts) == [f"i{n}" for n in range(1, 10)]
    moved = {row.item_id: row.result for row in queue.inspect("batch-1").items}
    assert moved["i0"] == {}
    assert moved["i1"] == {"moved_to": "batch-1+part-1"}
