"""A copy of a file, sorted by tile: made once, so that a tile is a few neighbouring rows and no walk over all.

The copy is Parquet: `tile, lat, lon, id, name, terms, raw`. Row groups are small, so that a query reads one or two of
them. Memory is bounded: rows of JSON pass one by one, and the sort spills.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from cocli.errors import DiskFull, SourceRefused, UnusableRow, no_room_in
from cocli.formats.usv_sql import quote_text
from cocli.keys.tile import Tile
from cocli.pipeline.sources.open_places import parquet_rows
from cocli.pipeline.sources.open_places.json_rows import ROW_LIMIT, JsonLine, read_rows
from cocli.pipeline.sources.open_places.session import sorting_connection, watched
from cocli.pipeline.sources.open_places.source_file import BadRow
from cocli.pipeline.sources.open_places.tiles import Box, tile_number, tile_of_number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

    import duckdb

    from cocli.pipeline.sources.open_places.kind import OpenFileKind
    from cocli.pipeline.sources.open_places.parquet_rows import ParquetColumns

    Kinds = Sequence[OpenFileKind]

ROWS_IN_A_GROUP = 4_096
KEPT_BAD_ROWS = 20
_LOOKED_AT = 200
"""Rows that are looked at to recognise a file."""
_TOLERATED = 0.5
"""The part of the rows that may be unusable. A file with more of them is not what it is taken for."""
_STAGED = (
    "{'tile': 'INTEGER', 'lat': 'DOUBLE', 'lon': 'DOUBLE', 'id': 'VARCHAR', 'name': 'VARCHAR',"
    " 'terms': 'VARCHAR[]', 'raw': 'VARCHAR'}"
)
_ORDER = "ORDER BY tile, id"


@dataclass(slots=True)
class BuiltCopy:
    """What was found in a file."""

    kind: OpenFileKind
    rows: int = 0
    places: int = 0
    unnamed: int = 0
    bad: int = 0
    bad_rows: list[BadRow] = field(default_factory=list)
    bounds: Box | None = None

    @property
    def source(self) -> str:
        return self.kind.name

    def note_bad(self, row: int, reason: str) -> None:
        self.bad += 1
        if len(self.bad_rows) < KEPT_BAD_ROWS:
            self.bad_rows.append(BadRow(row=row, reason=reason))


def build_copy(
    files: Sequence[str],
    kinds: Kinds,
    wanted: str | None,
    folder: str,
    progress: Callable[[int], None],
    most_bytes: int,
) -> BuiltCopy:
    """Read a file (or the parts of one, in Parquet) and write `places.parquet` into a folder.

    `kinds` are the sources that it may be of; `wanted` is the one of them that a person named. `most_bytes` may lie
    on the disk meanwhile."""
    import duckdb  # here, as in `session`

    scratch = os.path.join(folder, "scratch")
    os.makedirs(scratch, exist_ok=True)
    target = os.path.join(folder, "places.parquet")
    with sorting_connection(scratch, most_bytes) as connection:
        try:
            if is_parquet(files[0]):
                built = _copy_parquet(connection, files, kinds, wanted, target, progress)
            else:
                kind = recognise_json(files[0], kinds, wanted)
                built = _copy_json(connection, files[0], kind, target, os.path.join(scratch, "rows.ndjson"), progress)
            _refuse_mostly_bad(files[0], built)
            built.bounds = _bounds(connection, target)
        except duckdb.Error as error:
            if full := no_room_in(str(error)):
                raise DiskFull(file=folder, done="written", reason=full) from error
            raise SourceRefused(file=files[0], reason=str(error).partition("\n")[0]) from error
    return built


def is_parquet(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"PAR1"


# --- Parquet


def _copy_parquet(
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[str],
    kinds: Kinds,
    wanted: str | None,
    target: str,
    progress: Callable[[int], None],
) -> BuiltCopy:
    columns = parquet_rows.columns_of(connection, files)
    kind, parquet = _recognise_parquet(files[0], columns, kinds)
    _refuse_other(files[0], kind.name, wanted)
    rows = parquet_rows.select_rows(parquet, columns, files)
    total = _parquet_count(connection, files)
    _refuse_empty_rows(files, total)
    usable = (
        f"SELECT CAST({parquet_rows.TILE} AS INTEGER) AS tile, lat, lon, coalesce(id, 'row-' || md5(raw)) AS id,"  # noqa: S608
        f" name, terms, raw FROM ({rows}) WHERE problem IS NULL AND trim(name) <> ''"
    )
    with watched(connection, progress, total):
        _write(connection, usable, target)
    built = BuiltCopy(kind, rows=total, places=_parquet_count(connection, [target]))
    if left := built.rows - built.places:
        counted = connection.execute(f"SELECT count(*) FROM ({rows}) WHERE problem IS NOT NULL").fetchone()  # noqa: S608
        built.bad = int(counted[0]) if counted else 0
        built.unnamed = left - built.bad
        problems = parquet_rows.first_problems(connection, rows, KEPT_BAD_ROWS) if built.bad else []
        built.bad_rows = [BadRow(row=row, reason=reason) for row, reason in problems]
    return built


def _recognise_parquet(path: str, columns: dict[str, str], kinds: Kinds) -> tuple[OpenFileKind, ParquetColumns]:
    """Which source a Parquet file is of, by its columns."""
    described = [(kind, kind.parquet) for kind in kinds if kind.parquet is not None]
    for kind, parquet in described:
        if parquet.recognises(columns):
            return kind, parquet
    needs = "; ".join(f"{kind.source.title} needs {', '.join(parquet.needed)}" for kind, parquet in described)
    reason = f"its columns are those of no source that is known here: {', '.join(list(columns)[:12])}"
    raise SourceRefused(file=path, reason=reason, hint=f"{needs}.")


def _refuse_empty_rows(files: Sequence[str], rows: int) -> None:
    """A column of which all values are the same takes a few bytes for a billion of them; a business takes more."""
    size = sum(map(os.path.getsize, files))
    if rows > size:
        raise SourceRefused(file=files[0], reason=f"it says that there are {rows:,} rows in {size:,} bytes")


def _parquet_count(connection: duckdb.DuckDBPyConnection, files: Sequence[str]) -> int:
    counted = connection.execute("SELECT count(*) FROM read_parquet(?)", [list(files)]).fetchone()
    return int(counted[0]) if counted else 0


# --- JSON


def _copy_json(
    connection: duckdb.DuckDBPyConnection,
    path: str,
    kind: OpenFileKind,
    target: str,
    staged: str,
    progress: Callable[[int], None],
) -> BuiltCopy:
    built = BuiltCopy(kind)
    with open(staged, "w", encoding="utf-8") as stage:
        for line in read_rows(path, progress):
            built.rows += 1
            _stage(line, kind, built, stage)
    rows = (
        f"SELECT * FROM read_json({quote_text(staged)}, columns = {_STAGED}, format = 'newline_delimited',"  # noqa: S608
        f" maximum_object_size = {8 * ROW_LIMIT})"
    )
    _write(connection, rows, target)
    os.unlink(staged)
    return built


def _stage(line: JsonLine, kind: OpenFileKind, built: BuiltCopy, stage: TextIO) -> None:
    if line.problem is not None or not isinstance(line.value, dict):
        built.note_bad(line.number, line.problem or "it is not a JSON object")
        return
    try:
        facts = kind.facts(line.value)
        raw = json.dumps(line.value, ensure_ascii=False, separators=(",", ":"))
        raw.encode()
    except UnusableRow as error:
        built.note_bad(line.number, str(error.details["reason"]))
        return
    except UnicodeEncodeError:
        built.note_bad(line.number, "it contains a lone surrogate, which is no text")
        return
    if facts.name is None:
        built.unnamed += 1
        return
    built.places += 1
    row = {
        "tile": tile_number(Tile.containing(facts.lat, facts.lon)),
        "lat": facts.lat,
        "lon": facts.lon,
        "id": facts.id,
        "name": facts.name,
        "terms": facts.terms,
        "raw": raw,
    }
    stage.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


def recognise_json(path: str, kinds: Kinds, wanted: str | None) -> OpenFileKind:
    """Which source a JSON file is of: the one that most of its first rows look like."""
    seen = [line for line in islice(read_rows(path), _LOOKED_AT) if isinstance(line.value, dict)]
    if not seen:
        raise SourceRefused(file=path, reason="there is no row in it that is a JSON object")
    by_name = {kind.name: kind for kind in kinds}
    scores = {name: sum(kind.recognises(line.value) for line in seen) for name, kind in by_name.items()}
    best = max(scores, key=lambda name: scores[name])
    if scores[best] * 2 > len(seen):
        _refuse_other(path, best, wanted)
        return by_name[best]
    if wanted is not None:
        return by_name[wanted]
    values = seen[0].value.get("properties")
    keys = list(values if isinstance(values, dict) else seen[0].value)[:12]
    reason = f"row {seen[0].number} is of no source that is known here; it has {', '.join(map(str, keys)) or 'nothing'}"
    *others, last = by_name
    choices = f"{', '.join(others)} or {last}" if others else last
    raise SourceRefused(file=path, reason=reason, hint=f"Say what it is with --as {choices}.")


# --- both


def _refuse_other(path: str, found: str, wanted: str | None) -> None:
    if wanted is not None and wanted != found:
        raise SourceRefused(
            file=path, reason=f"it is a file of {found}, not of {wanted}", hint=f"Add it with: --as {found}"
        )


def _refuse_mostly_bad(path: str, built: BuiltCopy) -> None:
    if built.bad and built.bad > built.rows * _TOLERATED:
        first = built.bad_rows[0]
        reason = f"{built.bad:,} of its {built.rows:,} rows are unusable; row {first.row}: {first.reason}"
        raise SourceRefused(file=path, reason=reason)
    if not built.places:
        raise SourceRefused(file=path, reason=f"none of its {built.rows:,} rows has a name")


def _write(connection: duckdb.DuckDBPyConnection, rows: str, target: str) -> None:
    connection.execute(
        f"COPY (SELECT tile, lat, lon, id, name, terms, raw FROM ({rows}) {_ORDER}) TO {quote_text(target)}"  # noqa: S608
        f" (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROWS_IN_A_GROUP})"
    )


def _bounds(connection: duckdb.DuckDBPyConnection, target: str) -> Box | None:
    found = connection.execute(
        "SELECT min(tile // 3600), max(tile // 3600), min(tile % 3600), max(tile % 3600) FROM read_parquet(?)", [target]
    ).fetchone()
    if not found or found[0] is None:
        return None
    south, north, west, east = map(int, found)
    return Box.of_tiles([tile_of_number(south * 3600 + west), tile_of_number(north * 3600 + east)])
