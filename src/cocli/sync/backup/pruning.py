"""Forgetting snapshots, and removing what no snapshot needs any more: in two steps, so that no running backup suffers.

First HEAD names the objects as condemned, and no longer the snapshots. When they have been condemned for a while, and
still nobody needs them, HEAD names them as being deleted, and they are. Whoever publishes a snapshot swaps the same
HEAD: it takes off the list what it needs, or sees that it comes too late and sends it again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import BackupContested, BackupDamaged, BackupError
from cocli.sync.backup.creation import used_objects
from cocli.sync.backup.layout import DRAFTS, FOLDERS, snapshot_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cocli.store.base import ObjectInfo
    from cocli.sync.backup.head import BackupHead
    from cocli.sync.backup.repository import BackupRepository
    from cocli.sync.backup.rows import ListRef
    from cocli.sync.backup.snapshot import BackupSnapshot

_LOG = logs.get_logger(__name__)

_TRIES = 5
_AT_ONCE = 1000
_REMEMBERED = timedelta(days=30)
"""How long the names of removed objects are not used again."""


@dataclass(frozen=True, slots=True)
class Retention:
    """How many snapshots of each source are kept: the last ones, and the last of each day, week, month."""

    last: int = 0
    daily: int = 0
    weekly: int = 0
    monthly: int = 0

    @property
    def says_nothing(self) -> bool:
        return not (self.last or self.daily or self.weekly or self.monthly)

    def kept(self, snapshots: Sequence[BackupSnapshot]) -> set[str]:
        """The names of those that stay."""
        stay: set[str] = set()
        for source in {snapshot.source for snapshot in snapshots}:
            newest_first = sorted(
                (snapshot for snapshot in snapshots if snapshot.source == source),
                key=lambda snapshot: (snapshot.time, snapshot.name),
                reverse=True,
            )
            stay |= {snapshot.name for snapshot in newest_first[: self.last]}
            for count, form in ((self.daily, "%Y-%m-%d"), (self.weekly, "%G-%V"), (self.monthly, "%Y-%m")):
                last_of: dict[str, str] = {}
                for snapshot in newest_first:
                    last_of.setdefault(snapshot.time.strftime(form), snapshot.name)
                stay |= set(islice(last_of.values(), count))
        return stay


@dataclass(slots=True)
class PruneReport:
    """What was done, or would be."""

    kept: list[BackupSnapshot] = field(default_factory=list)
    forgotten: list[BackupSnapshot] = field(default_factory=list)
    condemned: int = 0
    """Objects that nobody needs, but that have to wait."""
    condemned_bytes: int = 0
    removed: int = 0
    removed_bytes: int = 0
    damaged: int = 0
    """Snapshots that cannot be read and are forgotten for that."""


class Pruner:
    """`grace` is how long an object is condemned before it is removed; `forget_damaged` also forgets what is lost."""

    def __init__(
        self,
        repository: BackupRepository,
        retention: Retention,
        *,
        grace: timedelta,
        progress: Callable[[int], None],
        forget_damaged: bool = False,
    ) -> None:
        self._repository = repository
        self._forget_damaged = forget_damaged
        self._retention = retention
        self._grace = grace
        self._progress = progress

    def plan(self) -> PruneReport:
        """What a run would do at this moment."""
        return self._looked(self._repository.read_head().head)[0]

    def run(self) -> PruneReport:
        """`BackupDamaged`, before anything is changed, where it cannot be known what is needed."""
        self._finish_deleting()
        for _ in range(_TRIES):
            head = self._repository.read_head().head
            report, waiting, ripe = self._looked(head)
            kept = tuple(snapshot.name for snapshot in report.kept)
            wanted = head.following(snapshots=kept, condemned=waiting, deleting=tuple(sorted(ripe)))
            if self._swapped(head, wanted):
                self._finish_deleting()
                return report
        raise BackupContested(backup=self._repository.address)

    def _swapped(self, seen: BackupHead, wanted: BackupHead) -> bool:
        """Whether HEAD is still the one that was looked at, and is replaced now."""
        return self._repository.change_head(lambda head: wanted if head == seen else None) is not None

    def _looked(self, head: BackupHead) -> tuple[PruneReport, dict[str, str], set[str]]:
        """The report, what is condemned from now on (with the time), and what is ripe to be removed."""
        now = self._repository.store.now()
        existing = self._repository.existing(*FOLDERS)
        report = PruneReport()
        snapshots = self._readable(head.snapshots)
        report.damaged = len(head.snapshots) - len(snapshots)
        stay = self._retention.kept(snapshots)
        report.kept = [snapshot for snapshot in snapshots if snapshot.name in stay]
        report.forgotten = [snapshot for snapshot in snapshots if snapshot.name not in stay]
        if head.snapshots and not report.kept:  # what is left of them can still be restored in part
            raise BackupError(backup=self._repository.address, reason="no snapshot would be left; make a new one first")
        unneeded = existing.keys() - self._needed(report.kept) - self._young_drafts(existing, now)
        waiting: dict[str, str] = {}
        ripe: set[str] = set()
        for key in unneeded:
            since = head.condemned.get(key, now.isoformat())
            if now - datetime.fromisoformat(since) >= self._grace:
                ripe.add(key)
            else:
                waiting[key] = since
        report.condemned, report.condemned_bytes = len(waiting), _bytes(existing, waiting)
        report.removed, report.removed_bytes = len(ripe), _bytes(existing, ripe)
        return report, waiting, ripe

    def _readable(self, names: Sequence[str]) -> list[BackupSnapshot]:
        """Snapshots that are whole, as far as it can be told without reading contents."""
        found: list[BackupSnapshot] = []
        for name in names:
            try:
                found.append(self._repository.snapshot(name))
            except BackupDamaged:
                if not self._forget_damaged:
                    raise
        if not self._forget_damaged:
            return found
        lost: set[ListRef] = set()
        every = dict.fromkeys(part for snapshot in found for part in snapshot.lists)
        for _ in self._repository.rows(every, lambda part, _error: lost.add(part)):
            pass  # only to see which can be read
        return [snapshot for snapshot in found if lost.isdisjoint(snapshot.lists)]

    def _needed(self, kept: Iterable[BackupSnapshot]) -> set[str]:
        needed: set[str] = set()
        lists: dict[ListRef, None] = {}
        for snapshot in kept:
            needed.add(snapshot_key(snapshot.name))
            lists.update(dict.fromkeys(snapshot.lists))

        def lost(_: ListRef, error: BackupDamaged) -> None:
            raise error

        return needed | used_objects(self._repository.rows(lists, lost), lists)

    def _young_drafts(self, existing: dict[str, ObjectInfo], now: datetime) -> set[str]:
        """Of a run that goes on, or that somebody will go on with."""
        limit = max(self._grace, timedelta(hours=1))
        return {key for key, info in existing.items() if key.startswith(DRAFTS) and now - info.modified < limit}

    def _finish_deleting(self) -> None:
        """Also of a run that was cut off."""
        head = self._repository.read_head().head
        remaining = iter(head.deleting)
        done = 0
        while batch := list(islice(remaining, _AT_ONCE)):
            if self._repository.read_head().head.deleting != head.deleting:
                return  # somebody else has finished it
            for answer in self._repository.store.delete_many(batch):
                if answer is not None:
                    raise answer
            done += len(batch)
            self._progress(done)
        if head.deleting:
            self._repository.change_head(lambda now: self._with_removed(now, head.deleting))

    def _with_removed(self, head: BackupHead, deleted: tuple[str, ...]) -> BackupHead | None:
        if head.deleting != deleted:
            return None
        now = self._repository.store.now()
        removed = {key: at for key, at in head.removed.items() if now - datetime.fromisoformat(at) < _REMEMBERED}
        removed |= dict.fromkeys(deleted, now.isoformat())
        return head.following(deleting=(), removed=removed)


def _bytes(existing: dict[str, ObjectInfo], keys: Iterable[str]) -> int:
    return sum(existing[key].size for key in keys)
