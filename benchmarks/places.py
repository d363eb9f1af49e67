"""Tile queries over millions of open places against plain DuckDB, and how fast captured maps pages are parsed.

The file is made by SQL, the same every time, in the schema of Overture's GeoParquet: `rows=5_000_000`, most of them in
towns, in the order of the map as Overture writes it, and once more shuffled, as a file of another origin may lie. Both
sides answer the same tiles and the same phrase from the same file, by turns: plain DuckDB by `bbox` and category, with
warm metadata and one connection; ours by `OpenPlaces.find`, the document included. Ours reads the copy that `source
add` makes once: what that takes of time, memory and disk is in the table too. The shuffled file has a fifth of the
rows, because plain DuckDB has to read all of it for each tile. The second part is `places_parsing.measure`.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import random
import resource
import shutil
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from benchmarks.harness import Bench
from cocli.keys.tile import Tile
from cocli.pipeline.sources.categories import Categories, open_categories
from cocli.pipeline.sources.open_places import Claims, Library, OpenPlaces
from cocli.pipeline.sources.registry import category_schemes, file_kind, file_kinds, parse

if TYPE_CHECKING:
    from cocli.pipeline.sources.open_places.library import Addition

PHRASE = "dentist"
TOWNS = 400
_KINDS = ["plumbing", "restaurant", "dentist", "roofing_service", "hotel", "cafe", "bakery", "gym", "florist", "bank"]


def main(bench: Bench) -> None:
    rows, tiles = bench.size("rows", 5_000_000), bench.size("tiles", 60)
    folder = Path(tempfile.mkdtemp(prefix="places-", dir=os.environ.get("BENCH_FOLDER")))
    try:
        _measure(bench, folder, "map", rows, tiles)
        _measure(bench, folder, "shuffled", rows // 5, tiles // 4)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if importlib.util.find_spec("benchmarks.places_parsing"):
        importlib.import_module("benchmarks.places_parsing").measure(bench)


def _measure(bench: Bench, folder: Path, layout: str, rows: int, tiles: int) -> None:
    suffix = "" if layout == "map" else "_shuffled"
    file = folder / f"{layout}.parquet"
    bench.note(f"{layout}: writing {rows:,} rows")
    asked = write_places(file, rows, layout)
    conditions = f"{rows:,} rows, {layout}"
    bench.note(f"{layout}: adding {file.stat().st_size / 1e6:,.0f} MB")
    started = time.perf_counter()
    added, memory = _add(file, folder / "library")
    seconds = time.perf_counter() - started
    bench.measure(
        f"add_rows_per_s{suffix}", rows / seconds, unit="rows/s", conditions=f"{conditions}, {seconds:.0f} s, once"
    )
    bench.measure(f"add_peak_mb{suffix}", memory, unit="MB", conditions=conditions)
    size = added.file.about.copy_bytes / file.stat().st_size
    bench.measure(f"copy_over_file_bytes_cost{suffix}", size, conditions=conditions)
    chosen = random.Random(7).sample(asked, min(tiles, len(asked)))
    _compare(bench, suffix, added, file, chosen, conditions)


def _compare(bench: Bench, suffix: str, added: Addition, file: Path, tiles: list[Tile], conditions: str) -> None:
    categories = open_categories(category_schemes())
    plain = duckdb.connect(":memory:")
    plain.execute("SET parquet_metadata_cache = true")
    ours_s: list[float] = []
    plain_s: list[float] = []
    found = 0
    bench.note(f"asking {len(tiles)} tiles by turns")
    with OpenPlaces(file_kind("overture"), [added.file], categories, account="bench") as places:
        places.find(tiles[0], PHRASE)
        ask_plain(plain, file, tiles[0], categories)
        for tile in tiles:
            started = time.perf_counter()
            capture = places.find(tile, PHRASE)
            ours_s.append(time.perf_counter() - started)
            started = time.perf_counter()
            theirs = ask_plain(plain, file, tile, categories)
            plain_s.append(time.perf_counter() - started)
            mine = [place.source_id for place in parse(capture.document)]
            if mine != [row[0] for row in theirs]:
                raise AssertionError(f"{tile}: {len(mine)} places here, {len(theirs)} of plain DuckDB")
            found += len(mine)
    plain.close()
    ours, theirs_ms = statistics.median(ours_s) * 1000, statistics.median(plain_s) * 1000
    bench.measure(
        f"tile_over_duckdb{suffix}",
        theirs_ms / ours,
        peer="plain DuckDB by bbox",
        peer_value=1,
        ratio=theirs_ms / ours,
        conditions=f"{conditions}, {len(tiles)} tiles, {found / len(tiles):.0f} places each, median",
    )
    bench.measure(f"tile_ms{suffix}", ours, unit="ms", peer="plain DuckDB", peer_value=theirs_ms, conditions="median")


def ask_plain(connection: duckdb.DuckDBPyConnection, file: Path, tile: Tile, categories: Categories) -> list[Any]:
    """All columns of the rows of a tile and a category, by the box that every row has."""
    south, west = tile.lat / 1000, tile.lon / 1000
    names = [one for one in categories.meaning(PHRASE, "overture").categories if "*" not in one]
    return connection.execute(
        f"SELECT * FROM read_parquet('{file}') WHERE bbox.xmin >= {west} AND bbox.xmin < {west + tile.size / 1000}"
        f" AND bbox.ymin >= {south} AND bbox.ymin < {south + tile.size / 1000}"
        " AND list_contains(?, categories.primary) ORDER BY id",
        [names],
    ).fetchall()


def _add(file: Path, library: Path) -> tuple[Addition, float]:
    """Add it in a process of its own, and say how much memory that took at most."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_add_here, (str(file), str(library)))


def _add_here(file: str, library: str) -> tuple[Addition, float]:
    added = Library(library, file_kinds()).add(file, Claims(release="2026-01-21.0"), datetime(2026, 1, 21, tzinfo=UTC))
    return added, _peak_mb()


def _peak_mb() -> float:
    """Of this process alone: what `getrusage` says begins with the peak of the process that started it."""
    try:
        lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    except OSError:  # no /proc: another system
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


def write_places(file: Path, rows: int, layout: str) -> list[Tile]:
    """Write the file; returns the tiles of its towns, which hold most of it."""
    connection = duckdb.connect(":memory:")
    connection.execute("SET memory_limit = '2GB'")
    connection.execute("SET enable_progress_bar = false")
    connection.execute("SET temp_directory = ?", [str(file.parent / "spill")])
    order = "floor(y * 2), floor(x * 2), floor(y * 16), floor(x * 16), i" if layout == "map" else "hash(i)"
    places = _PLACES.format(rows=rows, towns=TOWNS, kinds=_KINDS)
    connection.execute(f"COPY ({places} ORDER BY {order}) TO '{file}' (FORMAT parquet, COMPRESSION zstd)")
    towns = connection.execute(f"SELECT DISTINCT x, y FROM ({_TOWNS.format(towns=TOWNS)})").fetchall()
    connection.close()
    return sorted({Tile.containing(y, x) for x, y in towns})


# Coordinates are multiples of 1/4096: held exactly by the float that `bbox` has, so that both sides see the same point.
_TOWNS = """
SELECT t, -120 + (hash(t * 31) % 500) / 10.0 + 0.05078125 AS x, 30 + (hash(t * 37) % 180) / 10.0 + 0.05078125 AS y
FROM range({towns}) AS towns(t)
"""
_PLACES = (
    """
WITH towns AS ("""
    + _TOWNS
    + """),
points AS (
    SELECT i,
        CASE WHEN i % 10 < 8 THEN floor((towns.x + ((hash(i) % 1000) / 1000.0 - 0.5) * 0.09) * 4096) / 4096
            ELSE floor((-125 + (hash(i) % 58000000) / 1e6) * 4096) / 4096 END AS x,
        CASE WHEN i % 10 < 8 THEN floor((towns.y + ((hash(i + 77) % 1000) / 1000.0 - 0.5) * 0.09) * 4096) / 4096
            ELSE floor((25 + (hash(i + 77) % 24000000) / 1e6) * 4096) / 4096 END AS y,
        {kinds}[1 + (hash(i * 3) % 10)::INTEGER] AS kind
    FROM range({rows}) AS rows(i) JOIN towns ON towns.t = i % {towns}
)
SELECT md5(i::VARCHAR) AS id,
    ST_GeomFromGeoJSON(format('{{{{"type":"Point","coordinates":[{{}},{{}}]}}}}', x, y)) AS geometry,
    {{'xmin': x::FLOAT, 'xmax': x::FLOAT, 'ymin': y::FLOAT, 'ymax': y::FLOAT}} AS bbox,
    1 AS version,
    [{{'property': '', 'dataset': 'meta', 'record_id': i::VARCHAR, 'update_time': '2026-01-01', 'confidence': 0.9}}]
        AS sources,
    {{'primary': 'Business ' || i, 'common': NULL::MAP(VARCHAR, VARCHAR)}} AS names,
    {{'primary': kind, 'alternate': [kind || '_alternate']}} AS categories,
    kind AS basic_category,
    {{'primary': kind, 'hierarchy': ['services', kind], 'alternates': NULL::VARCHAR[]}} AS taxonomy,
    0.5 + (i % 50) / 100.0 AS confidence,
    'open' AS operating_status,
    ['https://www.business' || i || '.example.com/'] AS websites,
    NULL::VARCHAR[] AS socials,
    ['info@business' || i || '.example.com'] AS emails,
    ['+1202555' || lpad((i % 10000)::VARCHAR, 4, '0')] AS phones,
    [{{'freeform': i || ' Main Street', 'locality': 'Town ' || (i % {towns}),
        'postcode': lpad((i % 99999)::VARCHAR, 5, '0'), 'region': 'CA', 'country': 'US'}}] AS addresses,
    y, x, i
FROM points
"""
)
