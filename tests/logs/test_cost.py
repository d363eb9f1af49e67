"""What logging costs where nobody asked for it: a few questions per task, and never a record. Counted, not timed."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

from cocli import logs
from cocli.logs import records
from cocli.models.completion import Ok
from cocli.queue.base import NewTask
from cocli.queue.leased.queue import LeasedQueue
from cocli.store.memory import MemoryStore

TASKS = 200
QUESTIONS_PER_TASK = 10


def calls_into_logging(work: Callable[[], None]) -> Counter[str]:
    """How often which function of `logging` and of ours was called."""
    files = {logging.__file__, records.__file__}
    counts: Counter[str] = Counter()

    def notice(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename in files:
            counts[frame.f_code.co_name] += 1

    sys.setprofile(notice)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counts


def do_all(queue: LeasedQueue) -> None:
    done = 0
    while claim := queue.claim():
        with queue.held(claim):
            pass
        queue.ack(claim, Ok())
        done += 1
    queue.close()
    assert done == TASKS


def filled_queue() -> LeasedQueue:
    queue = LeasedQueue(MemoryStore(), "plumbers", "details", worker="w1")
    queue.put_many(NewTask(f"t{number}") for number in range(TASKS))
    return queue


def test_a_task_costs_a_few_questions_and_no_record() -> None:
    queue = filled_queue()
    counts = calls_into_logging(lambda: do_all(queue))
    assert counts["makeRecord"] == counts["_complete"] == counts["harmless"] == 0
    assert counts["debug"] <= TASKS // 10, "who runs often asks before it puts anything together"
    assert counts["isEnabledFor"] <= QUESTIONS_PER_TASK * TASKS
    assert counts["bound"] <= 2 * TASKS, "once for the block of work"


def test_the_count_notices_records() -> None:
    """The other test could not fail if this counted nothing."""
    logging.getLogger("cocli.queue").setLevel(logging.DEBUG)
    try:
        queue = filled_queue()
        counts = calls_into_logging(lambda: do_all(queue))
    finally:
        logging.getLogger("cocli.queue").setLevel(logging.NOTSET)
    assert counts["_complete"] >= 2 * TASKS
    assert counts["harmless"] > counts["_complete"]
    assert logs.FIELDS == ("campaign", "queue", "task", "host")
