"""Lookups and aggregates: the index beside DuckDB on one plain Parquet file with the same rows, in turns."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import median
from typing import TYPE_CHECKING

import duckdb

from benchmarks._index_commits import Copies
from benchmarks._index_rows import key_at
from cocli.index.index import Index
from cocli.index.queries.derived import DerivedFolder
from cocli.index.queries.layers import shard_rows
from cocli.index.queries.names import manifest_name
from cocli.index.queries.query import Layer, open_session, parquet_layer
from cocli.index.reader import open_reader
from cocli.models.prospect import Prospect

if TYPE_CHECKING:
    from benchmarks.harness import Bench

LOOKUPS = 3_000
PARQUET_LOOKUPS = 100
ROUNDS = 9
LOOKUP_AIM_MS = 0.2
AGGREGATE = (
    "SELECT city, business_status, count(*), count(domain), round(avg(rating), 6), sum(review_count), max(updated_at), "
    "min(lat), count(DISTINCT postcode) FROM prospects GROUP BY ALL ORDER BY ALL"
)


def make_copies(bench: Bench, folder: Path, index: Index[Prospect]) -> Copies:
    """The current version as the product's derived copy, and as one Parquet file as DuckDB writes it by itself."""
    reader = open_reader(index)
    shards = shard_rows(reader, Prospect)
    bench.note(f"the derived copy of {reader.manifest.rows:,} rows, and a plain Parquet file")
    started = time.perf_counter()
    derived = DerivedFolder(str(folder / "copies")).build(manifest_name(reader.manifest), shards)
    bench.note(f"the derived copy took {time.perf_counter() - started:.1f} s")
    plain = str(folder / "plain.parquet")
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT * FROM read_parquet('{derived}')) TO '{plain}' (FORMAT parquet)")
    return Copies(plain, shards, derived)


def measure_lookups(bench: Bench, index: Index[Prospect], filled: int, parquet: str) -> None:
    chance = Random(4)
    keys = [key_at(chance.randrange(filled), filled) for _ in range(LOOKUPS)]
    bench.note(f"{LOOKUPS:,} lookups in the index, {PARQUET_LOOKUPS} in Parquet, in turns")
    reader = open_reader(index)
    for key in keys[:500]:
        reader.get(key)
    ours: list[float] = []
    theirs: list[float] = []
    each = LOOKUPS // PARQUET_LOOKUPS
    with duckdb.connect() as connection:
        query = f"SELECT * FROM read_parquet('{parquet}') WHERE company_hash = ?"
        connection.execute(query, [keys[0]]).fetchall()
        for begin in range(0, LOOKUPS, each):
            some = keys[begin : begin + each]
            ours += [_timed(lambda key=key: reader.get(key)) for key in some]  # type: ignore[misc]
            theirs.append(_timed(lambda key=some[0]: connection.execute(query, [key]).fetchone()))  # type: ignore[misc]
    p50, peer = median(ours) * 1000, median(theirs) * 1000
    p99 = sorted(ours)[int(len(ours) * 0.99)] * 1000
    bench.measure(
        "lookup_p50_ms",
        p50,
        unit="ms",
        peer="below",
        peer_value=LOOKUP_AIM_MS,
        ratio=LOOKUP_AIM_MS / p50,
        conditions=f"warm, any of {filled:,} rows, into a model; p99 {p99:.3f} ms",
    )
    bench.measure(
        "lookup_over_parquet", peer / p50, peer="DuckDB on Parquet, ms", peer_value=peer, ratio=peer / p50,
        conditions="the file is sorted by the key; the connection and its metadata are warm",
    )  # fmt: skip


def _timed(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    if act() is None:
        raise RuntimeError("a row was not found")
    return time.perf_counter() - started


def measure_aggregate(bench: Bench, copies: Copies) -> None:
    bench.note(f"an aggregate over all rows: {ROUNDS} times each, in turns")
    contenders: dict[str, Callable[[], list[tuple[object, ...]]]] = {
        "plain": lambda: _plainly(copies.parquet),
        "derived": lambda: _through_session(parquet_layer(copies.derived)),
        "shards": lambda: _through_session(copies.shards),
    }
    answers, seconds = {}, dict[str, list[float]]()
    for number in range(ROUNDS):
        for name, ask in contenders.items():
            if name != "shards" or number < 2:
                started = time.perf_counter()
                answers[name] = ask()
                seconds.setdefault(name, []).append(time.perf_counter() - started)
    if not answers["plain"] == answers["derived"] == answers["shards"]:
        raise RuntimeError("the answers differ")
    ratio = median(theirs / ours for theirs, ours in zip(seconds["plain"], seconds["derived"], strict=True))
    plain, derived, shards = (median(seconds[name]) for name in ("plain", "derived", "shards"))
    conditions = (
        f"derived copy {derived * 1000:,.0f} ms, shards {shards * 1000:,.0f} ms, plain Parquet {plain * 1000:,.0f} ms; "
        "each with a new connection, ours locked as a person's query is"
    )
    bench.measure(
        "aggregate_over_parquet",
        ratio,
        peer="DuckDB on Parquet, s",
        peer_value=plain,
        ratio=ratio,
        conditions=conditions,
    )


def _plainly(file: str) -> list[tuple[object, ...]]:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW prospects AS SELECT * FROM read_parquet('{file}')")
        return connection.execute(AGGREGATE).fetchall()


def _through_session(rows: Layer) -> list[tuple[object, ...]]:
    with open_session({"prospects": Prospect}) as session:
        return list(session.run(AGGREGATE, lambda _: rows).rows())
