"""What changed between two versions: records added, removed, changed, and in which fields.

Only the key ranges of shards that one version has and the other has not are looked at, row by row, in key order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from cocli.index.view import VersionView, ViewRow
from cocli.models.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.index.index import Index, RecordVeil
    from cocli.index.manifest import Manifest

R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class Difference(Generic[R]):
    key: str
    kind: Literal["added", "removed", "changed"]
    old: R | None
    new: R | None
    fields: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    """Of a changed record: field → old and new value."""


def diff(index: Index[R], old: Manifest, new: Manifest) -> Iterator[Difference[R]]:
    """The differences in key order."""
    before: VersionView[R] = VersionView(index, old)
    after: VersionView[R] = VersionView(index, new)
    veil = index.veil()
    for low, high in _ranges(old, new):
        for difference in _compare(before, after, low, high):
            yield from [difference] if veil is None else _veiled(difference, veil)


def _veiled(difference: Difference[R], veil: RecordVeil) -> Iterator[Difference[R]]:
    """The same, as it may be shown: a record that may not be, and one that only differs in what may not, is none."""
    old = None if difference.old is None else veil.record(difference.old)
    new = None if difference.new is None else veil.record(difference.new)
    if old is not None and new is not None:
        yield from _changed(difference.key, old, new)
    elif old is not None or new is not None:
        yield Difference(difference.key, "removed" if new is None else "added", old, new)


def diff_keys(before: VersionView[R], after: VersionView[R]) -> Iterator[ViewRow]:
    """The rows of a version that another one has not, or not so."""
    for low, high in _ranges(before.manifest, after.manifest):
        there = {row.key: row.line for row in before.rows(low, high)}
        yield from (row for row in after.rows(low, high) if there.get(row.key) != row.line)


def _ranges(old: Manifest, new: Manifest) -> list[tuple[str, str]]:
    """Where the versions may differ: the ranges of shards that are not in both, joined where they overlap."""
    ours = {(run, entry.sha256): entry for run in ("base", "delta") for entry in getattr(old, run)}
    theirs = {(run, entry.sha256): entry for run in ("base", "delta") for entry in getattr(new, run)}
    both = ours | theirs
    changed = [both[run_and_name] for run_and_name in set(ours) ^ set(theirs)]
    ranges: list[tuple[str, str]] = []
    for low, high in sorted((entry.first, entry.last) for entry in changed):
        if ranges and low <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(high, ranges[-1][1]))
        else:
            ranges.append((low, high))
    return ranges


def _compare(before: VersionView[R], after: VersionView[R], low: str, high: str) -> Iterator[Difference[R]]:
    ours, theirs = before.rows(low, high), after.rows(low, high)
    old, new = next(ours, None), next(theirs, None)
    while old is not None or new is not None:
        if new is None or (old is not None and old.key < new.key):
            if old is not None:
                yield Difference(old.key, "removed", _record(before, old), None)
            old = next(ours, None)
        elif old is None or new.key < old.key:
            yield Difference(new.key, "added", None, _record(after, new))
            new = next(theirs, None)
        else:
            if (old.line, old.header) != (new.line, new.header):
                yield from _changed(old.key, _record(before, old), _record(after, new))
            old, new = next(ours, None), next(theirs, None)


def _record(view: VersionView[R], row: ViewRow) -> R:
    return view.reader_of(row.header).record(row.line)


def _changed(key: str, old: R, new: R) -> Iterator[Difference[R]]:
    names = dict.fromkeys((*type(old).model_fields, *old.extras, *new.extras))
    fields = {name: pair for name in names if (pair := (_value(old, name), _value(new, name)))[0] != pair[1]}
    if fields:
        yield Difference(key, "changed", old, new, fields)


def _value(record: Record, name: str) -> Any:
    if name in type(record).model_fields:
        return getattr(record, name)
    return record.extras.get(name)
