"""The S3 part of the queue's benchmark: requests and what they cost, and workers far from the bucket.

Run as a program, this is the proxy that adds the distance: in a process of its own, because its work is none of ours.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.kit import servers
from tests.kit.fault_proxy import fault_proxy

from benchmarks.queue_contenders import AT_A_TIME, PAYLOAD
from cocli.models.completion import Ok
from cocli.models.task import TaskItem
from cocli.queue.base import NewTask
from cocli.queue.leased.queue import LeasedQueue
from cocli.store import Store, open_store
from cocli.store.counting import CountingStore
from cocli.store.memory import MemoryStore
from cocli.store.wrapper import WrappedStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from benchmarks.harness import Bench
    from cocli.errors import StoreError
    from cocli.store.base import Put, StoredObject

ITEMS = 100
LATENCY = 0.06
WORKERS = 32
FEW = 8
"""Workers that a small machine can serve as quickly as they ask: server, proxy and workers share its cores."""
TASKS_EACH = 25
BATCHES_EACH = 8
BUCKET = "cocli-bench"
USD_PER_MILLION = {"put": 5.0, "list": 5.0, "get": 0.4, "head": 0.4}
"""S3 Standard, us-east-1, per million requests; deletes are free."""


def measure(bench: Bench, folder: Path, tasks: int, depth: int) -> None:
    os.environ.update(servers.credentials_environment())
    with servers.seaweedfs(folder) as server:
        servers.create_bucket(server, BUCKET)
        _requests(bench, open_store(server.url(BUCKET, "counted")), tasks)
        with _far_away(server.endpoint) as endpoint:
            near = open_store(server.url(BUCKET, "far"))
            far = [_Worker(f"s3://{BUCKET}/far?endpoint={endpoint}&region={servers.REGION}") for _ in range(WORKERS)]
            _single(bench, near, far, depth)
            _batches(bench, near, far)
    _round_trips(bench)


def _requests(bench: Bench, store: Store, tasks: int) -> None:
    bench.note(f"S3: requests for {tasks:,} of {tasks * 2:,} pending tasks")
    LeasedQueue(store, "bench", "tasks").put_many(NewTask(f"task-{n}", {"p": PAYLOAD}) for n in range(tasks * 2))
    counting = CountingStore(store)
    worker = _Worker(store=counting)
    worker.start("tasks")
    worker.one_by_one(tasks - 1)
    worker.last_one()
    worker.end()
    per_task = {kind: counting.counts[kind] / tasks for kind in ("put", "get", "head", "list")}
    usd = sum(per_task[kind] * price for kind, price in USD_PER_MILLION.items())
    conditions = f"{tasks:,} tasks, SeaweedFS; gets {per_task['get']:.2f} per task"
    bench.measure("s3_puts_per_task", per_task["put"], peer="limit", peer_value=2, conditions=conditions)
    bench.measure("s3_lists_per_claim", per_task["list"], peer="limit", peer_value=0.005, conditions=conditions)
    bench.measure("s3_usd_per_million", usd, unit="USD", conditions="public prices of S3 Standard, us-east-1")
    _requests_of_groups(bench, counting)


def _requests_of_groups(bench: Bench, counting: CountingStore) -> None:
    """What is left, sixteen at a time, by one worker beside the server."""
    counting.reset()
    queue, done, started = LeasedQueue(counting, "bench", "tasks"), 0, time.perf_counter()
    while claims := queue.claim_many(AT_A_TIME):
        done += len(queue.ack_many([(claim, Ok()) for claim in claims]))
    queue.close()
    seconds = time.perf_counter() - started
    per_task = {kind: counting.counts[kind] / done for kind in ("put", "get", "list", "delete_requests")}
    shown = ", ".join(f"{kind} {count:.3f}" for kind, count in per_task.items())
    conditions = f"{done:,} tasks, {AT_A_TIME} at a time, SeaweedFS: {shown}"
    bench.measure("s3_group16_requests_per_task", sum(per_task.values()), conditions=conditions)
    bench.measure("s3_group16_near_s", done / seconds, unit="tasks/s", conditions=f"{conditions}; no latency added")


# --- far from the bucket


class _Worker:
    """One of many on machines of their own: its own client, its own queue."""

    def __init__(self, url: str = "", store: Store | None = None) -> None:
        self._store = store or open_store(url)
        self._store.now()

    def start(self, name: str) -> None:
        """Up to the first claim, which lists: a listing serves hundreds of claims, and belongs to none of them."""
        self._queue = LeasedQueue(self._store, "bench", name)
        self._claim = self._queue.claim()

    def one_by_one(self, tasks: int) -> None:
        for _ in range(tasks):
            if self._claim is None:
                return
            _, self._claim = self._queue.ack_and_claim(self._claim, Ok())

    def last_one(self) -> None:
        if self._claim is not None:
            self._queue.ack(self._claim, Ok())
        self._claim = None

    def many_at_a_time(self, turns: int) -> None:
        for _ in range(turns):
            claims = self._queue.claim_many(AT_A_TIME)
            self._queue.ack_many([(claim, Ok()) for claim in claims])

    def batches(self, batches: int) -> None:
        claim = self._claim
        for number in range(batches):
            claim = claim if number == 0 else self._queue.claim()
            if claim is None:
                return
            for item in claim.remaining:
                self._queue.finish_item(claim, item.item_id, Ok())
            self._queue.ack_batch(claim)
        self._claim = None

    def round_trips(self, count: int) -> None:
        """Nothing but writes: how long the way is."""
        for number in range(count):
            self._store.put(f"bare/{id(self)}/{number}", PAYLOAD.encode())

    def end(self) -> None:
        if self._claim is not None:
            self._queue.release(self._claim)
        self._queue.close()


def _single(bench: Bench, near: Store, far: list[_Worker], depth: int) -> None:
    bench.note(f"S3 with {LATENCY * 1000:.0f} ms per request: filling {depth:,} tasks")
    LeasedQueue(near, "bench", "single").put_many(NewTask(f"task-{n}", {"p": PAYLOAD}) for n in range(depth))
    _together(far, lambda worker: worker.start("single"))
    for workers, suffix in ((far, ""), (far[:FEW], "_few")):
        bench.note(f"S3, {len(workers)} workers: {TASKS_EACH} times two bare round trips, then {TASKS_EACH} tasks each")
        bare = len(workers) * TASKS_EACH / _together(workers, lambda worker: worker.round_trips(2 * TASKS_EACH))
        rate = len(workers) * TASKS_EACH / _together(workers, lambda worker: worker.one_by_one(TASKS_EACH))
        limit = len(workers) / (2 * LATENCY)
        conditions = (
            f"{len(workers)} workers, {rate:,.0f} tasks/s; two round trips each would allow {limit:,.0f}/s by their "
            f"latency alone, and {bare:,.0f}/s as measured with bare writes on this machine"
        )
        bench.measure(f"s3_latency_share{suffix}", rate / limit, peer="limit", peer_value=0.9, conditions=conditions)
        bench.measure(f"s3_over_bare{suffix}", rate / bare, peer="two bare writes", conditions=conditions)
    bench.note(f"S3, {FEW} workers, {AT_A_TIME} at a time")
    many = FEW * AT_A_TIME * 2 / _together(far[:FEW], lambda worker: worker.many_at_a_time(2))
    _together(far, lambda worker: worker.end())
    conditions = f"{AT_A_TIME} at a time, {FEW} workers, 60 ms"
    bench.measure("s3_many_s", many, unit="tasks/s", conditions=conditions)


def _round_trips(bench: Bench) -> None:
    """The same workers and the same wait, with memory instead of a server that shares the machine's cores with them."""
    depth, limit = 10_000, WORKERS / (2 * LATENCY)
    bench.note(f"memory with {LATENCY * 1000:.0f} ms per request, {WORKERS} workers")
    memory = MemoryStore()
    LeasedQueue(memory, "bench", "single").put_many(NewTask(f"task-{n}", {"p": PAYLOAD}) for n in range(depth))
    workers = [_Worker(store=_Waiting(memory)) for _ in range(WORKERS)]
    _together(workers, lambda worker: worker.start("single"))
    rate = WORKERS * TASKS_EACH / _together(workers, lambda worker: worker.one_by_one(TASKS_EACH))
    conditions = (
        f"{WORKERS} workers, {rate:,.0f} tasks/s of {limit:,.0f}/s; a store that waits 60 ms per request, no server"
    )
    bench.measure("latency_share_no_server", rate / limit, peer="limit", peer_value=0.9, conditions=conditions)
    _together(workers, lambda worker: worker.end())
    items = _batches_done(memory, workers)
    conditions = f"batches of {ITEMS}, {WORKERS} workers; a store that waits 60 ms per request, no server"
    bench.measure(
        "batch_items_no_server", items, unit="items/s", peer="limit", peer_value=10_000, conditions=conditions
    )


class _Waiting(WrappedStore):
    """Each request takes as long as it would to a far region; those of a bulk operation are under way together."""

    def get(self, key: str) -> StoredObject:
        time.sleep(LATENCY)
        return self.inner.get(key)

    def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
        time.sleep(LATENCY)
        return self.inner.put(key, data, if_absent=if_absent, if_match=if_match)

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        time.sleep(LATENCY)
        self.inner.delete(key, if_match=if_match)

    def get_many(self, keys: Iterable[str]) -> Sequence[StoredObject | StoreError]:
        time.sleep(LATENCY)
        return self.inner.get_many(keys)

    def put_many(self, puts: Iterable[Put]) -> Sequence[str | StoreError]:
        time.sleep(LATENCY)
        return self.inner.put_many(puts)

    def delete_many(
        self, keys: Iterable[str], *, if_match: Mapping[str, str] | None = None, durable: bool = True
    ) -> Sequence[StoreError | None]:
        time.sleep(LATENCY)
        return self.inner.delete_many(keys, if_match=if_match, durable=durable)


def _batches(bench: Bench, near: Store, far: list[_Worker]) -> None:
    bench.note(
        f"S3 with {LATENCY * 1000:.0f} ms per request, {WORKERS} workers: {BATCHES_EACH} batches of {ITEMS} each"
    )
    rate = _batches_done(near, far)
    conditions = f"batches of {ITEMS}, {WORKERS} workers, 60 ms"
    bench.measure("s3_batch_items_s", rate, unit="items/s", peer="limit", peer_value=10_000, conditions=conditions)


def _batches_done(near: Store, workers: list[_Worker]) -> float:
    """Items per second."""
    count, items = WORKERS * BATCHES_EACH, [TaskItem(item_id=str(n)) for n in range(ITEMS)]
    LeasedQueue(near, "bench", "batches").put_many(NewTask(f"batch-{n}", items=items) for n in range(count * 6))
    _together(workers, lambda worker: worker.start("batches"))
    rate = count * ITEMS / _together(workers, lambda worker: worker.batches(BATCHES_EACH))
    _together(workers, lambda worker: worker.end())
    return rate


def _together(workers: list[_Worker], action: Callable[[_Worker], object]) -> float:
    """All at once, in threads: how long it took. What fails in one of them comes out."""
    failures: list[BaseException] = []

    def run(worker: _Worker) -> None:
        try:
            action(worker)
        except BaseException as error:  # noqa: BLE001 - raised below, in the thread that waits
            failures.append(error)

    threads = [threading.Thread(target=run, args=(worker,)) for worker in workers]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return time.perf_counter() - start


@contextmanager
def _far_away(endpoint: str) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks._queue_s3", endpoint]
    proxy = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert proxy.stdout is not None
    try:
        yield proxy.stdout.readline().strip()
    finally:
        proxy.communicate()


def _serve(endpoint: str) -> None:
    with fault_proxy(endpoint, latency=LATENCY) as proxy:
        print(proxy.endpoint, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    _serve(sys.argv[1])
