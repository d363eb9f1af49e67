"""Scale in virtual time: 1,000 workers on one queue, and many writers on one index, over a bucket with S3's limits.

The product's own code runs in every worker; only the bucket and the time are made up (`benchmarks/scale_model`).
`workers=1000 tasks=20000 group=1 depth=6 work_ms=0` say what is run: `group` tasks are claimed and ended at a time (0:
batches of a hundred items), keys that agree in their first `depth` parts share a partition of 3,500 writes and 5,500
reads per second (0: the bucket is one), `work_ms` is what a task takes besides. `series=1` runs the
table of docs/scale.md instead; `writers=16` only the index, by 1 to so many writers.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from benchmarks.scale_model.index_run import IndexPlan, IndexRun
from benchmarks.scale_model.queue_run import QueuePlan, QueueRun

if TYPE_CHECKING:
    from benchmarks.harness import Bench
    from benchmarks.scale_model.queue_run import QueueResult

KINDS = ("put", "get", "list", "delete", "refused", "throttled")
TURNS = 5
SERIES = (
    *(QueuePlan(100, tasks, 1, 6) for tasks in (10_000, 20_000, 50_000)),
    *(QueuePlan(100, 20_000, 16, depth) for depth in (6, 0)),
    QueuePlan(1000, 100_000, 0, 6),
    *(QueuePlan(workers, tasks, 1, 0, work_seconds=4.0) for workers, tasks in ((200, 8_000), (1000, 20_000))),
)
"""More tasks for the same workers; the same tasks in groups, then in one partition; batches; tasks that take time."""


def main(bench: Bench) -> None:
    workers, tasks = bench.size("workers", 1000), bench.size("tasks", 20_000)
    writers = bench.size("writers", 0)
    if writers:
        _measure_index(bench, writers)
    elif bench.size("series", 0):
        for plan in SERIES:
            _measure(bench, plan)
    else:
        work = bench.size("work_ms", 0) / 1000
        _measure(bench, QueuePlan(workers, tasks, bench.size("group", 1), bench.size("depth", 6), work))


def _measure(bench: Bench, plan: QueuePlan) -> None:
    how = {0: "batches of 100", 1: "one at a time"}.get(plan.group, f"{plan.group} at a time")
    bench.note(
        f"{plan.workers:,} workers, {plan.tasks:,} tasks, {how}, depth {plan.depth}, {plan.work_seconds:g} s of work"
    )
    started = time.process_time()
    result = QueueRun(plan, bench.note).run()
    spent = time.process_time() - started
    name = f"w{plan.workers}_t{plan.tasks}_g{plan.group}_d{plan.depth}"
    if plan.work_seconds:
        name += f"_ms{plan.work_seconds * 1000:.0f}"
    per_task = ", ".join(f"{kind} {result.per_task(kind):.3f}" for kind in KINDS)
    conditions = f"{how}; {result.partitions} partitions; {result.seconds:,.1f} virtual s; per task: {per_task}"
    bench.measure(f"{name}.tasks_s", result.tasks_per_second, unit="tasks/s", conditions=conditions)
    bench.measure(f"{name}.usd_per_million", result.usd_per_million, unit="USD", conditions=_put_conditions(result))
    bench.note(f"{result.tasks_per_second:,.0f} tasks/s; {per_task}; {spent:.1f} s of processor time")


def _put_conditions(result: QueueResult) -> str:
    rate = result.plan.tasks / result.put_seconds
    return f"putting included, which one machine does at {rate:,.0f} tasks/s"


def _measure_index(bench: Bench, most: int) -> None:
    writers = 1
    while writers <= most:
        result = IndexRun(IndexPlan(writers, TURNS)).run()
        requests = ", ".join(f"{kind} {result.counts[kind] / max(result.versions, 1):.1f}" for kind in KINDS[:4])
        conditions = (
            f"{writers} × {TURNS} batches of 10 rows: {result.versions} versions, begun again {result.conflicts} "
            f"times, given up {result.gave_up}; per version: {requests}"
        )
        bench.note(conditions)
        bench.measure(f"latest.{writers}_versions_s", result.versions_per_second, unit="1/s", conditions=conditions)
        writers *= 2
