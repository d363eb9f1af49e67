"""The bucket: objects in key order, what is asked of it by kind, and which requests it answers with 503."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sortedcontainers import SortedDict

from benchmarks.scale_model.rates import PrefixRates
from cocli.errors import AlreadyExists, Conflict, NotFound
from cocli.store.base import ObjectInfo, StoredObject

if TYPE_CHECKING:
    from benchmarks.scale_model.world import World
    from cocli.store.base import Put

PAGE = 1000


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds from a request to its answer, in the mean; each takes between half and one and a half of it."""

    get: float = 0.03
    put: float = 0.05
    list: float = 0.1
    delete: float = 0.05


class SlowDown(Exception):
    """503: too much for one partition of the bucket. Nothing was done."""


@dataclass(slots=True)
class Bucket:
    """`counts` has the answered requests as a bill would: put, get, list, delete (keys), delete_requests; and beside
    them refused (412), throttled (503), gave_up (a client that lost its patience), bytes_in and bytes_out."""

    world: World
    rates: PrefixRates = field(default_factory=PrefixRates)
    latency: Latency = field(default_factory=Latency)
    counts: Counter[str] = field(default_factory=Counter)
    written_at: float = 0.0
    """When something was last written."""
    _objects: SortedDict = field(default_factory=SortedDict)
    _infos: dict[str, ObjectInfo] = field(default_factory=dict)
    """What a listing says of each: made once, because listings are read by the thousand."""
    _writes: int = 0

    def get(self, key: str) -> StoredObject:
        self._admit(key, "get", write=False)
        stored: StoredObject | None = self._objects.get(key)
        if stored is None:
            raise NotFound(key=key)
        self.counts["bytes_in"] += len(stored.data)
        return stored

    def put(self, put: Put) -> str:
        self._admit(put.key, "put", write=True)
        there: StoredObject | None = self._objects.get(put.key)
        if put.if_absent and there is not None:
            self.counts["refused"] += 1
            raise AlreadyExists(key=put.key)
        if put.if_match is not None and (there is None or there.etag != put.if_match):
            self.counts["refused"] += 1
            raise Conflict(key=put.key)
        self._writes += 1
        self.written_at = self.world.now
        self.counts["bytes_out"] += len(put.data)
        # S3 dates its objects in whole seconds.
        stored = StoredObject(put.key, put.data, f'"{self._writes}"', self.world.time().replace(microsecond=0))
        self._objects[put.key] = stored
        self._infos[put.key] = ObjectInfo(put.key, len(put.data), stored.modified, stored.etag)
        return stored.etag

    def delete(self, key: str, if_match: str | None) -> None:
        self._admit(key, "delete_requests", write=True)
        there: StoredObject | None = self._objects.get(key)
        if if_match is not None and there is not None and there.etag != if_match:
            raise Conflict(key=key)
        self.counts["delete"] += 1
        self._remove(key)

    def delete_bulk(self, keys: list[str]) -> None:
        self._admit(keys[0], "delete_requests", write=True, amount=len(keys))
        self.counts["delete"] += len(keys)
        for key in keys:
            self._remove(key)

    def page(self, prefix: str, start_after: str | None) -> list[ObjectInfo]:
        self._admit(start_after or prefix, "list", write=False)
        first = self._objects.bisect_right(max(prefix, start_after or ""))
        last = min(first + PAGE, self._objects.bisect_left(f"{prefix}\x7f"))
        return list(map(self._infos.__getitem__, self._objects.islice(first, last)))

    def count(self, prefix: str) -> int:
        """Objects below a folder; for checks, and no request."""
        return int(self._objects.bisect_left(f"{prefix}\x7f") - self._objects.bisect_right(prefix))

    def _remove(self, key: str) -> None:
        self._objects.pop(key, None)
        self._infos.pop(key, None)

    def _admit(self, key: str, kind: str, *, write: bool, amount: int = 1) -> None:
        if not self.rates.allows(key, self.world.now, write=write, amount=amount):
            self.counts["throttled"] += 1
            raise SlowDown
        self.counts[kind] += 1
