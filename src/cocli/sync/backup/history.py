"""The versions of one key, and the keys of one snapshot: what there is to go back to."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.errors import BackupDamaged
    from cocli.sync.backup.repository import BackupRepository
    from cocli.sync.backup.rows import BackupRow, ListRef
    from cocli.sync.backup.snapshot import BackupSnapshot


class KeyVersion(NamedTuple):
    """One content of a key, in the snapshots from `snapshot` on; `row` is None where the key was gone."""

    snapshot: BackupSnapshot
    row: BackupRow | None


def rows_below(repository: BackupRepository, snapshot: BackupSnapshot, prefix: str) -> Iterator[BackupRow]:
    """The rows of a folder (or of one key) in a snapshot. `BackupDamaged` where they cannot be read."""

    def lost(_: ListRef, error: BackupDamaged) -> None:
        raise error

    for row in repository.rows(snapshot.lists_of(prefix), lost):
        if row.key == prefix or (row.key.startswith(prefix) and prefix.endswith(("/", ""))):
            yield row


def key_versions(repository: BackupRepository, key: str) -> list[KeyVersion]:
    """Every content that a key had, the oldest first; where several sources were backed up, source by source."""
    found: list[KeyVersion] = []
    snapshots = repository.snapshots()
    for source in dict.fromkeys(snapshot.source for snapshot in snapshots):
        before: str | None = None
        for snapshot in snapshots:
            if snapshot.source != source:
                continue
            row = next((row for row in rows_below(repository, snapshot, key) if row.key == key), None)
            content = None if row is None else row.sha256
            if content != before:
                found.append(KeyVersion(snapshot, row))
            before = content
    return found
