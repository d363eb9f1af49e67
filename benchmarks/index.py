"""The index at 100,000 and 1,000,000 prospects: lookups, packing, commits, aggregates, cold reads, memory; with peers.

Beside it the same rows in one plain Parquet file, and in Delta Lake, Iceberg and Lance tables. Sizes are options:
`small=100000 large=1000000 turns=30`. Ten million rows are a benchmark of their own: `index_10m`.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks import _index_cold, _index_commits
from benchmarks._index_memory import peak_of
from benchmarks._index_packing import Packing
from benchmarks._index_queries import make_copies, measure_aggregate, measure_lookups
from benchmarks._index_rows import changed_records, fill
from cocli.index.writer import IndexWriter
from cocli.store import open_store

if TYPE_CHECKING:
    from benchmarks.harness import Bench

CHANGES = 10_000
TURNS = 2
"""More would fold the delta of the smaller one."""
MEMORY_LIMIT = 1024


def main(bench: Bench) -> None:
    small, large = bench.size("small", 100_000), bench.size("large", 1_000_000)
    with tempfile.TemporaryDirectory(prefix="cocli-bench-", dir=os.environ.get("BENCH_FOLDER")) as name:
        folder = Path(name)
        (folder / "s3").mkdir()
        _index_cold.measure(bench, folder / "s3")
        packings = [_filled(bench, folder, count) for count in (small, large)]
        _measure_packing(bench, *packings)
        _measure_small(bench, packings[0], bench.size("turns", 30))
        _measure_large(bench, packings[1])


def _filled(bench: Bench, folder: Path, count: int) -> Packing:
    bench.note(f"writing {count:,} rows")
    where = folder / f"rows-{count}"
    fill(open_store(str(where / "store"), fsync="never"), count)
    return Packing(bench, where, count, CHANGES)


def _measure_small(bench: Bench, packing: Packing, turns: int) -> None:
    copies = make_copies(bench, packing.folder, packing.index)
    _index_commits.measure(bench, packing.folder, packing.index, packing.filled, copies, turns)


def _measure_large(bench: Bench, packing: Packing) -> None:
    copies = make_copies(bench, packing.folder, packing.index)
    measure_lookups(bench, packing.index, packing.filled, copies.parquet)
    measure_aggregate(bench, copies)
    measure_memory(bench, packing)
    packing.pack_until_folded()
    bench.measure(
        "compact_fold_1m_s",
        median(packing.folds),
        unit="s",
        conditions=f"the round that folds the delta into the base; the mean of all rounds is {packing.mean:.2f} s",
    )


def measure_memory(bench: Bench, packing: Packing) -> None:
    """The peaks of processes that do one thing each; the largest is the figure."""
    IndexWriter(packing.index).append(changed_records(packing.index, packing.filled, CHANGES, seed=77))
    peaks = {}
    for action in ("pack", "scan", "copy"):
        bench.note(f"{action} of {packing.filled:,} rows in a process of its own")
        peaks[action] = peak_of(packing.folder, action)
    largest = max(peak.mib for peak in peaks.values())
    conditions = f"{packing.filled:,} rows; " + ", ".join(
        f"{action} {peak.rows:,} rows: {peak.mib:,.0f} MiB, {peak.seconds:.1f} s" for action, peak in peaks.items()
    )
    bench.measure(
        "peak_mib",
        largest,
        unit="MiB",
        peer="below",
        peer_value=MEMORY_LIMIT,
        ratio=MEMORY_LIMIT / largest,
        conditions=f"{conditions}; files that are mapped count",
    )


def _measure_packing(bench: Bench, small: Packing, large: Packing) -> None:
    for _ in range(TURNS):
        small.pack()
        large.pack()
    cost = median(more / less for more, less in zip(large.seconds, small.seconds, strict=True))
    bench.measure(
        "compact_10k_into_1m_s",
        large.median,
        unit="s",
        peer=f"into {small.filled:,}",
        peer_value=small.median,
        ratio=cost,
        conditions=f"{CHANGES:,} changes from all over {large.filled:,} rows, each looked up and merged; synced",
    )
    bench.measure("compact_size_cost", cost, ratio=cost, conditions=f"at {large.filled // small.filled} × the rows")
