"""Reading an index: one consistent version, from the cache where it has it. No listing, unless `fresh` is asked for.

A cold full read costs the pointer, the manifest and one request per shard; a warm one costs the pointer.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from cocli import logs
from cocli.errors import NO_ROOM, Conflict, DiskFull, FileUnusable, IndexDamaged
from cocli.index.cache import FolderCache
from cocli.index.consumed import read_consumed
from cocli.index.overlay import Overlay
from cocli.index.pending import list_pending, read_pending
from cocli.index.versions import current_version, is_current, version
from cocli.index.view import VersionView
from cocli.keys.paths import LatestKey
from cocli.models.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from cocli.formats.rejected import RejectedRow
    from cocli.index.index import Index
    from cocli.index.manifest import Manifest, ShardEntry
    from cocli.index.objects import DamagedShard
    from cocli.index.pending import PendingMemory
    from cocli.index.rows import Header
    from cocli.index.view import ViewRow

R = TypeVar("R", bound=Record)

_LOG = logs.get_logger(__name__)

_TRIES = 20
_SCANNED_AT_ONCE = 100
"""Lines that are taken apart together: few, so that their fields are in the processor's cache when they are read."""


@dataclass(frozen=True, slots=True)
class ShardFile:
    """A shard as a local file. A row of the delta supersedes the row of the base that has its key."""

    path: str
    run: Literal["base", "delta"]
    header: Header
    entry: ShardEntry


@dataclass(frozen=True, slots=True)
class Veiled(Generic[R]):
    """What a veil changes of what a reader sees."""

    changed: dict[str, R]
    hidden: dict[str, R]
    """Records that are not shown, as they are: by their keys they are left out."""


class IndexReader(Generic[R]):
    """One version, fixed when the reader is made. Make another reader to see what came later."""

    def __init__(
        self,
        index: Index[R],
        manifest: Manifest,
        *,
        waiting: Mapping[str, Sequence[R]] | None = None,
        on_damaged: Callable[[DamagedShard], None] | None = None,
    ) -> None:
        """`waiting` are records that are not packed yet, by sort key."""
        self._index = index
        self._view: VersionView[R] = VersionView(index, manifest, on_damaged=on_damaged)
        self._veil = index.veil()
        self._overlay: Overlay[R] = Overlay(index.spec, self._view, waiting or {})

    @property
    def manifest(self) -> Manifest:
        return self._view.manifest

    @property
    def version(self) -> int:
        return self.manifest.version

    @property
    def overlaid(self) -> int:
        """How many records of a fresh reader are not, or not so, in its version."""
        return len(self._overlay)

    @property
    def veil_digest(self) -> str | None:
        """Of the veil that records are seen through; None where there is none."""
        return self._veil.digest if self._veil else None

    def get(self, key: str) -> R | None:
        """The record of a sort key (`spec.key_text` makes one from the fields of the model's key)."""
        if key in self._overlay:
            return self._shown(self._overlay.records([key])[key])
        found = self._view.find(key)
        if found is None:
            return None
        line, rows = found
        return self._shown(rows.record(line))

    def get_many(self, keys: Iterable[str]) -> dict[str, R]:
        """The records of those keys that there are."""
        wanted = list(keys)
        found = self._view.records([key for key in wanted if key not in self._overlay])
        every = found | self._overlay.records(wanted)
        if self._veil is None:
            return every
        return {key: shown for key, record in every.items() if (shown := self._shown(record)) is not None}

    def scan(self, low: str | None = None, high: str | None = None) -> Iterator[R]:
        """Every record in key order, or those from `low` to `high`, both included."""
        if self._veil is None:
            return self._all(low, high)
        return (shown for record in self._all(low, high) if (shown := self._shown(record)) is not None)

    def veiled(self, keys: Iterable[str] | None = None) -> Veiled[R]:
        """What the veil changes: for programs that read the files themselves. `keys` are those that it is known to."""
        changed: dict[str, R] = {}
        hidden: dict[str, R] = {}
        if self._veil is not None:
            for record in self._all() if keys is None else self._whole(keys):
                shown, key = self._shown(record), self._index.spec.key_of(record)
                if shown is None:
                    hidden[key] = record
                elif shown is not record:
                    changed[key] = shown
        return Veiled(changed, hidden)

    def _whole(self, keys: Iterable[str]) -> Iterable[R]:
        """Records as they are, and all that wait to be packed."""
        packed = self._view.records(key for key in keys if key not in self._overlay)
        return [*packed.values(), *self.waiting().values()]

    def _shown(self, record: R) -> R | None:
        if self._veil is None:
            return record
        shown: R | None = self._veil.record(record)
        return shown

    def _all(self, low: str | None = None, high: str | None = None) -> Iterator[R]:
        overlaid = self._overlay.records(sorted(key for key in self._overlay if _within(key, low, high)))
        waiting = iter(overlaid)
        upper = next(waiting, None)
        for key, record in self._packed(low, high):
            while upper is not None and upper < key:
                yield overlaid[upper]
                upper = next(waiting, None)
            if upper == key:
                yield overlaid[key]
                upper = next(waiting, None)
            else:
                yield record
        while upper is not None:
            yield overlaid[upper]
            upper = next(waiting, None)

    def files(self) -> list[ShardFile]:
        """The version's shards as local files, for programs that read USV themselves (DuckDB).

        Rows of the base whose key occurs in the delta are superseded: they have to be left out. Keys are unique within
        each run. What a fresh reader overlays is in `waiting`.
        """
        cache = self._index.cache
        if not isinstance(cache, FolderCache):
            raise TypeError("files need a cache that is a folder")
        self._view.fetch(self.manifest.shards)
        files = []
        runs: list[tuple[Literal["base", "delta"], Iterable[ShardEntry]]] = [
            ("base", self.manifest.base),
            ("delta", self.manifest.delta),
        ]
        for run, entries in runs:
            for entry in entries:
                shard = self._view.shard(entry)
                if shard is not None:
                    files.append(ShardFile(_path_in(cache, entry), run, shard.rows.header, entry))
        return files

    def waiting(self) -> dict[str, R]:
        """Of a fresh reader: the records that supersede those of the version, by sort key."""
        return self._overlay.records(self._overlay)

    def rows(self, low: str | None = None, high: str | None = None) -> Iterator[ViewRow]:
        """Keys and raw lines of the version itself, in key order."""
        return self._view.rows(low, high)

    def _packed(self, low: str | None, high: str | None) -> Iterator[tuple[str, R]]:
        rows = self._view.rows(low, high)
        while some := list(islice(rows, _SCANNED_AT_ONCE)):
            begin = 0
            for end in range(1, len(some) + 1):
                if end == len(some) or some[end].header != some[begin].header:
                    part = some[begin:end]
                    records = self._view.reader_of(part[0].header).records([row.line for row in part])
                    yield from zip([row.key for row in part], records, strict=True)
                    begin = end


def _path_in(cache: FolderCache, entry: ShardEntry) -> str:
    name = f"{entry.sha256}.usv"
    if not cache.has(name):
        refused = cache.refused or OSError(0, "something removes its files")
        kind = DiskFull if refused.errno in NO_ROOM else FileUnusable
        raise kind(
            file=f"The cache {cache.folder}",
            done="written",
            reason=refused.strerror,
            hint="Free some space, or name another place in COCLI_CACHE_HOME.",
        )
    return cache.path(name)


def _within(key: str, low: str | None, high: str | None) -> bool:
    return (low is None or key >= low) and (high is None or key <= high)


def open_reader(
    index: Index[R],
    *,
    number: int | None = None,
    as_of: datetime | None = None,
    empty_before: bool = False,
    fresh: bool = False,
    on_damaged: Callable[[DamagedShard], None] | None = None,
    on_rejected: Callable[[RejectedRow], None] | None = None,
    memory: PendingMemory[R] | None = None,
) -> IndexReader[R]:
    """A reader of the current version, of version `number`, or of the one that was current `as_of` a time.

    `empty_before`: before its first version an index was empty; without it that is an `UnknownVersion`.
    `fresh` also lists and reads what is not packed yet, so it costs requests and memory by what waits; whoever opens
    one reader after the other passes a `memory`, and what waited before is not read again. `on_damaged` is told of
    shards that cannot be read, and the rest is served; without it the first one is an `IndexDamaged`.
    """
    if number is not None or as_of is not None:
        manifest = version(index, number, as_of=as_of, empty_before=empty_before)
        return IndexReader(index, manifest, on_damaged=on_damaged)
    if not fresh:
        return IndexReader(index, version(index), on_damaged=on_damaged)
    for _ in range(_TRIES):
        latest, manifest = current_version(index)
        failure: IndexDamaged | None = None
        try:
            waiting = _waiting(index, manifest, on_damaged, on_rejected, memory)
        except IndexDamaged as error:  # or is it only that the version was collected, because this took so long?
            failure, waiting = error, {}
        # A version that came meanwhile may have consumed what was to be overlaid, and removed it unseen.
        if is_current(index, latest):
            if failure is not None:
                raise failure
            return IndexReader(index, manifest, waiting=waiting, on_damaged=on_damaged)
        _LOG.debug("a fresh reader looks again: a new version came meanwhile", extra=index.log_fields)
    raise Conflict(key=str(LatestKey(index.ref)))


def _waiting(
    index: Index[R],
    manifest: Manifest,
    on_damaged: Callable[[DamagedShard], None] | None,
    on_rejected: Callable[[RejectedRow], None] | None,
    memory: PendingMemory[R] | None,
) -> dict[str, list[R]]:
    """What is not packed yet, by sort key."""
    consumed = read_consumed(index, manifest)
    waiting: dict[str, list[R]] = {}
    view: VersionView[Any] = VersionView(index, manifest, on_damaged=on_damaged)
    infos = view.unpacked(list_pending(index, consumed).waiting)
    pending = read_pending(index, infos) if memory is None else memory.read(index, infos)
    for contents in pending:
        known = consumed.get(contents.key)
        if known is not None and known.etag == contents.etag:
            continue
        if on_rejected is not None:
            for rejected in contents.rejected:
                on_rejected(rejected)
        for record in contents.records:
            waiting.setdefault(index.spec.key_of(record), []).append(record)
    return waiting
