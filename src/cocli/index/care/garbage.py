"""Garbage collection: removes shards and manifests that no kept version reaches. Never loose records, never batches.

Nothing goes at once. First it is *condemned*, by name, through the pointer. After the grace period, if a second look
still finds nothing that needs it, it is *deleting*, again through the pointer, and then it is deleted. Afterwards its
name stays *buried* for a while, because a request to delete it may have been delayed.

What that is for: a reader of an old version has the grace period to finish. A compactor that makes a condemned shard
again takes it off the list in the swap that publishes it; one that would make a shard that is deleting or buried gives
it another name. A compactor that does not know yet that one of its shards was condemned loses the swap, because
condemning it was a swap.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from cocli import logs
from cocli.errors import Conflict, IndexDamaged, InvalidKey, StoreError
from cocli.index.latest import Latest, Named, Pointer, read_pointer, short, swap_pointer
from cocli.index.versions import history, is_current
from cocli.keys.paths import LatestKey, ManifestKey, ShardKey, index_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cocli.index.index import Index

_LOG = logs.get_logger(__name__)

KEEP_VERSIONS = 10
KEEP = timedelta(days=1)
GRACE = timedelta(hours=1)
BURY = timedelta(days=1)
_TRIES = 20


@dataclass
class CollectionReport:
    kept_versions: list[int] = field(default_factory=list)
    live: int = 0
    """Objects that a kept version needs."""
    young: int = 0
    """Objects that nothing reaches, but that may belong to a version that is being written."""
    condemned: list[str] = field(default_factory=list)
    """Keys that are named now, and go after the grace period."""
    deleted: list[str] = field(default_factory=list)
    freed_bytes: int = 0
    foreign: list[str] = field(default_factory=list)
    """Keys in the folders that are nothing of ours: they are left alone."""


@dataclass
class _Look:
    """What was found at one moment."""

    pointer: Pointer
    now: datetime
    garbage: dict[str, tuple[str, int]]
    """Short name → key and size of what nothing reaches and is old enough."""
    listed: dict[str, tuple[str, int]]
    reachable: set[str]
    report: CollectionReport


class Collector:
    """`keep_versions` and `keep`: a version is kept if it is one of the last so many, or younger than that."""

    def __init__(
        self,
        index: Index[Any],
        *,
        keep_versions: int = KEEP_VERSIONS,
        keep: timedelta = KEEP,
        grace: timedelta = GRACE,
        bury: timedelta = BURY,
    ) -> None:
        self._index = index
        self._keep_versions = max(1, keep_versions)
        self._keep = keep
        self._grace = grace
        self._bury = bury

    def look(self) -> CollectionReport:
        """What a collection would find, without changing anything: `condemned` would be named, `deleted` would go."""
        pointer = read_pointer(self._index)
        if pointer is None:
            return CollectionReport()
        found = self._look(pointer)
        due, fresh, _ = self._judge(found)
        found.report.condemned = [found.garbage[name][0] for name in fresh]
        found.report.deleted = [found.listed[name][0] for name in due if name in found.listed]
        return found.report

    def collect(self) -> CollectionReport:
        """One pass: condemn what is garbage now, delete what was condemned a grace period ago and still is garbage."""
        for _ in range(_TRIES):
            pointer = read_pointer(self._index)
            if pointer is None:
                return CollectionReport()
            try:
                found = self._look(pointer)
            except IndexDamaged:
                if is_current(self._index, pointer.latest):
                    raise
                continue  # this process stood still so long that its version was collected meanwhile
            due, fresh, condemned = self._judge(found)
            latest = found.pointer.latest
            buried = self._still_buried(latest, found.now)
            swapped: Pointer | None = pointer
            if (tuple(due), condemned, buried) != (latest.deleting, latest.condemned, latest.buried):
                swapped = swap_pointer(self._index, pointer, deleting=tuple(due), condemned=condemned, buried=buried)
            if swapped is None:
                _LOG.debug("collection begins again: somebody else changed the pointer", extra=self._index.log_fields)
                continue  # somebody else changed what is live: look again
            found.report.condemned = [found.garbage[name][0] for name in fresh]
            self._delete(found, swapped, due)
            self._log(found.report)
            return found.report
        raise Conflict(key=str(LatestKey(self._index.ref)))

    def _log(self, report: CollectionReport) -> None:
        counts = {"condemned": len(report.condemned), "deleted": len(report.deleted), "freed_bytes": report.freed_bytes}
        level = logging.INFO if report.deleted else logging.DEBUG
        _LOG.log(level, "garbage collected", extra=self._index.log_fields | counts)

    # --- the look

    def _look(self, pointer: Pointer) -> _Look:
        report = CollectionReport()
        reachable = self._reachable(pointer, report)
        listed = dict(self._listed(report))
        now = self._index.store.now()
        garbage = {}
        for name, (key, size, modified) in listed.items():
            if name in reachable:
                report.live += 1
            elif now - modified > self._grace:
                garbage[name] = (key, size)
            else:
                report.young += 1
        there = {name: (key, size) for name, (key, size, _) in listed.items()}
        return _Look(pointer, now, garbage, there, reachable, report)

    def _reachable(self, pointer: Pointer, report: CollectionReport) -> set[str]:
        """Short names of all that the kept versions need. From the very pointer that will be swapped."""
        needed: set[str] = set()
        if pointer.latest.manifest is None:
            return needed
        oldest = self._index.store.now() - self._keep
        ref = pointer.latest.manifest
        for position, manifest in enumerate(history(self._index, pointer.latest)):
            if position >= self._keep_versions and manifest.created_at < oldest:
                break
            report.kept_versions.append(manifest.version)
            needed.add(short(ref.sha256))
            needed.update(short(name) for name in manifest.names)
            if manifest.parent is None:
                break
            ref = manifest.parent
        if not report.kept_versions:
            raise IndexDamaged(index=self._index.label, reason="the current manifest cannot be read")
        return needed

    def _listed(self, report: CollectionReport) -> Iterator[tuple[str, tuple[str, int, datetime]]]:
        for part, kind in (("manifests", ManifestKey), ("shards", ShardKey)):
            for info in self._index.store.list(index_folder(self._index.ref, part)):
                try:
                    name = kind.parse(info.key).sha256
                except InvalidKey:
                    report.foreign.append(info.key)  # not ours: never deleted by its place alone
                    continue
                yield short(name), (info.key, info.size, info.modified)

    # --- the judgement

    def _judge(self, found: _Look) -> tuple[list[str], list[str], tuple[Named, ...]]:
        """What goes now, what is newly condemned, and the list of the condemned that follows."""
        latest, garbage = found.pointer.latest, found.garbage
        due = set(latest.deleting) - found.reachable  # only a repair can bring one of these back
        condemned: list[Named] = []
        seen: set[str] = set()
        for group in latest.condemned:
            still = tuple(name for name in group.names if name in garbage)
            seen.update(still)
            if found.now - group.at > self._grace:
                due.update(still)
            elif still:
                condemned.append(Named(at=group.at, names=still))
        fresh = sorted(set(garbage) - seen - due)
        if fresh:
            condemned.append(Named(at=found.now, names=tuple(fresh)))
        return sorted(due), fresh, tuple(condemned)

    def _still_buried(self, latest: Latest, now: datetime) -> tuple[Named, ...]:
        return tuple(group for group in latest.buried if now - group.at <= self._bury)

    # --- the deletion

    def _delete(self, found: _Look, pointer: Pointer, due: Iterable[str]) -> None:
        names = list(due)
        if not names:
            return
        if self._index.store.now() - found.now > self._bury / 2:
            return  # this process stood still for long: by now somebody may rely on these names again
        there = [found.listed[name] for name in names if name in found.listed]
        for (key, size), answer in zip(there, self._index.store.delete_many([key for key, _ in there]), strict=True):
            if isinstance(answer, StoreError):
                raise answer  # the names stay in `deleting`, and the next pass goes on
            found.report.deleted.append(key)
            found.report.freed_bytes += size
        # A swap that is lost is no harm: the names stay in `deleting`, where nobody relies on them either.
        buried = (*pointer.latest.buried, Named(at=self._index.store.now(), names=tuple(names)))
        swap_pointer(self._index, pointer, deleting=(), buried=buried)
