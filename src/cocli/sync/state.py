"""What both sides had when they last agreed: one SQLite file per pair, on this machine.

A row is written after its file was brought over, never before; a crash in between leaves a file that is found to be
the same on both sides by its content. A lost state file loses no data: without it nothing is deleted, and what is the
same is recognised. Rows are few bytes each; a hundred thousand are read in a fraction of a second.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import sqlite3
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from cocli import logs
from cocli.config.private import make_private, no_links, refuse_link
from cocli.errors import NO_ROOM, SyncBusy, SyncError, SyncStateFull
from cocli.sync.folder import Stamp
from cocli.sync.kinds import DOCUMENT, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_LOG = logs.get_logger(__name__)

_SCHEMA = """
create table if not exists files (
    key text primary key, size integer, modified_ns integer, changed_ns integer, inode integer, looked_ns integer,
    digest text, etag text
) without rowid;
create table if not exists indexes (folder text primary key, local text, remote text) without rowid;
create table if not exists facts (name text primary key, value text) without rowid;
"""
_DOCUMENTS = "create table if not exists documents (key text primary key, etag text) without rowid"
"""Documents that were brought over, until the catalogues of both sides know them: etags are the bucket's."""
_VERSION = 1


class SyncRow(NamedTuple):
    """One file as both sides had it. `looked_ns` is when its content was known, by the folder's clock."""

    size: int
    modified_ns: int
    changed_ns: int
    inode: int
    looked_ns: int
    digest: str
    """The etag of the content in the folder; empty for what is known by name only."""
    etag: str
    """The etag in the bucket."""

    @property
    def stamp(self) -> Stamp:
        return Stamp(*self[:4])


def row_of(stamp: Stamp, looked_ns: int, digest: str, etag: str) -> SyncRow:
    return SyncRow(*stamp, looked_ns, digest, etag)


class KnownVersions(NamedTuple):
    """Of an index: the version here whose records the bucket has, and the version there whose records we have."""

    local: str
    remote: str


def state_path(state_home: str, local: str, remote: str) -> str:
    """The file of a pair. Addresses are told apart exactly: the same bucket by another name is another pair."""
    name = hashlib.sha256(f"{local}\n{remote}".encode()).hexdigest()[:16]
    return os.path.join(state_home, "sync", f"{name}.sqlite3")


def past_facts(path: str) -> dict[str, str]:
    """What the state of a pair says of its runs, for who only looks. Nothing where it cannot be read."""
    try:
        connection = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)
        try:
            return dict(connection.execute("select name, value from facts"))
        finally:
            connection.close()
    except sqlite3.Error:  # damaged, or just being made: then nothing is proved
        return {}


ADDRESS, OF_CAMPAIGN, COPY_OF = "address", "address of campaign ", "copy of campaign "
"""Facts of a pair: how its bucket is opened, of which campaigns there was a sync, which of them began empty here."""


def synced_bucket(state_home: str, home: str, campaign: str) -> str | None:
    """The bucket that this machine last synced a campaign of a folder with, without a failure; None where none was."""
    folder = os.path.join(state_home, "sync")
    found: list[tuple[str, str]] = []
    for file in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if file.endswith(".sqlite3"):
            facts = past_facts(os.path.join(folder, file))
            address = facts.get(f"{OF_CAMPAIGN}{campaign}")
            if facts.get("local") == home and address and "last_whole_run" in facts:
                found.append((facts["last_whole_run"], address))
    return max(found)[1] if found else None


class SyncState:
    """Held by one process at a time: `SyncBusy` for every other one."""

    def __init__(self, path: str, *, local: str = "", remote: str = "") -> None:
        self.path = path
        self.was_damaged = False
        try:
            make_private(os.path.dirname(path))
            refuse_link(path)
            self._lock = no_links(f"{path}.lock", os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise _unusable(path, error) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise SyncBusy(local=local, remote=remote) from None
        try:
            self._connection = self._open()
            if (self.fact("local"), self.fact("remote")) != (local, remote):  # to write is to wait for the disk
                self.remember({"local": local, "remote": remote})
        except BaseException:  # whatever it was, the next one must be able to try
            os.close(self._lock)
            raise

    def close(self) -> None:
        self._connection.close()
        os.close(self._lock)

    # --- files

    def rows(self) -> dict[str, SyncRow]:
        make = SyncRow._make
        every = self._connection.execute(
            "select key, size, modified_ns, changed_ns, inode, looked_ns, digest, etag from files"
        )
        return {key: make(fields) for key, *fields in every}

    def advance(self, rows: Mapping[str, SyncRow], gone: Iterable[str] = (), *, brought: bool = True) -> None:
        """Remember files as both sides have them now, and forget what both have not. All of it, or nothing.

        Of documents that were `brought` over, the catalogues are to be told.
        """
        documents = [(key, row.etag) for key, row in rows.items() if brought and kind_of(key) is DOCUMENT]
        with self._transaction() as transaction:
            transaction.executemany(
                "insert or replace into files values (?, ?, ?, ?, ?, ?, ?, ?)",
                [(key, *row) for key, row in rows.items()],
            )
            transaction.executemany("delete from files where key = ?", [(key,) for key in gone])
            transaction.executemany("insert or replace into documents values (?, ?)", documents)

    def documents(self) -> dict[str, str]:
        """Documents that were brought over and that the catalogues do not know yet: key → etag in the bucket."""
        return dict(self._connection.execute("select key, etag from documents order by key"))

    def forget_documents(self, keys: Iterable[str]) -> None:
        with self._transaction() as transaction:
            transaction.executemany("delete from documents where key = ?", [(key,) for key in keys])

    # --- indexes

    def known_versions(self, folder: str) -> KnownVersions:
        found = self._connection.execute("select local, remote from indexes where folder = ?", (folder,)).fetchone()
        return KnownVersions(*found) if found else KnownVersions("", "")

    def know_versions(self, folder: str, known: KnownVersions) -> None:
        with self._transaction() as transaction:
            transaction.execute("insert or replace into indexes values (?, ?, ?)", (folder, *known))

    def indexes(self) -> list[str]:
        return [folder for (folder,) in self._connection.execute("select folder from indexes order by folder")]

    # --- facts for people

    def remember(self, facts: Mapping[str, str]) -> None:
        with self._transaction() as transaction:
            transaction.executemany("insert or replace into facts values (?, ?)", list(facts.items()))

    def fact(self, name: str) -> str | None:
        found = self._connection.execute("select value from facts where name = ?", (name,)).fetchone()
        return None if found is None else str(found[0])

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._connection as transaction:
                yield transaction
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from error

    def _open(self) -> sqlite3.Connection:
        try:
            return _connect(self.path)
        except sqlite3.OperationalError as error:
            raise _unusable(self.path, error) from error  # full or read-only: it is no damage
        except sqlite3.DatabaseError:
            # Set aside, not removed: without a state nothing is deleted, so going on is safe.
            self.was_damaged = True
            _LOG.warning("the state of the sync is damaged; it is set aside as %s.damaged", self.path)
            for ending in ("", "-wal", "-shm"):
                if os.path.exists(self.path + ending):
                    os.replace(self.path + ending, f"{self.path}.damaged{ending}")
            return _connect(self.path)


def _connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, check_same_thread=False)
    try:
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = normal")
        (version,) = connection.execute("pragma user_version").fetchone()
        _check_version(version)
        if version == 0:
            connection.executescript(f"{_SCHEMA} pragma user_version = {_VERSION};")
        connection.execute(_DOCUMENTS)
        connection.execute("select count(*) from facts").fetchone()
    except BaseException:  # an open connection would hold the file that is about to be set aside
        connection.close()
        raise
    return connection


def _unusable(path: str, error: Exception) -> SyncError:
    reason = getattr(error, "strerror", None) or str(error)
    hint = (
        "Free some space, or name another folder with COCLI_STATE_HOME; what was brought over stays, nothing is lost."
    )
    kind = SyncStateFull if _is_full(error) else SyncError
    return kind(key=path, reason=f"the state cannot be kept: {reason}", hint=hint)


def _is_full(error: Exception) -> bool:
    """SQLite says so, or calls it an error of the disk."""
    if isinstance(error, OSError):
        return error.errno in NO_ROOM
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


def _check_version(version: int) -> None:
    if version not in (0, _VERSION):
        raise sqlite3.DatabaseError(f"version {version} is that of another program")


def fact_time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
