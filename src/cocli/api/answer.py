"""The answer to a question about indexes, in the form that somebody wants: rows, a relation, Arrow, a data frame.

Nothing is asked before one of them is. A question sees one version of each index that it names.
"""

from __future__ import annotations

from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from cocli.app.indexes.query import AsOf, QueryOptions, QueryReport, opened_query
from cocli.app.indexes.values import plain_value
from cocli.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import ExitStack
    from datetime import datetime

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from duckdb import DuckDBPyRelation

    from cocli.app.indexes.indexes import Indexes
    from cocli.app.indexes.query import Query

    Moment = str | int | datetime
    """A time, or the number of a version: `"2026-11-15"`, `12`, `"prospects=12"`, a datetime."""


class Answer:
    """The rows that a question has. Lists and maps are Python's in `rows`, and JSON text in the other forms."""

    def __init__(self, indexes: Indexes, sql: Callable[[], str], options: QueryOptions, opened: ExitStack) -> None:
        self._indexes = indexes
        self._sql = sql
        self._options = options
        self._opened = opened
        self.seen = QueryReport()
        """What the last question saw: versions, records that were not packed yet, rows that could not be read."""

    def rows(self) -> Iterator[dict[str, Any]]:
        """Each row as a dict: times in UTC, JSON columns as what they hold. Fetched as they are asked for."""
        with self._asked(self._sql()) as query:
            result = query.result()
            columns = [(column.name, column.type) for column in result.columns]
            for row in result.rows():
                yield {name: plain_value(value, kind) for (name, kind), value in zip(columns, row, strict=True)}

    def count(self) -> int:
        """How many rows there are."""
        with self._asked(f"SELECT count(*) FROM (\n{self._sql()}\n)") as query:  # noqa: S608  a question in a question
            return int(next(query.result().rows())[0])

    def relation(self) -> DuckDBPyRelation:
        """A relation of DuckDB, to be filtered, joined and aggregated further.

        Its connection reads the files of the index and nothing else. It stays open until the data is closed. Times are
        in UTC, and do not say so.
        """
        return self._opened.enter_context(self._asked(self._sql())).relation()

    def arrow(self) -> pa.Table:
        """A table of Arrow. Needs pyarrow."""
        _need("A table of Arrow", "pyarrow")
        with self._asked(self._sql()) as query:
            table: pa.Table = query.relation().to_arrow_table()
            return table

    def to_pandas(self) -> pd.DataFrame:
        """A data frame of pandas. Needs pandas."""
        _need("A data frame of pandas", "pandas")
        with self._asked(self._sql()) as query:
            frame: pd.DataFrame = query.relation().df()
            return frame

    def to_polars(self) -> pl.DataFrame:
        """A data frame of Polars. Needs polars and pyarrow."""
        _need("A data frame of Polars", "polars", "pyarrow")
        with self._asked(self._sql()) as query:
            frame: pl.DataFrame = query.relation().pl()
            return frame

    @contextmanager
    def _asked(self, sql: str) -> Iterator[Query]:
        with opened_query(self._indexes, sql, self._options) as query:
            self.seen = query.report
            yield query


def options_of(fresh: bool | None, as_of: Moment | None) -> QueryOptions:
    """What waits to be packed is seen as well, unless the question is about an earlier moment."""
    chosen = as_of is None if fresh is None else fresh
    return QueryOptions(fresh=chosen, as_of=_moment(as_of))


def _moment(as_of: Moment | None) -> AsOf:
    if as_of is None:
        return AsOf()
    return AsOf.parse([as_of if isinstance(as_of, str) else str(as_of)])


def _need(feature: str, *packages: str) -> None:
    for package in packages:
        if find_spec(package) is None:
            hint = f"Install it with: pip install {' '.join(packages)}"
            raise MissingExtra(feature=feature, package=package, extra=package, hint=hint)
