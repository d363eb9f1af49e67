"""Writers on one index: the real `IndexWriter` and `Compactor` in each of them, all swapping one `LATEST`."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from benchmarks.scale_model.bucket import Bucket
from benchmarks.scale_model.client import BucketStore
from benchmarks.scale_model.world import EPOCH, World
from cocli.errors import Conflict
from cocli.index.cache import MemoryCache
from cocli.index.compaction import CompactionReport, Compactor
from cocli.index.latest import current_pointer
from cocli.index.writer import IndexWriter
from cocli.keys.paths import IndexRef
from cocli.models.prospect import Prospect
from cocli.pipeline.indexes import open_index

if TYPE_CHECKING:
    from cocli.index.index import Index

REF = IndexRef("prospects", "roofers")


def prospect(number: int) -> Prospect:
    key = hashlib.sha256(b"%d" % number).hexdigest()[:16]
    return Prospect(
        company_hash=key,
        slug=f"acme-{number}",
        name=f"Acme Roofing {number}",
        phone_e164=f"+1310555{number % 10_000:04d}",
        domain=f"company{number}.example",
        street=f"{number} Main St",
        city="Springfield",
        country="US",
        campaign="roofers",
        first_seen=EPOCH,
        updated_at=EPOCH,
        sources=("overture",),
    )


@dataclass(frozen=True, slots=True)
class IndexPlan:
    """Each writer `turns` times: a batch of `rows` records, then a version of its own."""

    writers: int
    turns: int
    rows: int = 10


@dataclass(frozen=True, slots=True)
class IndexResult:
    seconds: float
    versions: int
    conflicts: int
    """How often a compactor began again, because somebody else had swapped the pointer first."""
    gave_up: int
    """How often one lost fifty times in a row. What it wrote waits for the next, and is not lost."""
    counts: Counter[str]

    @property
    def versions_per_second(self) -> float:
        return self.versions / self.seconds


class IndexRun:
    def __init__(self, plan: IndexPlan) -> None:
        self._plan = plan
        self._world = World()
        self._bucket = Bucket(self._world)
        self._report = CompactionReport()
        self._gave_up = 0

    def run(self) -> IndexResult:
        for number in range(self._plan.writers):
            self._world.spawn(partial(self._write, number))
        self._world.run()
        seconds, counts = self._world.now, self._bucket.counts.copy()
        self._world.spawn(self._check)
        self._world.run()
        return IndexResult(seconds, self._report.rounds, self._report.conflicts, self._gave_up, counts)

    def _index(self, number: int) -> Index[Prospect]:
        return open_index(BucketStore(self._world, self._bucket, Random(number)), REF, MemoryCache())

    def _write(self, number: int) -> None:
        plan, index = self._plan, self._index(number)
        for turn in range(plan.turns):
            first = (number * plan.turns + turn) * plan.rows
            IndexWriter(index).append(prospect(row) for row in range(first, first + plan.rows))
            try:
                report = Compactor(index).compact()
            except Conflict:
                self._gave_up += 1
                continue
            self._report.rounds += report.rounds
            self._report.conflicts += report.conflicts

    def _check(self) -> None:
        """Whatever the writers met, one more compaction has every row."""
        index = self._index(self._plan.writers)
        Compactor(index).compact()
        rows, expected = current_pointer(index).latest.rows, self._plan.writers * self._plan.turns * self._plan.rows
        if rows != expected:
            raise RuntimeError(f"the index has {rows} of {expected} rows")
