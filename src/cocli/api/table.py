"""The records of one index: typed when they are iterated over, and as an answer in every other form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar, cast

from cocli.api.answer import Answer, options_of
from cocli.app.indexes.lookup import look_up
from cocli.app.indexes.query import view_name
from cocli.app.results.prospects import select_sql
from cocli.formats.usv_sql import quote_name
from cocli.models.record import Record
from cocli.pipeline.indexes import spec_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import ExitStack

    from cocli.api.answer import Moment
    from cocli.app.indexes.indexes import Indexes
    from cocli.app.indexes.query import QueryOptions
    from cocli.keys.paths import IndexRef

R = TypeVar("R", bound=Record)


class Table(Answer, Generic[R]):
    """Records of an index that meet some conditions."""

    def __init__(
        self, indexes: Indexes, ref: IndexRef, sql: Callable[[], str], options: QueryOptions, opened: ExitStack
    ) -> None:
        super().__init__(indexes, sql, options, opened)
        self._ref = ref

    def __iter__(self) -> Iterator[R]:
        """Each record, in the order of the index."""
        keys = spec_of(self._ref).model.key
        chosen = f"SELECT {', '.join(map(quote_name, keys))} FROM (\n{self._sql()}\n)"  # noqa: S608  quoted names
        with self._asked(chosen) as query:
            wanted = set(query.result().rows())
            for record in query.readers[self._ref.name].scan():
                if tuple(getattr(record, name) for name in keys) in wanted:
                    yield record

    def get(self, name: str) -> R:
        """One record by what a person calls it: a hash, a domain, an address. `NotFound` if there is none.

        The conditions of the table are not asked.
        """
        options = self._options
        found, _version = look_up(self._indexes, self._ref, name, fresh=options.fresh, as_of=options.as_of)
        return cast("R", found)


def index_table(
    indexes: Indexes,
    name: str,
    opened: ExitStack,
    *,
    where: str | None,
    limit: int | None,
    fresh: bool | None,
    as_of: Moment | None,
) -> Table[R]:
    """The table of an index by its name, with conditions in SQL."""
    ref = indexes.ref(name)
    conditions = [f"(\n{where}\n)"] if where is not None else []
    order = tuple(map(quote_name, spec_of(ref).model.key))
    sql = select_sql(quote_name(view_name(ref)), conditions, order=order, limit=limit)
    return Table(indexes, ref, lambda: sql, options_of(fresh, as_of), opened)
