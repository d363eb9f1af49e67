"""SQL over the indexes of a campaign: which views there are, what each needs, and as of when.

Only what a query names is fetched: one request for the pointer, one for the manifest, one per shard that is not in
the cache, for each index that is named.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from cocli.errors import UsageError
from cocli.index.queries.layers import reader_rows, shard_rows
from cocli.index.queries.names import manifest_name
from cocli.index.queries.query import Layer, QueryResult, open_session, side_by_side
from cocli.index.reader import open_reader
from cocli.pipeline.indexes import COMPLETIONS, spec_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from duckdb import DuckDBPyRelation

    from cocli.app.indexes.indexes import Indexes
    from cocli.index.objects import DamagedShard
    from cocli.index.reader import IndexReader
    from cocli.keys.paths import IndexRef
    from cocli.models.record import Record

_UNMERGED = "merged_into IS NULL"
"""A prospect that is known under another hash now is kept as evidence, and counted once."""
ALL_COMPLETIONS = "completions"
_TIMES = "Write 2026-11-15 or 2026-11-15T12:00:00Z; a version is 12 or prospects=12."


@dataclass(frozen=True, slots=True)
class AsOf:
    """A moment in the life of the indexes: a time, or a version for each of them."""

    time: datetime | None = None
    number: int | None = None
    """The version of the only index that is asked for."""
    numbers: dict[str, int] = field(default_factory=dict)

    @classmethod
    def parse(cls, texts: Sequence[str]) -> AsOf:
        """`12`, `prospects=12`, `2026-11-15`, `2026-11-15T12:00:00Z`; several for several indexes."""
        time: datetime | None = None
        number: int | None = None
        numbers: dict[str, int] = {}
        for text in texts:
            name, equals, version = text.partition("=")
            if equals and version.isdecimal():
                numbers[name.replace("_", "-")] = int(version)
            elif text.isdecimal():
                number = int(text)
            else:
                time = parse_time(text, "--as-of")
        if sum((time is not None, number is not None, bool(numbers))) > 1:
            raise UsageError(reason="--as-of: give one time, one version, or INDEX=VERSION for each index")
        return cls(time, number, numbers)

    def version_of(self, ref: IndexRef) -> int | None:
        return self.numbers.get(ref.name, self.number)


@dataclass(slots=True)
class QueryReport:
    """What a query saw."""

    versions: dict[str, int] = field(default_factory=dict)
    """Index → version."""
    unpacked: dict[str, int] = field(default_factory=dict)
    """Index → records that were overlaid, of those that were asked for fresh."""
    damaged: list[str] = field(default_factory=list)
    """Shards that were left out."""
    rejected: int = 0
    """Rows that wait to be packed and cannot be read; they are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryOptions:
    fresh: bool = False
    as_of: AsOf = field(default_factory=AsOf)
    empty_before: bool = False
    """An index that had no version yet at the time of `as_of` was empty."""
    derived: bool = False
    """Build the derived copies of what is asked for, where they are not current."""
    skip_damaged: bool = False


def options_at(moment: datetime | None) -> QueryOptions:
    """For what was known at a time; None: for all that is known now."""
    if moment is None:
        return QueryOptions(fresh=True)
    return QueryOptions(as_of=AsOf(time=moment), empty_before=True)


@dataclass(slots=True)
class Query:
    """A query on its way: answer it with `result`, or write the answer with `write_parquet`."""

    indexes: Indexes
    sql: str
    options: QueryOptions
    scratch: str
    session: Any
    views: dict[str, QueryView]
    report: QueryReport = field(default_factory=QueryReport)
    readers: dict[str, IndexReader[Any]] = field(default_factory=dict)
    """One for each index, so that two views of it show one version."""

    def result(self) -> QueryResult:
        found: QueryResult = self.session.run(self.sql, self._rows)
        return found

    def relation(self) -> DuckDBPyRelation:
        """The answer as a relation of DuckDB; it lives as long as the query is open."""
        found: DuckDBPyRelation = self.session.relation(self.sql, self._rows)
        return found

    def write_parquet(self, path: str) -> int:
        return int(self.session.write_parquet(self.sql, self._rows, path))

    def _rows(self, name: str) -> Layer:
        view = self.views[name]
        return side_by_side([self._index_rows(ref, view.where) for ref in view.refs])

    def _index_rows(self, ref: IndexRef, where: str) -> Layer:
        reader, copies, model = self._reader(ref), self.indexes.copies(ref), spec_of(ref).model
        name = manifest_name(reader.manifest)
        if self.options.derived and reader.version and not copies.find(name):
            copies.build(name, shard_rows(reader, model))
        return reader_rows(reader, model, copies, self.scratch, where=where)

    def _reader(self, ref: IndexRef) -> IndexReader[Any]:
        if ref.name not in self.readers:
            reader = open_reader(
                self.indexes.open(ref),
                number=self._version(ref),
                as_of=self.options.as_of.time,
                empty_before=self.options.empty_before,
                fresh=self.options.fresh,
                on_damaged=self._on_damaged if self.options.skip_damaged else None,
                on_rejected=self._on_rejected,
            )
            self.report.versions[ref.name] = reader.version
            if self.options.fresh:
                self.report.unpacked[ref.name] = reader.overlaid
            self.readers[ref.name] = reader
        return self.readers[ref.name]

    def _version(self, ref: IndexRef) -> int | None:
        as_of = self.options.as_of
        if as_of.number is not None and set(self.report.versions) - {ref.name}:
            raise UsageError(
                reason=f"Version {as_of.number} of which index? The query names several.",
                hint=f"Write: --as-of {ref.name}={as_of.number}, or a time: --as-of 2026-11-15T12:00:00Z",
            )
        return as_of.version_of(ref)

    def _on_damaged(self, damaged: DamagedShard) -> None:
        self.report.damaged.append(str(damaged))

    def _on_rejected(self, _rejected: object) -> None:
        self.report.rejected += 1


@dataclass(frozen=True, slots=True)
class QueryView:
    """A name in SQL, and the indexes behind it."""

    refs: tuple[IndexRef, ...]
    model: type[Record]
    where: str = ""


def views_of(indexes: Indexes, *, listing: bool = False) -> dict[str, QueryView]:
    """Every view, by its name in SQL."""
    refs = indexes.refs(listing=listing)
    views = {view_name(ref): QueryView((ref,), spec_of(ref).model) for ref in refs}
    if "prospects" in views:
        plain = views["prospects"]
        views["prospects"] = QueryView(plain.refs, plain.model, _UNMERGED)
        views["prospects_all"] = plain
    completions = tuple(ref for ref in refs if ref.name.startswith(COMPLETIONS))
    if completions:
        views[ALL_COMPLETIONS] = QueryView(completions, spec_of(completions[0]).model)
    return views


def view_name(ref: IndexRef) -> str:
    return ref.name.replace("-", "_")


@contextmanager
def opened_query(indexes: Indexes, sql: str, options: QueryOptions) -> Iterator[Query]:
    """A query, ready to be answered once."""
    if options.fresh and options.as_of != AsOf():
        raise UsageError(reason="--fresh is about now, --as-of about then: they exclude each other")
    for name in options.as_of.numbers:
        indexes.ref(name)
    # Which queues there are costs a listing, so it is asked only where the answer can matter.
    views = views_of(indexes, listing=ALL_COMPLETIONS in sql.lower())
    with (
        indexes.scratch() as scratch,
        open_session({name: view.model for name, view in views.items()}, spill=scratch) as session,
    ):
        yield Query(indexes, sql, options, scratch, session, views)


def parse_time(text: str, option: str) -> datetime:
    """A time as a person writes it; without a zone it is UTC."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(reason=f'{option}: "{text}" is not a time', hint=_TIMES) from error
    if time.tzinfo is None:
        return time.replace(tzinfo=UTC)
    return time.astimezone(UTC)
