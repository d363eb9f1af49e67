"""Packing changes into an index again and again, with the time that each round took."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING

from benchmarks._index_rows import changed_records, open_local
from cocli.index.compaction import Compactor
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter

if TYPE_CHECKING:
    from benchmarks.harness import Bench

_ROUNDS_AT_MOST = 10


class Packing:
    """An index that `fill` made, with a warm cache."""

    def __init__(self, bench: Bench, folder: Path, filled: int, changes: int) -> None:
        self.folder = folder
        self.filled = filled
        self.index = open_local(folder, fsync=True)
        self._bench = bench
        self._changes = changes
        self.seconds: list[float] = []
        self.folds: list[float] = []
        open_reader(self.index).files()

    def pack(self) -> None:
        seed = len(self.seconds) + len(self.folds) + 1
        IndexWriter(self.index).append(changed_records(self.index, self.filled, self._changes, seed))
        started = time.perf_counter()
        report = Compactor(self.index).compact()
        spent = time.perf_counter() - started
        if report.added + report.changed != self._changes:
            raise RuntimeError(f"{report.added} were added and {report.changed} changed, not {self._changes}")
        folded = not open_reader(self.index).manifest.delta
        (self.folds if folded else self.seconds).append(spent)
        what = ", with a fold into the base" if folded else ""
        self._bench.note(f"{self._changes:,} changes into {self.filled:,} rows: {spent:.2f} s{what}")

    def pack_until_folded(self) -> None:
        """The rounds that are cheap because a later one folds, and that one."""
        for _ in range(_ROUNDS_AT_MOST):
            self.pack()
            if self.folds:
                return

    @property
    def median(self) -> float:
        return median(self.seconds or self.folds)

    @property
    def mean(self) -> float:
        """Of all rounds, also those that folded."""
        return mean(self.seconds + self.folds)
