"""The worker of stages that wait: hundreds in flight, ended in groups, renewed together, and killed at any moment."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.killed_loop_worker import as_many_as_may, opened_queue, work_off
from tests.kit.effort import effort
from tests.kit.faulty_store import Fault, FaultKind, FaultyStore, Operation
from tests.kit.loop_thread import LoopThread

from cocli.errors import CocliError, StoreError
from cocli.fleet.drain import Drain
from cocli.fleet.loop_worker import LoopWorker
from cocli.fleet.scaling.load import Limit
from cocli.fleet.task_worker import IdleSettings
from cocli.models.completion import Blocked, Ok, Verdict
from cocli.models.task import Task
from cocli.pipeline.stages.stage import VisitCounts
from cocli.queue.base import AckOutcome, Claim, NewTask, Work
from cocli.queue.leased.queue import LeasedQueue
from cocli.store import open_store
from cocli.store.base import Put, Store
from cocli.store.counting import CountingStore
from cocli.store.memory import MemoryStore

HASTY = IdleSettings(idle_first=0.01, idle_longest=0.05, trouble_first=0.2, trouble_longest=0.5, troubles=4, drain=0.4)
Visit = Callable[[Task, Work], Coroutine[Any, Any, Verdict]]


class VisitingStage:
    queue = "enrichment"
    counts = VisitCounts()

    def __init__(self, visit: Visit, loop: asyncio.AbstractEventLoop) -> None:
        self.visit = visit
        self.loop = loop

    def close(self) -> None: ...


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    with LoopThread() as thread:
        yield thread.loop


def a_queue(store: Store, *, lease: float = 60.0) -> LeasedQueue:
    return LeasedQueue(store, "c", "enrichment", worker="w", lease_seconds=lease, margin=0.1)


def a_worker(queue: LeasedQueue, visit: Visit, loop: asyncio.AbstractEventLoop, **values: Any) -> LoopWorker:
    given = {"most": 400, "until_empty": True, "timing": HASTY, **values}
    return LoopWorker(VisitingStage(visit, loop), queue, rng=random.Random(1), **given)


class CountedQueue(LeasedQueue):
    """How many tasks were ended together."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.acked: list[int] = []

    def ack_many(self, ended: Sequence[tuple[Claim, Verdict]]) -> list[AckOutcome | CocliError]:
        self.acked.append(len(ended))
        return super().ack_many(ended)


class Groups(CountingStore):
    """How many objects were written together, by the name of their files."""

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self.sizes: dict[str, list[int]] = {"lease.json": [], "single": []}

    def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
        if "/leases/" in key or key.endswith("lease.json"):
            self.sizes["single"].append(1)
        return super().put(key, data, if_absent=if_absent, if_match=if_match)

    def put_many(self, puts: Iterable[Put]) -> Sequence[str | StoreError]:
        asked = list(puts)
        if asked and all(put.if_match is not None for put in asked):
            self.sizes["lease.json"].append(len(asked))
        return super().put_many(asked)


# --- many at a time


def test_hundreds_are_in_flight_and_end_in_groups(loop: asyncio.AbstractEventLoop) -> None:
    queue = CountedQueue(MemoryStore(), "c", "enrichment", worker="w")
    queue.put_many(NewTask(f"t{number}") for number in range(600))
    inside, most, all_there = 0, 0, asyncio.Event()

    async def visit(_: Task, __: Work) -> Verdict:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        if inside >= 300:
            all_there.set()
        await all_there.wait()
        inside -= 1
        return Ok()

    worker = a_worker(queue, visit, loop, scaling=as_many_as_may)
    assert worker.run(Drain())
    assert worker.tally.counts == {"completed": 600}
    assert 300 <= most <= 400
    assert len(queue.acked) < 200, "ended in groups, not one by one"
    queue.close()


@pytest.mark.parametrize("together", [True, False])
def test_what_is_set_aside_ends_in_groups_where_the_queue_can(loop: asyncio.AbstractEventLoop, together: bool) -> None:
    class Queue(CountedQueue):
        ends_together = together

    queue = Queue(MemoryStore(), "c", "enrichment", worker="w")
    queue.put_many(NewTask(f"t{number}") for number in range(64))
    inside, all_there = 0, asyncio.Event()

    async def visit(task: Task, _: Work) -> Verdict:
        nonlocal inside
        inside += 1
        if inside == 64:
            all_there.set()
        await all_there.wait()
        return Ok() if task.task_id == "t7" else Blocked(reason="a consent page")

    worker = a_worker(queue, visit, loop, scaling=as_many_as_may)
    assert worker.run(Drain())
    assert worker.tally.counts == {"completed": 1, "sidelined": 63}
    assert queue.stats().sidelined == {"blocked": 63}
    if together:
        assert len(queue.acked) < 10
    else:
        assert queue.acked == [1] * 64
    queue.close()


def test_leases_are_renewed_together(loop: asyncio.AbstractEventLoop) -> None:
    store = Groups(MemoryStore())
    queue = a_queue(store, lease=6.0)
    queue.put_many(NewTask(f"t{number}") for number in range(30))
    drain, began = Drain(), Counter[str]()

    async def visit(task: Task, _: Work) -> Verdict:
        began[task.task_id] += 1
        while sum(store.sizes["lease.json"]) < 30:  # noqa: ASYNC110  a thread counts
            await asyncio.sleep(0.02)
        return Ok()

    worker = a_worker(queue, visit, loop)
    assert worker.run(drain)
    renewals = store.sizes["lease.json"]
    assert sum(renewals) >= 30
    assert max(renewals) > 15, "those that are due go together"
    assert len(store.sizes["single"]) < 10, "hardly one goes alone"
    assert worker.tally.counts == {"completed": 30}
    assert set(began.values()) == {1}
    queue.close()


def test_a_lost_lease_breaks_off_that_visit_alone(loop: asyncio.AbstractEventLoop) -> None:
    store = MemoryStore()
    queue = a_queue(store, lease=1.0)
    queue.put_many(NewTask(f"t{number}") for number in range(20))
    broken_off = asyncio.Event()

    async def visit(task: Task, _: Work) -> Verdict:
        if task.task_id != "t7":
            await broken_off.wait()
            return Ok()
        key = next(info.key for info in store.list() if info.key.endswith("/t7/lease.json"))
        lease = store.get(key)
        store.put(key, lease.data.replace(b'"worker":"w"', b'"worker":"x"'))
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            broken_off.set()
            raise
        return Ok()

    drain = Drain()
    worker = a_worker(queue, visit, loop, until_empty=False)
    asker = threading.Thread(target=lambda: _ask_when(drain, lambda: worker.tally.counts.get("completed") == 19))
    asker.start()
    worker.run(drain)
    asker.join()
    assert worker.tally.counts == {"completed": 19, "lost": 1}
    queue.close()


def test_a_store_that_goes_away_under_hundreds_is_one_trouble(loop: asyncio.AbstractEventLoop) -> None:
    away = threading.Event()

    def plan(_: Operation) -> Fault | None:
        return Fault(FaultKind.ERROR) if away.is_set() else None

    queue = a_queue(FaultyStore(MemoryStore(), plan), lease=2.0)
    queue.put_many(NewTask(f"t{number}") for number in range(200))
    said: list[str] = []
    inside = 0

    async def visit(_: Task, __: Work) -> Verdict:
        nonlocal inside
        inside += 1
        if inside == 30:
            away.set()
            asyncio.get_running_loop().call_later(0.3, away.clear)
        if inside >= 30 and away.is_set():
            raise StoreError(address="here", reason="away")
        return Ok()

    drain = Drain()
    worker = a_worker(queue, visit, loop, until_empty=False, on_trouble=said.append)
    asker = threading.Thread(target=lambda: _ask_when(drain, lambda: a_queue_is_done(queue)))
    asker.start()
    worker.run(drain)
    asker.join()
    assert 1 <= len(said) < HASTY.troubles
    queue.close()


def a_queue_is_done(queue: LeasedQueue) -> bool:
    try:
        return queue.stats().pending == 0
    except StoreError:
        return False


def _ask_when(drain: Drain, is_time: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until and not is_time():
        time.sleep(0.02)
    drain.ask()


def test_what_limits_is_said(loop: asyncio.AbstractEventLoop) -> None:
    queue = a_queue(MemoryStore())
    queue.put_many(NewTask(f"t{number}") for number in range(3))

    async def visit(_: Task, __: Work) -> Verdict:
        while worker.tally.limited_by is None:  # noqa: ASYNC110  somebody else says it
            await asyncio.sleep(0.02)
        return Ok()

    worker = a_worker(queue, visit, loop)
    worker.run(Drain())
    assert worker.tally.report("enrichment", "w").limited_by in set(Limit)
    queue.close()


# --- killed


class HoldingServer:
    """Answers the first requests at once and holds all others, until it is told to answer everybody."""

    def __init__(self, at_once: int) -> None:
        self._left = at_once
        self._open = asyncio.Event()
        self.held: set[str] = set()
        self.asked: Counter[str] = Counter()
        self.port = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        name = (await reader.readline()).decode().strip()
        self.asked[name] += 1
        self._left -= 1
        if self._left < 0 and not self._open.is_set():
            self.held.add(name)
            await self._open.wait()
        try:
            writer.write(b"yes\n")
            await writer.drain()
            writer.close()
        except ConnectionError:
            pass  # whoever asked was killed

    async def start(self) -> None:
        listening = await asyncio.start_server(self.answer, "127.0.0.1", 0, backlog=1000)
        self.port = listening.sockets[0].getsockname()[1]
        self._listening = listening

    async def answer_everybody(self) -> None:
        self._open.set()

    async def stop(self) -> None:
        self._open.set()
        self._listening.close()
        await self._listening.wait_closed()


IN_FLIGHT = effort(100)
"""500 with COCLI_TEST_EFFORT=5."""


def test_killed_with_hundreds_in_flight_none_is_lost_and_only_those_are_repeated(tmp_path: Path) -> None:
    store = open_store(str(tmp_path), fsync="never")
    tasks, at_once, most = 2 * IN_FLIGHT, IN_FLIGHT // 3, IN_FLIGHT
    opened_queue(store, "putter").put_many(NewTask(f"t{number}") for number in range(tasks))
    server = HoldingServer(at_once)
    with LoopThread() as thread:
        thread.call(server.start())
        script = Path(__file__).with_name("killed_loop_worker.py")
        words = [sys.executable, str(script), str(tmp_path), str(server.port), str(most)]
        process = subprocess.Popen(words)
        until = time.monotonic() + 120
        while len(server.held) < most and time.monotonic() < until and process.poll() is None:
            time.sleep(0.02)
        process.kill()
        process.wait()
        assert len(server.held) == most, "it had as many in flight as it may"
        in_flight = set(server.held)
        thread.call(server.answer_everybody())
        while time.monotonic() < until and opened_queue(store, "looker").stats().pending:
            work_off(str(tmp_path), server.port, most, "follower")
        stats = opened_queue(store, "looker").stats()
        assert (stats.pending, stats.completed) == (0, tasks)
        repeated = {name: times for name, times in server.asked.items() if times > 1}
        assert in_flight <= repeated.keys(), "nobody had ended those that were in flight"
        assert set(repeated.values()) == {2}
        assert len(repeated) <= most, "what was ended is not done again"
        assert len(server.asked) == tasks
        answers = {info.key for info in store.list("answers/")}
        assert len(answers) == tasks, "everything that was learnt is kept"
        thread.call(server.stop())
