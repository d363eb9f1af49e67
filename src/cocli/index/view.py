"""The rows of one version, as raw lines: the delta first, then the base; nothing is ever merged here.

Shards are opened as they are needed and closed again, so that a version of any size takes bounded memory.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from cocli import logs
from cocli.errors import FormatError, IndexDamaged
from cocli.index.manifest import Manifest, ShardEntry, ShardRun
from cocli.index.rows import Header, RowReader
from cocli.index.shards import Shard
from cocli.keys.paths import ShardKey
from cocli.models.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cocli.formats.plan import RowPlan
    from cocli.index.index import Index
    from cocli.index.objects import DamagedShard
    from cocli.store.base import ObjectInfo

R = TypeVar("R", bound=Record)

_LOG = logs.get_logger(__name__)

_OPEN_BYTES = 1 << 30
"""Shards that stay open for the next lookup. They are mapped files: the kernel takes their memory if it needs some."""
_FEW_KEYS = 256
"""Whoever looks so many up together comes back for others, as with single lookups."""


class ViewRow(NamedTuple):
    key: str
    line: bytes
    header: Header


class VersionView(Generic[R]):
    """`on_damaged` is told of each shard that cannot be read, and the rest is served; without it, that is an error."""

    def __init__(
        self, index: Index[R], manifest: Manifest, *, on_damaged: Callable[[DamagedShard], None] | None = None
    ) -> None:
        self.manifest = manifest
        self.base = ShardRun(manifest.base)
        self.delta = ShardRun(manifest.delta)
        self._index = index
        self._objects = index.objects
        self._on_damaged = on_damaged
        self._damaged: set[str] = set()
        self._open: OrderedDict[str, Shard[R]] = OrderedDict()
        self._open_bytes = 0
        self._readers: dict[Header, RowReader[R]] = {}
        self._plans: dict[Header, RowPlan[R]] = {}
        if manifest.record_schema != index.spec.model.schema_id:
            expected = index.spec.model.schema_id
            raise IndexDamaged(
                index=index.label, reason=f"its records are {manifest.record_schema}, this program reads {expected}"
            )

    def unpacked(self, infos: Iterable[ObjectInfo]) -> list[ObjectInfo]:
        """Those of the listed objects whose record this version does not have: loose ones may stay when packed."""
        spec, listed = self._index.spec, list(infos)
        if not spec.keeps_loose or spec.key_of_loose is None:
            return listed
        keys = {info.key: spec.key_of_loose(info.key) for info in listed if spec.is_loose(info.key)}
        packed = self.find_many(keys.values())
        return [info for info in listed if keys.get(info.key) not in packed]

    # --- shards

    def fetch(self, entries: Iterable[ShardEntry]) -> None:
        """Get shards into the cache, side by side."""
        for damaged in self._objects.fetch(entries):
            self._report(damaged)

    def shard(self, entry: ShardEntry) -> Shard[R] | None:
        """A shard, opened, and closed when nobody uses it any more; None if it is damaged and somebody was told."""
        known = self._open.get(entry.sha256)
        if known is not None:
            return known
        if entry.sha256 in self._damaged:
            return None
        self.fetch([entry])
        if entry.sha256 in self._damaged:
            return None
        file = str(ShardKey(self._index.ref, entry.sha256))
        try:
            return Shard(self._index.spec, self._objects.shard(entry), file=file, plans=self._plans)
        except FormatError as error:
            raise IndexDamaged(index=self._index.label, reason=error.message) from error

    def _kept_shard(self, entry: ShardEntry) -> Shard[R] | None:
        """The same for single lookups, which come back to it. A walk through a whole run would only fill memory."""
        opened = self.shard(entry)
        if entry.sha256 in self._open:
            self._open.move_to_end(entry.sha256)
        elif opened is not None:
            self._keep(entry.sha256, opened)
        return opened

    def _keep(self, name: str, opened: Shard[R]) -> None:
        self._open[name] = opened
        self._open_bytes += opened.size
        while self._open_bytes > _OPEN_BYTES and len(self._open) > 1:
            _, closed = self._open.popitem(last=False)
            self._open_bytes -= closed.size

    def _report(self, damaged: DamagedShard) -> None:
        if self._on_damaged is None:
            raise IndexDamaged(index=self._index.label, reason=str(damaged))
        if damaged.entry.sha256 not in self._damaged:
            _LOG.warning("a damaged shard is left out: %s", damaged, extra=self._index.log_fields)
            self._damaged.add(damaged.entry.sha256)
            self._on_damaged(damaged)

    # --- lookups

    def find(self, key: str) -> tuple[bytes, RowReader[R]] | None:
        """The line of a key: at most one shard of the delta and one of the base are looked into."""
        for run in (self.delta, self.base):
            entry = run.holder(key)
            if entry is None or (shard := self._kept_shard(entry)) is None:
                continue
            line = shard.find(key)
            if line is not None:
                return line, shard.rows
        return None

    def find_many(self, keys: Iterable[str]) -> dict[str, tuple[bytes, RowReader[R]]]:
        """The lines of many keys; what is missing is fetched side by side, first for the delta, then for the base."""
        found: dict[str, tuple[bytes, RowReader[R]]] = {}
        wanted = sorted(set(keys))
        opened = self._kept_shard if len(wanted) <= _FEW_KEYS else self.shard
        for run in (self.delta, self.base):
            holders: dict[str, list[str]] = defaultdict(list)
            entries: dict[str, ShardEntry] = {}
            for key in wanted:
                entry = run.holder(key)
                if entry is not None:
                    holders[entry.sha256].append(key)
                    entries[entry.sha256] = entry
            self.fetch([entry for name, entry in entries.items() if name not in self._open])
            for name, entry in entries.items():
                shard = opened(entry)
                if shard is not None:
                    found |= _found_in(shard, holders[name])
            wanted = [key for key in wanted if key not in found]
        return found

    def records(self, keys: Iterable[str]) -> dict[str, R]:
        """The records of many keys, read as tables."""
        groups: dict[int, tuple[RowReader[R], list[str], list[bytes]]] = {}
        for key, (line, rows) in self.find_many(keys).items():
            _, some_keys, lines = groups.setdefault(id(rows), (rows, [], []))
            some_keys.append(key)
            lines.append(line)
        return {
            key: record
            for rows, some_keys, lines in groups.values()
            for key, record in zip(some_keys, rows.records(lines), strict=True)
        }

    def reader_of(self, header: Header) -> RowReader[R]:
        """How the lines under a header are read; worked out once."""
        known = self._readers.get(header)
        if known is None:
            known = self._readers[header] = RowReader(self._index.spec, header, file=self._index.ref.folder)
        return known

    # --- everything, in order

    def rows(self, low: str | None = None, high: str | None = None) -> Iterator[ViewRow]:
        """Every row in key order, from `low` to `high`, both included."""
        self.fetch([*self.base.between(low, high), *self.delta.between(low, high)])
        delta = self.run_rows(self.delta, low, high)
        upper = next(delta, None)
        for row in self.run_rows(self.base, low, high):
            while upper is not None and upper.key < row.key:
                yield upper
                upper = next(delta, None)
            if upper is not None and upper.key == row.key:
                continue  # superseded: the row of the delta comes with the next turn
            yield row
        while upper is not None:
            yield upper
            upper = next(delta, None)

    def run_rows(self, run: ShardRun, low: str | None = None, high: str | None = None) -> Iterator[ViewRow]:
        for entry in run.between(low, high):
            shard = self.shard(entry)
            if shard is not None:
                header = shard.rows.header
                for key, line in shard.lines(low, high):
                    yield ViewRow(key, line, header)


def _found_in(shard: Shard[R], keys: Sequence[str]) -> dict[str, tuple[bytes, RowReader[R]]]:
    """`keys` are in order, so each search begins where the last one ended."""
    found: dict[str, tuple[bytes, RowReader[R]]] = {}
    at = shard.start
    for key in keys:
        begin, end, is_there = shard.seek(key, at)
        if is_there:
            found[key] = (shard.part(begin, end - 1), shard.rows)
        at = end
    return found
