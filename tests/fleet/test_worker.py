"""The worker's loop: whatever happens to a task, it ends as it should, and nothing is lost."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.effort import effort
from tests.kit.faulty_store import Fault, FaultKind, FaultyStore, Operation
from tests.kit.loop_thread import LoopThread

from cocli.errors import Denied, LeaseLost, ParserAlarm, SourceResting, StoreFull, TooCostly, WorkerGaveUp
from cocli.fleet.drain import Drain
from cocli.fleet.loop_worker import LoopWorker
from cocli.fleet.task_worker import IdleSettings, TaskWorker
from cocli.fleet.worker import Worker
from cocli.models.completion import Blocked, Empty, Failed, Ok, Verdict
from cocli.models.task import Task, TaskError
from cocli.pipeline.stages.stage import VisitCounts
from cocli.queue.base import NewTask, Work
from cocli.queue.leased.queue import LeasedQueue
from cocli.store.memory import MemoryStore

HASTY = IdleSettings(
    idle_first=0.01, idle_longest=0.05, trouble_first=0.01, trouble_longest=0.02, troubles=4, drain=0.4
)


class StageOf:
    """A stage whose work is a function. It fits both kinds of worker."""

    queue = "enrichment"
    counts = VisitCounts()

    def __init__(self, work: Callable[[Task, Work], Verdict], loop: asyncio.AbstractEventLoop) -> None:
        self._work = work
        self.loop = loop

    def run(self, task: Task, work: Work) -> Verdict:
        return self._work(task, work)

    async def visit(self, task: Task, work: Work) -> Verdict:
        return await asyncio.to_thread(self._work, task, work)

    def close(self) -> None: ...


class Bench:
    """Makes workers of one kind: threads, or an event loop."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._thread = LoopThread()
        self.loop = self._thread.loop

    def worker(
        self,
        queue: LeasedQueue,
        work: Callable[[Task, Work], Verdict],
        *,
        threads: int = 2,
        until_empty: bool = True,
        timing: IdleSettings = HASTY,
        on_trouble: Callable[[str], None] | None = None,
    ) -> TaskWorker:
        stage, rng = StageOf(work, self.loop), random.Random(1)
        if self.kind == "threads":
            return Worker(
                stage,
                queue,
                rng=rng,
                threads=threads,
                until_empty=until_empty,
                timing=timing,
                on_trouble=on_trouble,
            )
        return LoopWorker(
            stage, queue, rng=rng, most=threads, until_empty=until_empty, timing=timing, on_trouble=on_trouble
        )

    def close(self) -> None:
        self._thread.close()


@pytest.fixture(scope="module", params=["threads", "loop"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    made = Bench(request.param)
    yield made
    made.close()


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def queue(store: MemoryStore) -> Iterator[LeasedQueue]:
    opened = a_queue(store)
    yield opened
    opened.close()


def a_queue(store: MemoryStore | FaultyStore, *, lease: float = 30.0) -> LeasedQueue:
    return LeasedQueue(store, "c", "enrichment", worker="w", lease_seconds=lease, margin=0.1)


def ask_after(event: threading.Event, drain: Drain) -> None:
    event.wait(5)
    drain.ask()


def put(queue: LeasedQueue, count: int) -> None:
    queue.put_many(NewTask(f"t{number}") for number in range(count))


def held(store: MemoryStore, queue: LeasedQueue) -> int:
    queue.close()
    return a_queue(store).stats().leased


def test_everything_is_done_once_by_several_threads(bench: Bench, store: MemoryStore, queue: LeasedQueue) -> None:
    put(queue, 50)
    seen: Counter[str] = Counter()

    def work(task: Task, _: Work) -> Verdict:
        seen[task.task_id] += 1
        return Ok(count=1)

    one = bench.worker(queue, work, threads=4)
    assert one.run(Drain())
    assert one.tally.counts == {"completed": 50}
    assert set(seen.values()) == {1}
    assert len(seen) == 50
    stats = a_queue(store).stats()
    assert (stats.completed, stats.leased) == (50, 0)


def test_what_a_task_queues_is_done_before_the_worker_ends(bench: Bench, queue: LeasedQueue) -> None:
    put(queue, 1)

    def work(task: Task, _: Work) -> Verdict:
        if len(task.task_id) < 5:
            time.sleep(0.05)  # the other thread sees an empty queue meanwhile
            queue.put(NewTask(task.task_id + "+"))
        return Ok()

    one = bench.worker(queue, work)
    one.run(Drain())
    assert one.tally.counts == {"completed": 4}


@settings(max_examples=effort(15))
@given(verdicts=st.lists(st.sampled_from(["ok", "empty", "blocked", "final", "costly", "retry", "bug"]), max_size=12))
def test_every_task_is_accounted_for(bench: Bench, verdicts: list[str]) -> None:
    store = MemoryStore()
    queue = a_queue(store)
    queue.put_many(NewTask(f"{number}-{verdict}") for number, verdict in enumerate(verdicts))
    said: dict[str, Verdict] = {
        "ok": Ok(),
        "empty": Empty(evidence="the end"),
        "blocked": Blocked(reason="no"),
        "final": Failed(error=TaskError(code="x", message="x", retryable=False)),
        "retry": Failed(error=TaskError(code="x", message="x", retryable=True)),
    }
    patient = IdleSettings(idle_first=0.001, idle_longest=0.01, trouble_first=0.0, troubles=100)

    def work(task: Task, _: Work) -> Verdict:
        verdict = task.task_id.partition("-")[2]
        if verdict == "bug":
            raise ZeroDivisionError("a mistake")
        if verdict == "costly":
            raise TooCostly(what="a page", reason="more than 10 s of processor time")
        return said[verdict]

    one = bench.worker(queue, work, timing=patient)
    one.run(Drain())
    expected = Counter(
        {"ok": "completed", "empty": "completed", "retry": "waiting", "bug": "waiting"}.get(name, "sidelined")
        for name in verdicts
    )
    assert one.tally.counts == dict(expected)
    queue.close()
    stats = a_queue(store).stats()
    assert (stats.completed, sum(stats.sidelined.values()), stats.pending) == (
        expected["completed"],
        expected["sidelined"],
        expected["waiting"],
    )
    assert stats.leased == 0


def test_what_takes_too_much_to_read_is_set_aside_and_troubles_nobody(bench: Bench, queue: LeasedQueue) -> None:
    """It is the fault of what a stranger wrote: tried again it would take as much, on every machine."""
    put(queue, 20)

    def work(_: Task, __: Work) -> Verdict:
        raise TooCostly(what="maps-list/x", reason="more than 10 s of processor time")

    one = bench.worker(queue, work)
    one.run(Drain())
    assert one.tally.counts == {"sidelined": 20}
    assert one.tally.last_error is None
    assert sum(queue.stats().sidelined.values()) == 20


def test_what_is_wrong_with_this_machine_costs_the_task_nothing(bench: Bench, queue: LeasedQueue) -> None:
    put(queue, 1)
    tries: list[int] = []

    def work(_: Task, __: Work) -> Verdict:
        tries.append(1)
        if len(tries) < 3:
            raise StoreFull(address="here", reason="full")
        return Ok()

    one = bench.worker(queue, work, until_empty=False, threads=1)
    one.run(Drain(), seconds=1.0)
    assert one.tally.counts == {"released": 2, "completed": 1}
    completion = queue.inspect("t0").completion
    assert completion is not None
    assert one.tally.last_error is not None
    assert "no space left" in one.tally.last_error


def test_a_machine_that_can_do_nothing_gives_up_and_gives_back(
    bench: Bench, store: MemoryStore, queue: LeasedQueue
) -> None:
    put(queue, 3)
    said: list[str] = []

    def work(_: Task, __: Work) -> Verdict:
        raise OSError(5, "the disk is gone")

    one = bench.worker(queue, work, until_empty=False, on_trouble=said.append)
    with pytest.raises(WorkerGaveUp, match="the disk is gone") as caught:
        one.run(Drain())
    assert caught.value.exit_code != 0
    assert len(said) >= HASTY.troubles
    assert held(store, queue) == 0
    assert a_queue(store).stats().pending == 3


def test_what_is_not_allowed_is_not_waited_for(bench: Bench, store: MemoryStore, queue: LeasedQueue) -> None:
    put(queue, 3)

    def work(_: Task, __: Work) -> Verdict:
        raise Denied(address="s3://bucket", key="k", credentials="…", reason="read only")

    with pytest.raises(Denied):
        bench.worker(queue, work, threads=1, until_empty=False).run(Drain())
    assert held(store, queue) == 0


@pytest.mark.parametrize("until_empty", [True, False])
def test_a_source_that_rests_is_no_trouble(
    bench: Bench, store: MemoryStore, queue: LeasedQueue, until_empty: bool
) -> None:
    put(queue, 2)
    asked: list[float] = []

    def work(_: Task, __: Work) -> Verdict:
        asked.append(time.monotonic())
        raise SourceResting(source="google-maps", until="tomorrow", reason="enough")

    timing = IdleSettings(idle_first=0.01, rest=0.1, troubles=3)
    one = bench.worker(queue, work, threads=1, until_empty=until_empty, timing=timing)
    assert one.run(Drain(), seconds=0.8)
    assert len(asked) == 1 if until_empty else 2 <= len(asked) <= 10
    assert "is not asked again before tomorrow" in str(one.tally.last_error)
    assert held(store, queue) == 0


def test_a_parser_that_finds_nothing_any_more_ends_the_worker(
    bench: Bench, store: MemoryStore, queue: LeasedQueue
) -> None:
    put(queue, 2)

    def work(_: Task, __: Work) -> Verdict:
        raise ParserAlarm(source="google-maps/list", reason="names fell to 0 %")

    with pytest.raises(ParserAlarm):
        bench.worker(queue, work).run(Drain())
    assert held(store, queue) == 0
    assert a_queue(store).stats().pending == 2


def test_a_store_that_is_away_is_waited_for(bench: Bench, store: MemoryStore) -> None:
    away = threading.Event()

    def plan(_: Operation) -> Fault | None:
        return Fault(FaultKind.ERROR) if away.is_set() else None

    queue = a_queue(FaultyStore(store, plan))
    put(queue, 2)
    away.set()
    threading.Timer(0.03, away.clear).start()
    timing = IdleSettings(idle_first=0.01, idle_longest=0.02, trouble_first=0.02, trouble_longest=0.02, troubles=50)
    one = bench.worker(queue, lambda *_: Ok(), threads=1, timing=timing)
    one.run(Drain())
    assert one.tally.counts == {"completed": 2}
    queue.close()


def test_a_store_that_stays_away_ends_the_worker(bench: Bench, store: MemoryStore) -> None:
    queue = a_queue(FaultyStore(store, lambda _: Fault(FaultKind.ERROR)))
    with pytest.raises(WorkerGaveUp):
        bench.worker(queue, lambda *_: Ok()).run(Drain())


def test_a_lost_lease_is_dropped_and_counted(bench: Bench, store: MemoryStore) -> None:
    queue = a_queue(store, lease=0.3)
    put(queue, 1)
    lost = threading.Event()

    def work(task: Task, work: Work) -> Verdict:
        key = next(info.key for info in store.list() if info.key.endswith("lease.json"))
        lease = store.get(key)
        store.put(key, lease.data.replace(b'"worker":"w"', b'"worker":"x"'))
        for _ in range(100):
            time.sleep(0.02)
            try:
                work.check()
            except LeaseLost:
                lost.set()
                raise
        return Ok()

    one = bench.worker(queue, work, until_empty=False, threads=1)
    drain = Drain()
    threading.Thread(target=ask_after, args=(lost, drain)).start()
    one.run(drain)
    assert one.tally.counts == {"lost": 1}
    assert lost.is_set()
    queue.close()


# --- ending


def test_asked_once_it_finishes_what_is_in_hand_and_takes_nothing_more(
    bench: Bench, store: MemoryStore, queue: LeasedQueue
) -> None:
    put(queue, 5)
    began, drain = threading.Event(), Drain()

    def work(_: Task, __: Work) -> Verdict:
        began.set()
        while not drain.asked:
            time.sleep(0.001)
        return Ok()

    one = bench.worker(queue, work, threads=1, until_empty=False)
    threading.Thread(target=ask_after, args=(began, drain)).start()
    assert one.run(drain)
    assert one.tally.counts == {"completed": 1}
    assert held(store, queue) == 0


@pytest.mark.parametrize("times", [1, 2])
def test_what_does_not_end_is_given_back_in_time(
    bench: Bench, store: MemoryStore, queue: LeasedQueue, times: int
) -> None:
    put(queue, 1)
    began, never, drain = threading.Event(), threading.Event(), Drain()

    def work(_: Task, __: Work) -> Verdict:
        began.set()
        never.wait(20)
        return Ok()

    def ask() -> None:
        began.wait(5)
        for _ in range(times):
            drain.ask()

    one = bench.worker(queue, work, threads=1, until_empty=False)
    threading.Thread(target=ask).start()
    started = time.monotonic()
    assert not one.run(drain)
    took = time.monotonic() - started
    assert took < HASTY.drain + 15, "it does not wait for the work, which takes 20 s"
    assert one.tally.counts == {"released": 1}
    never.set()
    again = a_queue(store).claim()
    assert again is not None, "somebody else can have it at once"
    time.sleep(0.05)
    assert one.tally.counts == {"released": 1}, "the thread that went on has nothing to say any more"


def test_it_ends_when_its_time_is_up(bench: Bench, queue: LeasedQueue) -> None:
    started = time.monotonic()
    assert bench.worker(queue, lambda *_: Ok(), until_empty=False).run(Drain(), seconds=0.2)
    assert time.monotonic() - started < 30


def test_a_report_says_what_is_in_hand(bench: Bench, queue: LeasedQueue) -> None:
    put(queue, 1)
    seen = []

    def work(_: Task, __: Work) -> Verdict:
        seen.append(one.tally.report("enrichment", "w"))
        return Ok()

    one = bench.worker(queue, work)
    one.run(Drain())
    assert [task.task_id for task in seen[0].active] == ["t0"]
    after = one.tally.report("enrichment", "w")
    assert (after.active, after.completed) == ((), 1)


def test_an_empty_queue_is_not_asked_all_the_time(bench: Bench, store: MemoryStore) -> None:
    looks: list[str] = []

    def plan(operation: Operation) -> Fault | None:
        looks.append(operation.name)
        return None

    queue = a_queue(FaultyStore(store, plan))
    slow = IdleSettings(idle_first=0.1, idle_longest=0.4)
    bench.worker(queue, lambda *_: Ok(), threads=8, until_empty=False, timing=slow).run(Drain(), seconds=1.0)
    assert looks.count("list") <= 2 * 10, "eight threads look no more often than one"
