"""Claims and acks per second by processes, on a folder beside huey, litequeue and persist-queue; and requests on S3.

Some minutes by default. `tasks=10000 depth=200000 s3_tasks=1000 s3_depth=6000` and `BENCH_PROCESSES=1,2,4,8` measure
more; `then=0`, `batches=0`, `depth=0` and `s3_tasks=0` each leave a part out. `then=3` turns compare it with the queue
of the day on which its aims were set, which comes out of this repository's history.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks import _queue_before, _queue_s3
from benchmarks.queue_contenders import (
    BARE,
    CONTENDERS,
    MANY,
    NO_LIMIT,
    OURS,
    PAYLOAD,
    Rate,
    fill,
    open_local,
    run_workers,
)
from cocli.models.completion import Ok
from cocli.models.task import TaskItem
from cocli.queue.base import NewTask
from cocli.queue.leased.queue import LeasedQueue
from cocli.store.memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.harness import Bench

ITEMS = 100
HUEY = "huey-sqlite"
TURNS = 5


def main(bench: Bench) -> None:
    tasks = bench.size("tasks", 2_000)
    processes = [int(count) for count in os.environ.get("BENCH_PROCESSES", "1,2,4").split(",")]
    with tempfile.TemporaryDirectory(prefix="cocli-bench-", dir=os.environ.get("BENCH_FOLDER")) as name:
        folder = Path(name)
        _in_memory(bench, max(tasks, 100))
        if turns := bench.size("then", 3):
            _queue_before.measure(bench, folder, max(tasks // 2, 100), turns)
        _single(bench, folder, tasks, processes, policy="fsync")
        _single(bench, folder, tasks, processes, policy="nofsync")
        if batches := bench.size("batches", 100):
            _batches(bench, folder, processes, batches)
        with tempfile.TemporaryDirectory(prefix="cocli-bench-", dir=_memory_folder()) as memory:
            _single(bench, Path(memory), tasks, processes, policy="memory")
            if depth := bench.size("depth", 40_000):
                _depth(bench, Path(memory), tasks, depth)
        if s3_tasks := bench.size("s3_tasks", 500):
            (folder / "s3").mkdir()
            _queue_s3.measure(bench, folder / "s3", s3_tasks, bench.size("s3_depth", 2_500))


def _memory_folder() -> str | None:
    shared = "/dev/shm"
    return shared if os.path.isdir(shared) and shutil.disk_usage(shared).free > 4 << 30 else None


# --- single tasks in the memory of one process


def _in_memory(bench: Bench, tasks: int) -> None:
    """The store of tests and simulations: what is left is the queue's own work."""
    rates = []
    for turn in range(TURNS):
        bench.note(f"in memory, turn {turn + 1}: {tasks:,} tasks of {len(PAYLOAD)} bytes")
        queue = LeasedQueue(MemoryStore(), "bench", "tasks")
        queue.put_many(NewTask(f"task-{n}", {"p": PAYLOAD}) for n in range(tasks))
        started, spent = time.perf_counter(), time.process_time()
        claim = queue.claim()
        while claim is not None:
            _, claim = queue.ack_and_claim(claim, Ok(result={"ok": True}))
        queue.close()
        spent = time.process_time() - spent
        rates.append(Rate(tasks / (time.perf_counter() - started), spent / tasks * 1e6))
    cpu = median(rate.cpu for rate in rates)
    conditions = f"MemoryStore, one thread, medians of {TURNS} turns; CPU {cpu:,.0f} us"
    bench.measure("memory_s", median(rate.per_second for rate in rates), unit="tasks/s", conditions=conditions)


# --- single tasks on a folder


DURABILITY = {
    "nofsync": "the kernel decides when it is written",
    "fsync": "each claim and ack on the disk before it returns",
    "memory": "no fsync, on a file system in memory",
}


def _single(bench: Bench, folder: Path, tasks: int, processes: list[int], *, policy: str) -> None:
    fsync = policy == "fsync"
    rates = {name: dict[int, Rate]() for name, one in CONTENDERS.items() if one.can_fsync or not fsync}
    for count in processes:  # all contenders, then the next count: a slow minute of the machine favours nobody
        for name, by_count in rates.items():
            contender = CONTENDERS[name]
            if count > 1 and not contender.processes:
                continue
            bench.note(f"{name}, {policy}: {tasks:,} tasks of {len(PAYLOAD)} bytes, {count} processes")
            # A folder per task takes longer to make than to work off: such a queue is filled once, for all who share
            # the layout, and worked off in stretches. The others are filled anew each time. Each figure is of as many
            # tasks: a process lists a thousand at its start, which is much for a hundred that it takes.
            stretches = len(processes) * sum(one.folders == contender.folders for one in CONTENDERS.values())
            filled = tasks * stretches if contender.folders else tasks
            where = folder / f"{policy}-{contender.folders or name}"
            keep = contender.folders is not None
            by_count[count] = _drain(where, name, filled, count, fsync=fsync, limit=tasks // count, keep=keep)
    for kept in folder.glob(f"{policy}-*"):
        _remove_quickly(kept)
    rates = {name: by_count for name, by_count in rates.items() if by_count}  # one may not stand several processes
    best = {name: max(rate.per_second for rate in by_count.values()) for name, by_count in rates.items()}
    peer = max(best.keys() - {OURS, MANY, BARE}, key=lambda name: best[name])
    for name, key in ((OURS, f"single_{policy}_s"), (MANY, f"many_{policy}_s"), (BARE, f"bare_{policy}_s")):
        ratio = None if name == BARE else best[name] / best[BARE]
        bench.measure(
            key,
            best[name],
            unit="tasks/s",
            peer=None if name == BARE else BARE,
            ratio=ratio,
            conditions=f"{name}; {_by_count(rates[name])}; {DURABILITY[policy]}",
        )
    floor = best[OURS] / best[BARE]
    bench.measure(f"single_{policy}_over_floor", floor, peer=BARE, peer_value=best[BARE], ratio=floor)
    if fsync:
        ratio = best[MANY] / best[HUEY]
        bench.measure("group16_over_huey_fsync", ratio, peer=HUEY, peer_value=best[HUEY], ratio=ratio)
    for key, name in ((f"over_best_peer_{policy}", OURS), (f"many_over_best_peer_{policy}", MANY)):
        ratio = best[name] / best[peer]
        bench.measure(key, ratio, peer=peer, peer_value=best[peer], ratio=ratio, conditions=_peers(rates))


def _by_count(rates: dict[int, Rate]) -> str:
    cpu = min(rate.cpu for rate in rates.values())
    return (
        "by processes "
        + ", ".join(f"{n}: {rate.per_second:,.0f}" for n, rate in rates.items())
        + f"; CPU {cpu:,.0f} us"
    )


def _peers(rates: dict[str, dict[int, Rate]]) -> str:
    peers = rates.keys() - {OURS, MANY, BARE}
    return "; ".join(f"{name} {_by_count(rates[name])}" for name in sorted(peers))


def _drain(
    folder: Path, name: str, tasks: int, processes: int, *, fsync: bool, limit: int = NO_LIMIT, keep: bool = False
) -> Rate:
    """Fill a queue, let processes empty it, and divide. They wait for each other before the clock starts."""
    if not folder.exists():
        folder.mkdir(parents=True)
        fill(name, folder, tasks)
    rate = run_workers(folder, name, processes, fsync=fsync, limit=limit)
    if not keep:
        shutil.rmtree(folder)
    return rate


# --- batches, and a deep queue


def _batches(bench: Bench, folder: Path, processes: list[int], batches: int) -> None:
    rates: dict[int, Rate] = {}
    for count in processes:
        where = folder / f"batches-{count}"
        where.mkdir()
        bench.note(f"batches of {ITEMS}, fsync: {batches} batches, {count} processes")
        queue = open_local(str(where), fsync=True)
        queue.put_many(
            NewTask(f"batch-{n}", items=[TaskItem(item_id=f"{n}-{i}") for i in range(ITEMS)]) for n in range(batches)
        )
        rates[count] = run_workers(where, OURS, count, fsync=True, each=ITEMS)
        _assert_done_once(queue.inspect(f"batch-{n}").items for n in range(batches))
        shutil.rmtree(where)
    conditions = f"batches of {ITEMS}, fsync, {_by_count(rates)}; 0 duplicates"
    bench.measure(
        "batch_fsync_items_s", max(rate.per_second for rate in rates.values()), unit="items/s", conditions=conditions
    )


def _assert_done_once(batches: object) -> None:
    """Every batch that has a completion has each of its items in it once."""
    for rows in batches:  # type: ignore[attr-defined]
        ids = [row.item_id for row in rows]
        assert len(set(ids)) == len(ids), "an item was done twice"
        assert len(ids) in (0, ITEMS), "an item was lost"


def _depth(bench: Bench, folder: Path, shallow: int, deep: int) -> None:
    """In memory where that can be had: this is about what depth does to the queue, not about a disk's folders."""
    rates: dict[int, list[Rate]] = {shallow: [], deep: []}
    limit = max(shallow // 10, 1)
    for _ in range(5):  # in turns, each from where it was left: the machine may be slow for a while
        for depth, several in rates.items():
            bench.note(f"depth {depth:,}: 2 processes take {limit:,}")
            where = folder / f"depth-{depth}"
            several.append(_drain(where, OURS, depth, 2, fsync=False, limit=limit // 2, keep=True))
    for depth in rates:
        _remove_quickly(folder / f"depth-{depth}")
    pairs = list(zip(rates[deep], rates[shallow], strict=True))
    ratio = median(one.per_second / other.per_second for one, other in pairs)
    cpu = median(other.cpu / one.cpu for one, other in pairs)
    shown = (f"{median(one.per_second for one in rates[depth]):,.0f}/s at {depth:,} pending" for depth in rates)
    conditions = f"{', '.join(shown)}; medians of 5 turns of 2 processes, in memory; by CPU time {cpu:.2f}"
    bench.measure("depth_ratio", ratio, peer="limit", peer_value=0.8, conditions=conditions)


def _remove_quickly(folder: Path) -> None:
    """Two processes at once: removing 200,000 folders takes longer than the measurement."""
    shards: Sequence[Path] = sorted([*folder.glob("campaigns/*/queues/*/*/*"), *folder.glob("pending/*")])
    removers = [subprocess.Popen(["rm", "-rf", *map(str, shards[start::2])]) for start in range(2)]
    for remover in removers:
        remover.wait()
    shutil.rmtree(folder)
