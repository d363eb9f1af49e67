"""Rows of Parquet files as SQL: every row as one JSON text, and beside it what it is found by.

The columns differ from release to release. So they become JSON first, and what a row is found by is read from them by
paths: a path that a release does not have is null, and no release needs code of its own. The SQL says what the `facts`
of the source would say: tests hold the two together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.errors import SourceRefused
from cocli.formats.usv_sql import quote_name, quote_text
from cocli.pipeline.sources.open_places.values import NAME_LIMIT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

TILE = (
    "(CAST(floor(least(floor(round_even(lat * 1e6, 0) / 1000), 89999) / 100) AS INTEGER) + 900) * 3600"
    " + CAST(floor((((floor(round_even(lon * 1e6, 0) / 1000) + 180000) % 360000)) / 100) AS INTEGER)"
)
"""The number of the whole tile that a point falls into, as `tile_number(Tile.containing(lat, lon))` says it."""


@dataclass(frozen=True, slots=True)
class ParquetColumns:
    """The Parquet files of a source. In its SQL `f_{column}` is a column as JSON, null where the file has none."""

    needed: tuple[str, ...]
    """A file that has these is one of the source …"""
    used: tuple[str, ...]
    identity: str
    name: str
    terms: str
    lat: str
    lon: str
    structs: tuple[str, ...] = ()
    """… if these of them are structs."""

    def recognises(self, columns: Mapping[str, str]) -> bool:
        """Column → type."""
        whole = all(column in columns for column in self.needed)
        return whole and all(columns[column].startswith("STRUCT") for column in self.structs)


def lower_terms(terms: str) -> str:
    """A list in SQL: each term once, in lower case, none of them empty."""
    return f"list_distinct(list_transform(list_filter({terms}, lambda term: term <> ''), lambda term: lower(term)))"


def point_on(axis: int) -> str:
    """A coordinate of the geometry, where that is a point: 0 is the longitude, 1 the latitude."""
    number = f"TRY_CAST(f_geometry->>'$.coordinates[{axis}]' AS DOUBLE)"
    return f"CASE WHEN f_geometry->>'$.type' = 'Point' THEN {number} END"


_PROBLEM = (
    "CASE WHEN lat IS NULL OR lon IS NULL OR isnan(lat) OR isnan(lon) THEN 'it has no point on the map'"
    " WHEN NOT (lat BETWEEN -90 AND 90 AND lon BETWEEN -180 AND 180)"
    " THEN format('latitude {:g}, longitude {:g} is not on the globe', lat, lon)"
    f" WHEN length(name) > {NAME_LIMIT} THEN format('its name has {{}} characters', length(name)) END"
)


def columns_of(connection: duckdb.DuckDBPyConnection, files: Sequence[str]) -> dict[str, str]:
    """Column → type of a Parquet file. `SourceRefused` for what is none."""
    import duckdb

    try:
        rows = connection.execute(f"DESCRIBE SELECT * FROM {_read(files)}").fetchall()  # noqa: S608  quoted
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0]
        raise SourceRefused(file=files[0], reason=f"it is no Parquet file that can be read: {reason}") from error
    return {str(row[0]): str(row[1]) for row in rows}


def select_rows(parquet: ParquetColumns, columns: dict[str, str], files: Sequence[str]) -> str:
    """`row, raw, id, name, terms, lat, lon, problem` of every row; `row` counts from 1 in its file."""
    used = ", ".join(
        f"{_column_as_json(column, columns.get(column))} AS {quote_name(f'f_{column}')}" for column in parquet.used
    )
    raw = (
        f"SELECT file_row_number + 1 AS row, {_row_as_json(columns)} AS raw, {used}"  # noqa: S608
        f" FROM {_read(files, numbered=True)} AS one"
    )
    facts = (
        f"SELECT row, raw, {parquet.identity} AS id, {parquet.name} AS name, {parquet.terms} AS terms,"  # noqa: S608
        f" {parquet.lat} AS lat, {parquet.lon} AS lon FROM ({raw})"
    )
    return f"SELECT *, {_PROBLEM} AS problem FROM ({facts})"  # noqa: S608  quoted names and our own expressions


def _row_as_json(columns: dict[str, str]) -> str:
    """A row as JSON: the geometry as GeoJSON, other binary columns left out."""
    kept = {name: kind for name, kind in columns.items() if kind != "BLOB" or name == "geometry"}
    parts = [f"{quote_name(name)} := {_column_value(name, kind)}" for name, kind in kept.items()]
    return f"CAST(to_json(struct_pack({', '.join(parts)})) AS VARCHAR)"


def _column_as_json(name: str, kind: str | None) -> str:
    return "NULL::JSON" if kind is None else f"to_json({_column_value(name, kind)})"


def _column_value(name: str, kind: str) -> str:
    column = f"one.{quote_name(name)}"
    if name != "geometry" and not kind.startswith("GEOMETRY"):
        return column
    shape = column if kind.startswith("GEOMETRY") else f"TRY(ST_GeomFromWKB({column}))"
    return f"TRY_CAST(TRY(ST_AsGeoJSON({shape})) AS JSON)"


def _read(files: Sequence[str], *, numbered: bool = False) -> str:
    names = ", ".join(map(quote_text, files))
    return f"read_parquet([{names}], file_row_number = {str(numbered).lower()}, union_by_name = true)"


def first_problems(connection: duckdb.DuckDBPyConnection, rows: str, limit: int) -> list[tuple[int, str]]:
    """The first rows that are unusable, with the reason."""
    found: list[Any] = connection.execute(
        f"SELECT row, problem FROM ({rows}) WHERE problem IS NOT NULL ORDER BY row LIMIT {int(limit)}"  # noqa: S608
    ).fetchall()
    return [(int(row), str(problem)) for row, problem in found]
