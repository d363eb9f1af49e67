"""The immutable objects of an index, through the cache: fetched many at a time, and checked against their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import FormatError, IndexDamaged, NotFound, StoreError
from cocli.formats import json_records
from cocli.index.manifest import Manifest, ManifestRef
from cocli.index.shards import content_name
from cocli.keys.paths import IndexRef, ManifestKey, ShardKey
from cocli.store.base import Put, StoredObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cocli.index.cache import Cache
    from cocli.index.manifest import ShardEntry
    from cocli.index.shards import Buffer
    from cocli.store.base import Store

_LOG = logs.get_logger(__name__)

FETCH_BYTES = 256 << 20
"""Fetched in one go, about: what is under way is held in memory."""


@dataclass(frozen=True, slots=True)
class DamagedShard:
    """A shard that is missing, or is not what its name says."""

    entry: ShardEntry
    reason: str

    def __str__(self) -> str:
        rows = f"{self.entry.rows} rows, {self.entry.first} to {self.entry.last}"
        return f"shard {self.entry.sha256} ({rows}) {self.reason}"


class IndexObjects:
    def __init__(self, store: Store, ref: IndexRef, cache: Cache, label: str) -> None:
        self._store = store
        self._ref = ref
        self._cache = cache
        self._label = label

    # --- shards

    def fetch(self, entries: Iterable[ShardEntry]) -> list[DamagedShard]:
        """See to it that shards are in the cache: one request for each that is missing. Returns what is damaged."""
        missing = {entry.sha256: entry for entry in entries if not self._cache.has(_file(entry.sha256))}
        damaged: list[DamagedShard] = []
        for batch in _batches(list(missing.values())):
            answers = self._store.get_many([str(ShardKey(self._ref, entry.sha256)) for entry in batch])
            for entry, answer in zip(batch, answers, strict=True):
                reason = _damage(entry.sha256, answer)
                if reason is not None:
                    damaged.append(DamagedShard(entry, reason))
                elif isinstance(answer, StoredObject):
                    self._cache.add(_file(entry.sha256), answer.data)
        return damaged

    def shard(self, entry: ShardEntry) -> Buffer:
        """The content of a shard, from the cache or the store; IndexDamaged if it is not to be had."""
        data = self.cached(entry)
        if data is None:
            found = self.read(entry)
            if isinstance(found, DamagedShard):
                raise IndexDamaged(index=self._label, reason=str(found))
            self._cache.add(_file(entry.sha256), found)
            data = self.cached(entry) or found
        return data

    def cached(self, entry: ShardEntry) -> Buffer | None:
        data = self._cache.get(_file(entry.sha256))
        if data is not None and len(data) != entry.bytes:
            _LOG.warning("shard %s is damaged in the cache and is fetched again", entry.sha256)
            self._cache.drop(_file(entry.sha256))  # a power cut can leave a file without its content
            return None
        return data

    def read(self, entry: ShardEntry) -> bytes | DamagedShard:
        """The content as the store has it, whatever the cache says."""
        try:
            stored = self._store.get(str(ShardKey(self._ref, entry.sha256)))
        except NotFound as error:
            return DamagedShard(entry, _damage(entry.sha256, error) or "")
        reason = _damage(entry.sha256, stored)
        if reason is not None:
            return DamagedShard(entry, reason)
        return stored.data

    def write(self, contents: Sequence[tuple[str, bytes]]) -> None:
        """Create shards. A shard that is there already is uploaded too: the one that is there may be about to go."""
        answers = self._store.put_many([Put(str(ShardKey(self._ref, name)), data) for name, data in contents])
        for (name, data), answer in zip(contents, answers, strict=True):
            if isinstance(answer, StoreError):
                raise answer
            self._cache.add(_file(name), data)

    # --- lists: USV files of this package's own, beside the shards

    def read_list(self, name: str) -> bytes:
        data = self._cache.get(_file(name))
        if data is None:
            stored = self._get(str(ShardKey(self._ref, name)), name)
            self._cache.add(_file(name), stored.data)
            return stored.data
        return data[:]

    # --- manifests

    def manifest(self, ref: ManifestRef) -> Manifest:
        key = str(ManifestKey(self._ref, ref.version, ref.sha256))
        file = key.rsplit("/", 1)[-1]
        kept = self._cache.get(file)
        if kept is None:
            stored = self._get(key, ref.sha256)
            self._cache.add(file, stored.data)
            kept = stored.data
        return self.parse_manifest(kept[:], key)

    def parse_manifest(self, data: bytes, key: str) -> Manifest:
        try:
            manifest = json_records.read(Manifest, data, file=key)
        except FormatError as error:
            raise IndexDamaged(index=self._label, reason=error.message) from error
        if (manifest.index, manifest.campaign) != (self._ref.name, self._ref.campaign):
            raise IndexDamaged(index=self._label, reason=f"{key} is a manifest of another index")
        return manifest

    def write_manifest(self, manifest: Manifest) -> ManifestRef:
        data = json_records.render(manifest)
        ref = ManifestRef(version=manifest.version, sha256=content_name(data))
        key = str(ManifestKey(self._ref, ref.version, ref.sha256))
        self._store.put(key, data)
        self._cache.add(key.rsplit("/", 1)[-1], data)
        return ref

    def _get(self, key: str, name: str) -> StoredObject:
        try:
            stored = self._store.get(key)
        except NotFound as error:
            raise IndexDamaged(index=self._label, reason=f"{key} is missing") from error
        if (reason := _damage(name, stored)) is not None:
            raise IndexDamaged(index=self._label, reason=f"{key} {reason}")
        return stored


def _file(name: str) -> str:
    return f"{name}.usv"


def _damage(name: str, answer: StoredObject | StoreError) -> str | None:
    """What is wrong with an object of that content name; an error of the store itself is raised."""
    if isinstance(answer, NotFound):
        return "is missing"
    if isinstance(answer, StoreError):
        raise answer
    if content_name(answer.data) == name:
        return None
    return f"is not what its name says ({len(answer.data)} bytes)"


def _batches(entries: list[ShardEntry]) -> Iterator[list[ShardEntry]]:
    batch: list[ShardEntry] = []
    size = 0
    for entry in entries:
        if batch and size + entry.bytes > FETCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += entry.bytes
    if batch:
        yield batch
