"""SQL over the records of indexes: files of the cache as views of one DuckDB connection that can do nothing else.

A view is made of layers, newest first: a row hides the rows of its key in the layers below, so nothing is ever
merged while reading. A layer is a run of shards, a derived copy, or the records that are not packed yet.

The connection is locked before a person's SQL is looked at: no files but those of the layers, no extensions, no
variables of this process, no change of these settings. What was scraped is data to it and nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb

from cocli.formats.columns import columns_of
from cocli.formats.usv_sql import SQL_TYPES, quote_name, quote_text, select_usv
from cocli.index.queries.sql import parse_query, query_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cocli.index.rows import Header
    from cocli.models.record import Record

_CONFIG = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
}
_FETCHED_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Layer:
    """Rows in files, as a SELECT."""

    sql: str
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResultColumn:
    name: str
    type: str


class QueryResult:
    """The answer to a query: its columns, and rows that are fetched as they are asked for."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        described = connection.description or []
        names = _distinct([str(column[0]) for column in described])
        self.columns = [ResultColumn(name, str(column[1])) for name, column in zip(names, described, strict=True)]
        self._connection = connection

    def rows(self) -> Iterator[tuple[Any, ...]]:
        with _mapped_errors():
            while some := self._connection.fetchmany(_FETCHED_AT_ONCE):
                yield from some


def usv_layer(model: type[Record], files: Iterable[tuple[str, Header]]) -> Layer:
    """USV files, each with its header. Those with other columns than the model's are read by theirs."""
    by_header: dict[Header, list[str]] = defaultdict(list)
    for file, header in files:
        by_header[header].append(file)
    return side_by_side(
        [Layer(select_usv(model, some, header=header), tuple(some)) for header, some in by_header.items()]
    )


def parquet_layer(file: str) -> Layer:
    """A derived copy."""
    return Layer(f"SELECT * FROM read_parquet({quote_text(file)})", (file,))  # noqa: S608  quoted


def stacked(model: type[Record], layers: Sequence[Layer], *, where: str = "") -> Layer:
    """Of each key the row in the uppermost layer; `where` is asked of those rows. A key occurs once in a layer."""
    if not layers:
        return Layer(_no_rows(model))
    keys = ", ".join(map(quote_name, model.key))
    parts: list[str] = []
    for number, layer in enumerate(layers):
        above = [f"SELECT {keys} FROM ({upper.sql})" for upper in layers[:number]]  # noqa: S608  quoted names
        hidden = ""
        if above:
            hidden = f" ANTI JOIN ({' UNION ALL '.join(above)}) AS above USING ({keys})"
        parts.append(f"SELECT here.* FROM ({layer.sql}) AS here{hidden}")  # noqa: S608  built from quoted parts
    return _selected(side_by_side([Layer(sql) for sql in parts]).sql, where, layers)


def side_by_side(layers: Sequence[Layer]) -> Layer:
    """The rows of all layers, whatever their keys."""
    sql = " UNION ALL BY NAME ".join(layer.sql for layer in layers)
    return Layer(sql, tuple(file for layer in layers for file in layer.files))


def _selected(sql: str, where: str, layers: Sequence[Layer]) -> Layer:
    wanted = f"SELECT * FROM ({sql}) WHERE {where}" if where else sql  # noqa: S608  ours
    return Layer(wanted, side_by_side(layers).files)


Sources = Callable[[str], Layer]
"""The rows of a view by its name: fetches the files that the view needs."""


class QuerySession:
    """A connection for one query. Views are added, then it is locked, then it is asked; close it afterwards."""

    def __init__(self, known: Mapping[str, type[Record]], *, spill: str | None = None) -> None:
        """`known`: every view there is, with its model. `spill` is a folder for what does not fit into memory."""
        self._known = known
        self._connection = duckdb.connect(":memory:", config=dict(_CONFIG))
        self._files: set[str] = set()
        self._connection.execute("SET temp_directory = ?", [spill or ""])

    def run(self, sql: str, source: Sources) -> QueryResult:
        """Ask. `source` is called for the views that the query names, and only for those."""
        statement = self._prepare(sql, source)
        with _mapped_errors():
            return QueryResult(self._connection.execute(statement))

    def relation(self, sql: str, source: Sources) -> duckdb.DuckDBPyRelation:
        """The answer as a relation, to be asked further. It lives as long as this session is open."""
        statement = self._prepare(sql, source)
        with _mapped_errors():
            return self._connection.sql(statement)

    def write_parquet(self, sql: str, source: Sources, path: str) -> int:
        """Write the answer into a file, and return how many rows it has."""
        statement = self._prepare(sql, source, writes=path)
        with _mapped_errors():
            self._connection.sql(statement).write_parquet(path, compression="zstd")
            counted = self._connection.execute("SELECT count(*) FROM read_parquet(?)", [path]).fetchone()
        return int(counted[0]) if counted else 0

    def _prepare(self, sql: str, source: Sources, *, writes: str | None = None) -> str:
        parsed = parse_query(self._connection, sql, self._known)
        if parsed.looks_around:  # seldom, and a dozen views take longer than most queries
            for name, model in self._known.items():
                self._create(name, _no_rows(model))
        for name in sorted(parsed.views):
            shown = source(name)
            self._files.update(shown.files)
            self._create(name, shown.sql)
        self._lock(writes)
        return parsed.statement

    def close(self) -> None:
        self._connection.close()

    def _create(self, name: str, sql: str) -> None:
        with _mapped_errors():
            self._connection.execute(f"CREATE OR REPLACE VIEW {quote_name(name)} AS {sql}")

    def _lock(self, writes: str | None) -> None:
        allowed = [*sorted(self._files), *filter(None, [writes])]
        self._connection.execute("SET allowed_paths = ?", [allowed])
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")


@contextmanager
def open_session(known: Mapping[str, type[Record]], *, spill: str | None = None) -> Iterator[QuerySession]:
    session = QuerySession(known, spill=spill)
    try:
        yield session
    finally:
        session.close()


@contextmanager
def _mapped_errors() -> Iterator[None]:
    try:
        yield
    except duckdb.Error as error:
        raise query_error(error) from error


def _no_rows(model: type[Record]) -> str:
    columns = [f"NULL::{SQL_TYPES[column.kind]} AS {quote_name(column.name)}" for column in columns_of(model)]
    return f"SELECT {', '.join(columns)} WHERE false"


def _distinct(names: Sequence[str]) -> list[str]:
    """Names of columns of which no two are the same: `a`, `a_1`."""
    distinct: list[str] = []
    for name in names:
        number, candidate = 0, name
        while candidate in distinct:
            number += 1
            candidate = f"{name}_{number}"
        distinct.append(candidate)
    return distinct
