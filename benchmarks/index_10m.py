"""The index at 10,000,000 prospects: memory of packing, reading and copying, packing 10,000 changes, lookups.

Takes 30 GB of disk and about ten minutes. `rows=…` for another size, BENCH_FOLDER for another place.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from random import Random
from statistics import median
from typing import TYPE_CHECKING

from benchmarks._index_packing import Packing
from benchmarks._index_rows import fill, key_at
from benchmarks.index import CHANGES, measure_memory
from cocli.index.reader import open_reader
from cocli.store import open_store

if TYPE_CHECKING:
    from benchmarks.harness import Bench

LOOKUPS = 2_000


def main(bench: Bench) -> None:
    count = bench.size("rows", 10_000_000)
    with tempfile.TemporaryDirectory(prefix="cocli-bench-", dir=os.environ.get("BENCH_FOLDER")) as name:
        folder = Path(name)
        bench.note(f"writing {count:,} rows")
        started = time.perf_counter()
        fill(open_store(str(folder / "store"), fsync="never"), count)
        bench.measure("fill_rows_s", count / (time.perf_counter() - started), unit="rows/s")
        bench.note("filling the cache")
        packing = Packing(bench, folder, count, CHANGES)
        _measure_lookups(bench, packing)
        packing.pack()
        bench.measure("compact_10k_s", packing.median, unit="s", conditions=f"into {count:,} rows; synced")
        measure_memory(bench, packing)


def _measure_lookups(bench: Bench, packing: Packing) -> None:
    reader, chance, seconds = open_reader(packing.index), Random(4), list[float]()
    for _ in range(2 * LOOKUPS):
        key = key_at(chance.randrange(packing.filled), packing.filled)
        started = time.perf_counter()
        if reader.get(key) is None:
            raise RuntimeError("a row was not found")
        seconds.append(time.perf_counter() - started)
    bench.measure("lookup_p50_ms", median(seconds[LOOKUPS:]) * 1000, unit="ms", conditions="warm, any of the rows")
