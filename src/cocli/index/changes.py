"""What a new version changes: records merged with those that the version has, and which of them differ afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from cocli.formats import usv
from cocli.index.keys import KeySum
from cocli.index.rows import read_header
from cocli.index.runs import RowChange
from cocli.models.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cocli.index.spec import IndexSpec
    from cocli.index.view import VersionView

R = TypeVar("R", bound=Record)

_RENDERED_AT_ONCE = 1000


class Changes(Generic[R]):
    """Collects records, then (`resolve`) looks their keys up in a version and keeps what is not there yet."""

    def __init__(self, spec: IndexSpec[R], view: VersionView[R], removals: frozenset[str] = frozenset()) -> None:
        self._spec = spec
        self._view = view
        self._removals = removals
        self._records: dict[str, R] = {}
        self.removed_keys: list[str] = []
        """Keys that the version has and the next one has not."""
        self._dropped: set[str] = set()
        """Keys of records that waited and are to be removed: they go no further."""
        self.added = 0
        self.changed = 0
        self.key_sum = KeySum(view.manifest.key_sum)

    def __len__(self) -> int:
        return len(self._records)

    @property
    def is_empty(self) -> bool:
        # What was only dropped is news as well: it must be remembered as consumed, or it would come back.
        return not self._records and not self.removed_keys and not self._dropped

    @property
    def wants_removals(self) -> bool:
        return bool(self._removals)

    @property
    def removed(self) -> int:
        return len(self._dropped.union(self.removed_keys))

    @property
    def rows(self) -> int:
        """The rows of the new version."""
        return self._view.manifest.rows + self.added - len(self.removed_keys)

    def add(self, records: Iterable[R]) -> None:
        mine, key_of, merge = self._records, self._spec.key_of, self._spec.merge
        for record in records:
            key = key_of(record)
            if key in self._removals:
                self._dropped.add(key)
            else:
                mine[key] = merge(mine[key], record) if key in mine else record

    def resolve(self) -> None:
        """Merge with what the version has. A record that says nothing new is no change."""
        there = self._view.records(self._records)
        for key, existing in there.items():
            merged = self._spec.merge(existing, self._records[key])
            if merged == existing and merged.extras == existing.extras:
                del self._records[key]
            else:
                self._records[key] = merged
        self._count(there)

    def replace(self, records: Mapping[str, R]) -> None:
        """Instead of `add` and `resolve`: these records as they are, whatever the version says of their keys."""
        there = self._view.records(records)
        for key, record in records.items():
            known = there.get(key)
            if known is None or known != record or known.extras != record.extras:
                self._records[key] = record
        self._count(there)

    def _count(self, there: Mapping[str, R]) -> None:
        """What is added, changed and removed against what the version has of these keys."""
        self.changed = sum(key in there for key in self._records)
        self.added = len(self._records) - self.changed
        self.removed_keys = sorted(self._view.find_many(self._removals))
        for key in self._records:
            if key not in there:
                self.key_sum.add(key)
        for key in self.removed_keys:
            self.key_sum.remove(key)

    def rows_in_order(self) -> Iterator[RowChange]:
        """What a run gets and loses, in key order."""
        keys = sorted([*self._records, *self.removed_keys])
        for begin in range(0, len(keys), _RENDERED_AT_ONCE):
            some = keys[begin : begin + _RENDERED_AT_ONCE]
            lines = self._render([key for key in some if key in self._records])
            yield from (lines.get(key, RowChange(key, None)) for key in some)

    def _render(self, keys: list[str]) -> dict[str, RowChange]:
        if not keys:
            return {}
        data = usv.render(self._spec.model, [self._records[key] for key in keys])
        first, *lines = data[:-1].split(b"\n")
        header = read_header(first, file="<memory>")
        return {key: RowChange(key, line, header) for key, line in zip(keys, lines, strict=True)}
