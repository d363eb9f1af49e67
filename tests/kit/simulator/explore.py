"""Many seeds of one scenario, on as many cores as wanted, until one fails or the time is over."""

from __future__ import annotations

import os
import signal
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import get_context
from typing import TYPE_CHECKING

from tests.kit.simulator.batch import Batch, FailedSeed, run_batch

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from concurrent.futures import Future

    from tests.kit.simulator.scenario import Scenario

_BATCH_SEEDS = 25


@dataclass(slots=True)
class Report:
    """What was tried and what came of it."""

    target: str
    total: Batch = field(default_factory=Batch)
    seconds: float = 0.0

    @property
    def clean(self) -> bool:
        return not self.total.failed

    @property
    def seeds_per_second(self) -> float:
        return self.total.seeds / self.seconds if self.seconds else 0.0

    def __str__(self) -> str:
        total = self.total
        tally = ", ".join(f"{kind} {count:,}" for kind, count in sorted(total.tally.items()))
        return (
            f"{self.target}: {total.seeds:,} seeds, {total.steps:,} steps, "
            f"{total.virtual_seconds / 3600:,.0f} virtual hours in {self.seconds:.1f} s "
            f"({self.seeds_per_second:,.0f} seeds/s), {len(total.failed)} failed\n{tally}"
        )


def explore(
    scenario_factory: Callable[[], Scenario] | str,
    seeds: Iterable[int] = range(1000),
    *,
    jobs: int = 1,
    budget_seconds: float | None = None,
    progress: Callable[[Report], None] | None = None,
    stop_after: int = 1,
) -> Report:
    """Try the seeds in order; each failure is printed to stderr with the way to run it again.

    `scenario_factory` is a callable, or its name as `load_factory` takes it. With `jobs` other than 1 it runs in other
    processes (0: one per core), so a callable must be importable there. Ends early after `stop_after` failures or
    `budget_seconds`.
    """
    report = Report(_name(scenario_factory))
    started = time.perf_counter()
    batches = _split(seeds)
    with closing(_results(scenario_factory, batches, jobs or os.cpu_count() or 1, stop_after)) as results:
        for batch in results:
            report.total.add(batch)
            report.seconds = time.perf_counter() - started
            for failed in batch.failed:
                print(explain(failed, report.target), file=sys.stderr)
            if progress is not None:
                progress(report)
            if len(report.total.failed) >= stop_after:
                break
            if budget_seconds is not None and report.seconds >= budget_seconds:
                break
    return report


def explain(failed: FailedSeed, target: str) -> str:
    again = f"python -m tests.kit.simulator {target} --seed {failed.seed}"
    if not failed.repeatable:
        again += (
            "\nA second run of this seed went differently: some code takes time, randomness or an order from elsewhere."
        )
    return f"{type(failed.failure).__name__}: {failed.failure}\nrun it again: {again}"


def _name(factory: Callable[[], Scenario] | str) -> str:
    if isinstance(factory, str):
        return factory
    return f"{getattr(factory, '__module__', '?')}:{getattr(factory, '__qualname__', repr(factory))}"


def _split(seeds: Iterable[int]) -> Iterator[list[int]]:
    remaining = iter(seeds)
    while batch := list(islice(remaining, _BATCH_SEEDS)):
        yield batch


def _results(
    factory: Callable[[], Scenario] | str, batches: Iterator[list[int]], jobs: int, stop_after: int
) -> Generator[Batch, None, None]:
    if jobs == 1:
        for batch in batches:
            yield run_batch(factory, batch, stop_after)
        return
    # Spawned, not forked: the caller may have threads, and a fork of those can hang.
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_leave_interrupts_to_the_parent)
    try:
        running: set[Future[Batch]] = set()
        for batch in batches:
            running.add(pool.submit(run_batch, factory, batch, stop_after))
            if len(running) >= 2 * jobs:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    finally:
        pool.shutdown(cancel_futures=True)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
