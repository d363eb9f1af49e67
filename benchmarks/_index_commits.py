"""Small commits and whole reads beside the table formats: same rows, same run, equal durability, in turns."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import pyarrow as pa

from benchmarks._index_rows import changed_records
from benchmarks._index_tables import (
    PEERS,
    WITHOUT_DUCKLAKE,
    BareFiles,
    Committer,
    Table,
    arrow_rows,
    our_committer,
    read_by_duckdb,
    read_parquet,
)
from cocli.index.compaction import Compactor
from cocli.index.index import Index
from cocli.index.queries.query import Layer
from cocli.index.writer import IndexWriter
from cocli.models.prospect import Prospect

if TYPE_CHECKING:
    from benchmarks.harness import Bench

COMMIT_ROWS = 10
COMMIT_BYTES = 8_500
OURS_PER_TURN = 50
PEERS_PER_TURN = 5
READS = 3
RATE_AIM = 300


class Copies:
    """The same rows as an index's version, in other forms."""

    def __init__(self, parquet: str, shards: Layer, derived: str) -> None:
        self.parquet = parquet
        self.shards = shards
        self.derived = derived


def measure(bench: Bench, folder: Path, index: Index[Prospect], filled: int, copies: Copies, turns: int) -> None:
    rows = arrow_rows(copies.parquet)
    tables: dict[str, Table] = {}
    for name, make in PEERS.items():
        bench.note(f"{name}: a table of {rows.num_rows:,} rows")
        tables[name] = make(folder / name, rows)
    _measure_reading(bench, tables, rows.num_rows, copies)
    _measure_commits(bench, folder, tables, index, filled, rows, turns)


# --- all rows


def _measure_reading(bench: Bench, tables: dict[str, Table], rows: int, copies: Copies) -> None:
    bench.note(f"reading all {rows:,} rows into Arrow, {READS} times each, in turns")
    reads: dict[str, Callable[[], pa.Table]] = {
        "parquet": lambda: read_parquet(copies.parquet),
        "derived": lambda: read_parquet(copies.derived),
        "shards": lambda: read_by_duckdb(copies.shards.sql),
        **{name: table.read for name, table in tables.items()},
    }
    seconds: dict[str, list[float]] = {name: [] for name in reads}
    for _ in range(READS):
        for name, read in reads.items():
            started = time.perf_counter()
            found = read().num_rows
            seconds[name].append(time.perf_counter() - started)
            if found != rows:
                raise RuntimeError(f"{name} has {found} rows, not {rows}")
    best = {name: min(several) for name, several in seconds.items()}
    others = ", ".join(f"{name} {one:.2f} s" for name, one in best.items() if name not in ("derived", "parquet"))
    bench.measure(
        "read_all_over_parquet",
        best["parquet"] / best["derived"],
        peer="one Parquet file, s",
        peer_value=best["parquet"],
        ratio=best["parquet"] / best["derived"],
        conditions=f"{rows:,} rows, all columns into Arrow; the derived copy {best['derived']:.2f} s, {others}",
    )


# --- commits


def _measure_commits(
    bench: Bench,
    folder: Path,
    tables: dict[str, Table],
    index: Index[Prospect],
    filled: int,
    rows: pa.Table,
    turns: int,
) -> None:
    bench.note(f"commits of {COMMIT_ROWS} rows, on the disk before the next one: {turns} turns")
    ours = our_committer(IndexWriter(index))
    bare = Committer(folder, BareFiles(folder / "bare", b"x" * COMMIT_BYTES).commit, syncs_itself=True)
    peers = {name: Committer(folder / name, table.commit, syncs_itself=False) for name, table in tables.items()}
    batches = _batches(index, filled, turns * OURS_PER_TURN)
    slices = count(0, COMMIT_ROWS)
    ratios: dict[str, list[float]] = {name: [] for name in peers}
    for _ in range(turns):
        for _ in range(OURS_PER_TURN):
            ours.commit(batches.pop())
            bare.commit(None)
        for name, peer in peers.items():
            for _ in range(PEERS_PER_TURN):
                peer.commit(rows.slice(next(slices) % (rows.num_rows - COMMIT_ROWS), COMMIT_ROWS))
            mine, theirs = ours.seconds[-OURS_PER_TURN:], peer.seconds[-PEERS_PER_TURN:]
            ratios[name].append((sum(theirs) / PEERS_PER_TURN) / (sum(mine) / OURS_PER_TURN))
    started = time.perf_counter()
    packed = Compactor(index).compact()
    packing = time.perf_counter() - started
    _report_ours(bench, ours, bare, packed.records, packing)
    for name, peer in peers.items():
        _report_peer(bench, name, peer, median(ratios[name]))


def _batches(index: Index[Prospect], filled: int, commits: int) -> list[list[Prospect]]:
    records = changed_records(index, filled, min(commits * COMMIT_ROWS, filled // 2), seed=99)
    starts = (number * COMMIT_ROWS % len(records) for number in range(commits))
    return [
        [one.with_changes(slug=f"c-{number}") for one in records[start : start + COMMIT_ROWS]]
        for number, start in enumerate(starts)
    ]


def _report_ours(bench: Bench, ours: Committer, bare: Committer, packed: int, packing: float) -> None:
    tenth = max(1, len(ours.seconds) // 10)
    first, last = median(ours.seconds[:tenth]), median(ours.seconds[-tenth:])
    commits = len(ours.seconds)
    with_packing = commits / (sum(ours.seconds) + packing)
    conditions = (
        f"{COMMIT_ROWS} rows, file and folder synced; {commits:,} commits, median {median(ours.seconds) * 1000:.2f} "
        f"ms; with packing them afterwards ({packed:,} records, {packing:.1f} s) {with_packing:,.0f}/s; "
        f"a bare file of as many bytes, synced alike: {bare.rate:,.0f}/s"
    )
    bench.measure(
        "commit_s",
        ours.rate,
        unit="commits/s",
        peer="at least",
        peer_value=RATE_AIM,
        ratio=ours.rate / RATE_AIM,
        conditions=conditions,
    )
    flat = f"median of the last tenth {last * 1000:.2f} ms, of the first {first * 1000:.2f} ms"
    bench.measure("commit_flat_cost", last / first, ratio=last / first, conditions=flat)


def _report_peer(bench: Bench, name: str, peer: Committer, ratio: float) -> None:
    tenth = max(1, len(peer.seconds) // 10)
    grown = median(peer.seconds[-tenth:]) / median(peer.seconds[:tenth])
    unsynced = len(peer.unsynced) / sum(peer.unsynced)
    conditions = (
        f"{len(peer.seconds)} commits, what each wrote synced as ours is; without sync {unsynced:,.0f}/s; "
        f"last tenth over first {grown:.2f}"
    )
    if name == "lance":
        conditions += f"; {WITHOUT_DUCKLAKE}"
    bench.measure(
        f"commit_over_{name}",
        ratio,
        peer=f"{name}, commits/s",
        peer_value=peer.rate,
        ratio=ratio,
        conditions=conditions,
    )
