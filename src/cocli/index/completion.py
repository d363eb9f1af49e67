"""Rows by the million: gives a version the rows that it lacks, without making records of them.

This is for plans, which are made of few values in many combinations: a caller that has them in key order can write a
million rows in seconds. What is there already stays as it is. It is one version, published as every other
one (`publication`); if somebody else is first, the rows are compared again with theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar

from cocli.errors import Conflict, IndexDamaged, RecordError
from cocli.index.changes import Changes
from cocli.index.consumed import read_consumed
from cocli.index.latest import current_pointer
from cocli.index.publication import FOLD_SHARE, publish
from cocli.index.rows import RowReader, standard_header
from cocli.index.runs import RowChange
from cocli.index.versions import current_version, is_current, manifest_of
from cocli.index.view import VersionView
from cocli.keys.paths import LatestKey
from cocli.models.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cocli.index.index import Index

R = TypeVar("R", bound=Record)

KeyedLine = tuple[str, bytes]
"""A sort key, and the row without its line feed, under the columns of the model in their order."""
_CHECKED_EVERY = 1000
_BLOCK_ROWS = 500
_TRIES = 50


@dataclass(slots=True)
class Completed:
    """What was added to which version, and what was there."""

    version: int = 0
    added: int = 0
    there: int = 0
    """Rows that the version had already."""
    conflicts: int = 0


def complete(
    index: Index[R],
    rows: Callable[[], Iterable[KeyedLine]],
    *,
    on_surplus: Callable[[str], None] | None = None,
    dry_run: bool = False,
) -> Completed:
    """Publish a version that has these rows, where the current one lacks some. `rows` gives them in key order, and
    again if somebody else was first. `on_surplus` is told the keys that the version has and the rows do not name.

    What waits to be packed is not looked at: compact first.
    """
    done = Completed()
    for _ in range(_TRIES):
        surplus: list[str] = []
        pointer = None if dry_run else current_pointer(index)
        latest = pointer.latest if pointer else current_version(index)[0]
        try:
            view = VersionView(index, manifest_of(index, latest))
            noted = surplus if on_surplus else None
            compared = _Compared(index, view, rows(), noted)
            additions = _Additions(index, view, compared.missing())
            if pointer is None or additions.is_empty:
                for _row in additions.rows_in_order():
                    pass
                version: int | None = view.manifest.version
            else:
                consumed = read_consumed(index, view.manifest).values()
                published = publish(index, pointer, view, additions, consumed)
                version = None if published is None else published.latest.version
        except IndexDamaged:
            if is_current(index, latest):
                raise
            version = None  # this took so long that the version was collected meanwhile
        if version is not None:
            done.version, done.added, done.there = version, additions.added, compared.there
            for key in surplus:
                if on_surplus is not None:
                    on_surplus(key)
            return done
        done.conflicts += 1
    raise Conflict(key=str(LatestKey(index.ref)))


class _Compared:
    """Rows in key order beside those of a version."""

    def __init__(
        self, index: Index[Any], view: VersionView[Any], rows: Iterable[KeyedLine], surplus: list[str] | None
    ) -> None:
        self._view = view
        self._rows = _checked(index, rows)
        self._surplus = surplus
        self.there = 0

    def missing(self) -> Iterator[KeyedLine]:
        existing = self._view.rows()
        have = next(existing, None)
        for row in self._rows:
            while have is not None and have.key < row[0]:
                self._note(have.key)
                have = next(existing, None)
            if have is not None and have.key == row[0]:
                self.there += 1
                have = next(existing, None)
            else:
                yield row
        while have is not None:
            self._note(have.key)
            have = next(existing, None)

    def _note(self, key: str) -> None:
        if self._surplus is not None:
            self._surplus.append(key)


class _Additions(Changes[R]):
    """Rows that a version lacks, as what changes it. Only as many are held as decide whether the delta is folded."""

    def __init__(self, index: Index[R], view: VersionView[R], missing: Iterator[KeyedLine]) -> None:
        super().__init__(index.spec, view)
        enough = max(index.spec.fold_rows, view.base.rows // FOLD_SHARE) + 1
        self._header = standard_header(index.spec.model)
        self._first = list(islice(missing, enough))
        self._rest = missing

    def __len__(self) -> int:
        return len(self._first)

    @property
    def is_empty(self) -> bool:
        return not self._first

    def rows_in_order(self) -> Iterator[RowChange]:
        rows = chain(self._first, self._rest)
        # Rows that nothing of the version lies between go together: they need not be put among others.
        at_once = 1 if self._view.manifest.rows else _BLOCK_ROWS
        while some := list(islice(rows, at_once)):
            self.added += len(some)
            for key, _ in some:
                self.key_sum.add(key)
            yield RowChange(some[0][0], b"\n".join([line for _, line in some]), self._header)


def _checked(index: Index[Any], rows: Iterable[KeyedLine]) -> Iterator[KeyedLine]:
    """In order, without doubles; and every thousandth row is read as a record, so that a wrong form does not get in."""
    reader: RowReader[Any] = RowReader(index.spec, standard_header(index.spec.model), file="<rows>")
    before = ""
    for number, row in enumerate(rows):
        if row[0] <= before:
            raise RecordError(
                model=index.spec.model.__name__, reason=f"{row[0]} comes after {before}: not in key order"
            )
        before = row[0]
        if number % _CHECKED_EVERY == 0:
            record = reader.record(row[1])
            index.spec.check(index.ref, record)
            if index.spec.key_of(record) != row[0]:
                raise RecordError(model=index.spec.model.__name__, reason=f"{row[0]} is not the key of its row")
        yield row
