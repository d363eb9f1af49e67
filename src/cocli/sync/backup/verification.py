"""Is everything there, and whole? Reads every snapshot, every list and every pack, and every content in them.

What is found is named: the object of the backup, and the keys that could not be restored because of it. A quick look
reads snapshots and lists, and of the packs only their names and sizes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.errors import BackupDamaged, NotFound
from cocli.sync.backup.damage import BackupDamage
from cocli.sync.backup.layout import HEAD, LISTS, MARKER, PACKS, SNAPSHOTS, list_key, pack_key, snapshot_key
from cocli.sync.backup.pack import content_of, unpacked
from cocli.sync.backup.repository import marker_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cocli.sync.backup.pack import PackedContent
    from cocli.sync.backup.repository import BackupRepository
    from cocli.sync.backup.rows import ListRef
    from cocli.sync.backup.snapshot import BackupSnapshot


@dataclass(slots=True)
class Verification:
    """What was read, and what is wrong."""

    snapshots: int = 0
    lists: int = 0
    packs: int = 0
    contents: int = 0
    bytes: int = 0
    unused: int = 0
    """Objects that no snapshot needs: left by a run that was cut off, or waiting to be removed by `prune`."""
    quick: bool = False
    damage: list[BackupDamage] = field(default_factory=list)


class Verifier:
    """`progress` is told how many bytes of packs were read."""

    def __init__(self, repository: BackupRepository, *, quick: bool, progress: Callable[[int], None]) -> None:
        self._repository = repository
        self._progress = progress
        self._report = Verification(quick=quick)
        self._damage: dict[str, BackupDamage] = {}
        self._lost: dict[str, set[PackedContent]] = {}
        """Contents that are not whole, by their pack."""

    def run(self) -> Verification:
        report = self._report
        self._look_at_marker()
        snapshots = list(self._snapshots())
        lists = {part: None for snapshot in snapshots for part in snapshot.lists}
        needed: dict[str, set[PackedContent]] = {}
        for row in self._repository.rows(lists, self._lost_list):
            needed.setdefault(row.pack, set()).add(content_of(row))
        existing = self._repository.existing(SNAPSHOTS, LISTS, PACKS)
        if report.quick:
            self._look_at_packs(needed, {key: info.size for key, info in existing.items()})
        else:
            self._read_packs(needed)
        self._name_what_is_affected(snapshots)
        report.lists, report.packs = len(lists), len(needed)
        report.contents = sum(map(len, needed.values()))
        used = {*map(pack_key, needed), *(list_key(part.name) for part in lists)}
        used |= {snapshot_key(name) for name in self._repository.read_head().head.snapshots}
        report.unused = len(existing.keys() - used)
        report.damage = [self._damage[key] for key in sorted(self._damage)]
        return report

    def _look_at_marker(self) -> None:
        try:
            is_whole = bool(marker_id(self._repository.store.get(MARKER).data))
        except NotFound:
            self._found(MARKER, "is missing")
        else:
            if not is_whole:
                self._found(MARKER, "it is no marker of a backup")

    def _snapshots(self) -> Iterator[BackupSnapshot]:
        state = self._repository.read_head()
        if state.problem is not None:
            self._found(HEAD, state.problem)
        for name in state.head.snapshots:
            self._report.snapshots += 1
            try:
                yield self._repository.snapshot(name)
            except BackupDamaged as error:
                self._found(snapshot_key(name), str(error.details["reason"])).affects(
                    name, keys_between="all keys of the snapshot"
                )

    def _lost_list(self, part: ListRef, error: BackupDamaged) -> None:
        self._found(list_key(part.name), str(error.details["reason"]))

    def _look_at_packs(self, needed: dict[str, set[PackedContent]], sizes: dict[str, int]) -> None:
        for name, contents in needed.items():
            size = sizes.get(pack_key(name))
            end = max(content.offset + content.length for content in contents)
            if size is None:
                self._found(pack_key(name), "is missing")
                self._lost[name] = contents
            elif size < end:
                self._found(pack_key(name), f"has {size} bytes instead of {end} or more")
                self._lost[name] = {content for content in contents if content.offset + content.length > size}

    def _read_packs(self, needed: dict[str, set[PackedContent]]) -> None:
        for name, body, error in self._repository.packs(needed):
            if error is not None:
                self._found(pack_key(name), str(error.details["reason"]))
            lost = {content for content in needed[name] if body is None or not _is_whole(content, body)}
            if lost:
                self._lost[name] = lost
                self._found(pack_key(name), "a content does not match its checksum")
            self._report.bytes += len(body or b"")
            self._progress(self._report.bytes)

    def _name_what_is_affected(self, snapshots: list[BackupSnapshot]) -> None:
        if not self._damage:
            return
        for snapshot in snapshots:
            for part in snapshot.lists:
                damage = self._damage.get(list_key(part.name))
                if damage is not None:
                    damage.affects(snapshot.name, keys_between=snapshot.range_of(part))
            if not self._lost:
                continue
            for row in self._repository.rows(snapshot.lists, lambda _part, _error: None):
                if content_of(row) in self._lost.get(row.pack, ()):
                    self._damage[pack_key(row.pack)].affects(snapshot.name, key=row.key)

    def _found(self, key: str, reason: str) -> BackupDamage:
        return self._damage.setdefault(key, BackupDamage(key, reason))


def _is_whole(content: PackedContent, body: bytes) -> bool:
    try:
        unpacked(content, body)
    except ValueError:
        return False  # it is named as damage
    return True
