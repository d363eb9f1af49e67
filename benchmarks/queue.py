"""Claims and acks per second by processes, on a folder beside huey, litequeue and persist-queue; and requests on S3."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.queue_contenders import CONTENDERS, PAYLOAD, open_local
from cocli.models.completion import Ok
from cocli.models.task import TaskItem
from cocli.queue.base import NewTask
from cocli.queue.leased import LeasedQueue
from cocli.store import Store, open_store
from cocli.store.counting import CountingStore
from cocli.testing import servers
from cocli.testing.fault_proxy import fault_proxy

if TYPE_CHECKING:
    from benchmarks.harness import Bench

ITEMS = 100
LATENCY = 0.06
WORKERS = 32
USD_PER_MILLION = {"put": 5.0, "list": 5.0, "get": 0.4, "head": 0.4}
"""S3 Standard, us-east-1, per million requests; deletes are free."""


def main(bench: Bench) -> None:
    tasks = bench.size("tasks", 10_000)
    processes = [int(count) for count in os.environ.get("BENCH_PROCESSES", "1,2,4,8").split(",")]
    with tempfile.TemporaryDirectory(prefix="cocli-bench-", dir=os.environ.get("BENCH_FOLDER")) as name:
        folder = Path(name)
        _single(bench, folder, tasks, processes, fsync=False)
        _single(bench, folder, max(tasks // 10, 100), processes, fsync=True)
        _batches(bench, folder, processes)
        _depth(bench, folder, tasks, bench.size("depth", 200_000))
        _s3(bench, folder, bench.size("s3_tasks", 2_000))


# --- single tasks on a folder


def _single(bench: Bench, folder: Path, tasks: int, processes: list[int], *, fsync: bool) -> None:
    policy = "fsync" if fsync else "nofsync"
    best: dict[str, float] = {}
    for name, contender in CONTENDERS.items():
        if fsync and not contender.can_fsync:
            continue
        for count in processes if contender.processes else [1]:
            bench.note(f"{name}, {policy}: {tasks:,} tasks of {len(PAYLOAD)} bytes, {count} processes")
            rate = _drain(folder / f"{name}-{policy}-{count}", name, tasks, count, fsync=fsync)
            best[name] = max(best.get(name, 0.0), rate)
    ours = best.pop("cocli")
    peer = max(best, key=lambda name: best[name])
    conditions = f"best of {processes} processes; {policy}; " + ", ".join(f"{n} {r:,.0f}/s" for n, r in best.items())
    bench.measure(
        f"single_{policy}_s", ours, unit="tasks/s", conditions=f"{tasks:,} tasks, best of {processes} processes"
    )
    bench.measure(
        f"over_best_peer_{policy}", ours / best[peer], peer=peer, ratio=ours / best[peer], conditions=conditions
    )


def _drain(folder: Path, name: str, tasks: int, processes: int, *, fsync: bool, limit: int = 0) -> float:
    """Fill a queue, let processes empty it, and divide. They wait for each other before the clock starts."""
    folder.mkdir(exist_ok=True)
    queue = CONTENDERS[name].open(str(folder), fsync)
    queue.fill(tasks)
    rate = _run_workers(folder, name, processes, fsync=fsync, limit=limit)
    shutil.rmtree(folder)
    return rate


def _run_workers(folder: Path, name: str, processes: int, *, fsync: bool, limit: int = 0) -> float:
    command = [sys.executable, "-m", "benchmarks.queue_contenders", name, str(folder), str(int(fsync)), str(limit)]
    workers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(processes)
    ]
    for worker in workers:
        assert worker.stdout is not None
        worker.stdout.readline()
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    results = [json.loads(worker.communicate()[0]) for worker in workers]
    done = sum(one["done"] for one in results)
    return float(done / (max(one["ended"] for one in results) - min(one["started"] for one in results)))


# --- batches, and a deep queue


def _batches(bench: Bench, folder: Path, processes: list[int]) -> None:
    best, worst = 0.0, float("inf")
    for count in processes:
        where, batches = folder / f"batches-{count}", 200
        where.mkdir()
        bench.note(f"batches of {ITEMS}, fsync: {batches} batches, {count} processes")
        queue = open_local(str(where), fsync=True)
        queue.put_many(
            NewTask(f"batch-{n}", items=[TaskItem(item_id=f"{n}-{i}") for i in range(ITEMS)]) for n in range(batches)
        )
        rate = _run_workers(where, "cocli", count, fsync=True) * ITEMS
        best, worst = max(best, rate), min(worst, rate)
        rows = [row.item_id for n in range(batches) for row in queue.inspect(f"batch-{n}").items]
        assert len(rows) == len(set(rows)) == batches * ITEMS, "an item was lost or done twice"
        shutil.rmtree(where)
    conditions = f"batches of {ITEMS}, fsync, best of {processes} processes (lowest {worst:,.0f}); 0 duplicates"
    bench.measure("batch_fsync_items_s", best, unit="items/s", conditions=conditions)


def _depth(bench: Bench, folder: Path, shallow: int, deep: int) -> None:
    rates = {}
    for depth in (shallow, deep):
        bench.note(f"depth {depth:,}: filling, then 2 processes take {shallow // 4:,} each")
        rates[depth] = _drain(folder / f"depth-{depth}", "cocli", depth, 2, fsync=False, limit=shallow // 4)
    conditions = (
        f"{rates[deep]:,.0f}/s at {deep:,} pending, {rates[shallow]:,.0f}/s at {shallow:,}; 2 processes, no fsync"
    )
    bench.measure("depth_ratio", rates[deep] / rates[shallow], conditions=conditions)


# --- S3


def _s3(bench: Bench, folder: Path, tasks: int) -> None:
    os.environ.update(servers.credentials_environment())
    (folder / "s3").mkdir()
    with servers.seaweedfs(folder / "s3") as server:
        servers.create_bucket(server, "cocli-bench")
        _s3_requests(bench, open_store(server.url("cocli-bench", "counted")), tasks)
        with fault_proxy(server.endpoint) as proxy:
            plain = open_store(server.url("cocli-bench", "slow"))
            slow = open_store(f"s3://cocli-bench/slow?endpoint={proxy.endpoint}&region={servers.REGION}")
            proxy.latency = LATENCY
            _s3_latency(bench, plain, slow, tasks)


def _s3_requests(bench: Bench, store: Store, tasks: int) -> None:
    bench.note(f"S3: requests for {tasks:,} of {tasks * 2:,} pending tasks")
    counting = CountingStore(store)
    queue = LeasedQueue(store, "bench", "tasks")
    queue.put_many(NewTask(f"task-{n}", {"p": PAYLOAD}) for n in range(tasks * 2))
    counted = LeasedQueue(counting, "bench", "tasks")
    _work(counted, tasks)
    counted.close()
    per_task = {kind: counting.counts[kind] / tasks for kind in ("put", "get", "head", "list")}
    usd = sum(per_task[kind] * price for kind, price in USD_PER_MILLION.items())
    conditions = f"{tasks:,} tasks, SeaweedFS; gets {per_task['get']:.2f} per task"
    bench.measure("s3_puts_per_task", per_task["put"], peer="limit", peer_value=2, conditions=conditions)
    bench.measure("s3_lists_per_claim", per_task["list"], peer="limit", peer_value=0.005, conditions=conditions)
    bench.measure("s3_usd_per_million", usd, unit="USD", conditions="public prices of S3 Standard, us-east-1")


def _s3_latency(bench: Bench, plain: Store, slow: Store, tasks: int) -> None:
    bench.note(f"S3 with {LATENCY * 1000:.0f} ms per request, {WORKERS} workers")
    LeasedQueue(plain, "bench", "single").put_many(NewTask(f"task-{n}", {"p": PAYLOAD}) for n in range(tasks))
    rate = _timed(lambda: _in_threads(slow, "single", tasks // WORKERS), tasks // WORKERS * WORKERS)
    limit = WORKERS / (2 * LATENCY)
    conditions = f"{rate:,.0f} tasks/s; 2 round trips each would allow {limit:,.0f}/s"
    bench.measure("s3_latency_share", rate / limit, peer="limit", peer_value=0.9, conditions=conditions)
    batches = WORKERS * 8
    items = [TaskItem(item_id=str(n)) for n in range(ITEMS)]
    LeasedQueue(plain, "bench", "batches").put_many(NewTask(f"batch-{n}", items=items) for n in range(batches))
    rate = _timed(lambda: _in_threads(slow, "batches", batches // WORKERS), batches) * ITEMS
    bench.measure("s3_batch_items_s", rate, unit="items/s", conditions=f"batches of {ITEMS}, {WORKERS} workers, 60 ms")


def _in_threads(store: Store, name: str, each: int) -> None:
    threads = [threading.Thread(target=_work, args=(LeasedQueue(store, "bench", name), each)) for _ in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _work(queue: LeasedQueue, tasks: int) -> None:
    for _ in range(tasks):
        claim = queue.claim()
        if claim is None:
            return
        for item in claim.remaining:
            queue.finish_item(claim, item.item_id, Ok())
        if claim.task.items:
            queue.ack_batch(claim)
        else:
            queue.ack(claim, Ok())


def _timed(action: Callable[[], object], count: int) -> float:
    start = time.perf_counter()
    action()
    return count / (time.perf_counter() - start)
