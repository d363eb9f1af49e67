"""The versions of one file in a backup, for somebody who asks for it by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.errors import NotFound
from cocli.sync.backup.history import key_versions

if TYPE_CHECKING:
    from cocli.sync.backup.history import KeyVersion
    from cocli.sync.backup.repository import BackupRepository


def versions_of(repository: BackupRepository, key: str) -> list[KeyVersion]:
    """`NotFound` where no snapshot has the key."""
    found = key_versions(repository, key)
    if not found:
        raise NotFound(key=key, hint="A folder ends with a slash: cocli backup ls FOLDER/ --snapshot latest")
    return found
