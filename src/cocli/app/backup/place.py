"""Where a backup lies, and where one is restored to: folders that only their owner can read, or buckets."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import unquote

from cocli.config.schema import BACKUP_VARIABLE
from cocli.errors import BackupMisplaced, NoBackup, UsageError
from cocli.store.kinds import FOLDER, scheme_of
from cocli.sync.backup.repository import BackupRepository

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cocli.store.base import Store

_PRIVATE = 0o700


def backup_address(environ: Mapping[str, str], said: str | None) -> str:
    """The address that was said, or that of the environment."""
    address = said or environ.get(BACKUP_VARIABLE)
    if not address:
        raise UsageError(
            reason="Where is the backup?",
            hint=f"Name a folder or a bucket: --backup /srv/backup, or {BACKUP_VARIABLE}=s3://bucket/backup",
        )
    return address


@contextmanager
def opened_backup(address: str, *, make_for: Store | None = None) -> Iterator[BackupRepository]:
    """`NoBackup` where there is none, unless it is made for a store that is to be backed up."""
    folder = _folder(address)
    if folder is not None and make_for is not None:
        refuse_inside(make_for.address, folder)
        _make(folder)
    elif folder is not None and not os.path.isdir(folder):
        raise NoBackup(backup=address)
    with _opened(address) as store:
        repository = BackupRepository(store)
        if make_for is None:
            repository.check()
        yield repository


@contextmanager
def opened_target(address: str, *, make: bool) -> Iterator[Store]:
    """Where to restore to. A folder that is not there is made for its owner alone, or is taken to be empty."""
    folder = _folder(address)
    if folder is not None and not os.path.isdir(folder):
        if make:
            _make(folder)
        else:
            address = "memory://"
    with _opened(address) as store:
        yield store


@contextmanager
def _opened(address: str) -> Iterator[Store]:
    from cocli.store import open_store  # here, because S3 costs a tenth of a second to load

    store = open_store(address)
    try:
        yield store
    finally:
        store.close()


def refuse_inside(source: str, backup: str) -> None:
    """By their addresses: a backup in its own source would grow with every snapshot, and be lost together with it."""
    inner, outer = _parts(backup), _parts(source)
    shared = min(len(inner), len(outer))
    if inner[:shared] == outer[:shared] and inner[0] != "memory:":
        raise BackupMisplaced(backup=backup, reason=f"it and the store {source} lie in each other")


def _parts(address: str) -> list[str]:
    """An address, from the outermost folder to the innermost. A server is part of what is outermost."""
    where, _, server = address.partition(" (")
    if scheme_of(where) == FOLDER:
        return ["", *os.path.realpath(where).strip("/").split("/")]
    scheme, _, rest = where.partition("//")
    bucket, *folders = rest.strip("/").split("/")
    return [scheme, f"{server}{bucket}", *folders]


def _folder(address: str) -> str | None:
    """The folder that an address names; None for what is no folder."""
    if scheme_of(address) not in (FOLDER, "file"):
        return None
    return os.path.abspath(os.path.expanduser(unquote(address.removeprefix("file://"))))


def _make(folder: str) -> None:
    above = os.path.dirname(folder)
    if not os.path.isdir(above):  # a disk that is not mounted must not become a folder
        raise UsageError(reason=f"There is no folder {above}", hint=f"Is the disk mounted? Else: mkdir -p {above}")
    try:
        os.mkdir(folder, _PRIVATE)
    except FileExistsError:
        return  # its owner made it, and knows who may read it
    except OSError as error:
        raise UsageError(reason=f"The folder {folder} cannot be made: {error.strerror}") from error
