"""A catalogue in a file, by SQLite: write-ahead log, any number of processes. One connection writes, in its turn, and
some read: who looks waits neither until somebody's transaction is on the disk nor until somebody else has looked.

With `durable`, a transaction is on the disk before it returns; without, a power cut may lose the latest ones (never
more: the file stays whole), and `fsck --repair` finds them again in the store.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from cocli.config.private import make_private, refuse_link
from cocli.documents.catalog.pool import ConnectionPool, PoolExhausted
from cocli.documents.catalog.rows import text_of
from cocli.documents.catalog.sqlite_log import LogKeeper
from cocli.documents.catalog.statements import load
from cocli.documents.catalog.write_turn import WriteTurn
from cocli.errors import CatalogError, CatalogUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cocli.documents.catalog.database import DatabaseSession

MEMORY = ":memory:"
_WAIT_SECONDS = 60.0
_READERS = 4
_LOG_PAGES = 1_000
"""From which on a commit copies the log into the file, unless somebody else does."""
_SURROUNDINGS = frozenset(
    {
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_AUTH,
    }
)
"""What the machine around the file does wrong. Any other error means that the file itself cannot be used."""
_REMEDY = "Check that its folder can be written and has space; COCLI_STATE_HOME names another place."


class _Session:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, statement: str, parameters: Mapping[str, object]) -> Sequence[Sequence[Any]]:
        return self._connection.execute(statement, parameters).fetchall()

    def rows_many(
        self, statement: str, parameters: Sequence[Mapping[str, object]]
    ) -> Sequence[Sequence[Sequence[Any]]]:
        return [self.rows(statement, values) for values in parameters]

    def run(self, statement: str, parameters: Mapping[str, object]) -> int:
        return self._connection.execute(statement, parameters).rowcount

    def run_many(self, statement: str, parameters: Sequence[Mapping[str, object]]) -> None:
        self._connection.executemany(statement, parameters)


class SqliteDatabase:
    """Fits `cocli.documents.catalog.database.Database`."""

    dialect = "sqlite"

    def __init__(self, path: str, *, durable: bool = True) -> None:
        self._path = path
        self._turn = WriteTurn()
        self._readers: ConnectionPool[sqlite3.Connection] | None = None
        self._keeper: LogKeeper | None = None
        self.statements: Mapping[str, str] = load(str, lock="")
        with self._errors():
            if path != MEMORY:
                make_private(os.path.dirname(os.path.abspath(path)))
                refuse_link(path)
            self._connection = self._connect()
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'OFF'}")
            except sqlite3.Error:
                self._connection.close()
                raise
        self._session = _Session(self._connection)
        if path != MEMORY:
            self._readers = ConnectionPool(
                self._connect_reader, is_whole=lambda _: True, most=_READERS, wait_seconds=_WAIT_SECONDS
            )

    def _connect_reader(self) -> sqlite3.Connection:
        reader = self._connect()
        reader.execute("PRAGMA query_only = ON")
        return reader

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(
            self._path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
        )

    @property
    def address(self) -> str:
        return self._path

    @contextmanager
    def read(self) -> Iterator[DatabaseSession]:
        if self._readers is None:
            with self._errors(), self._turn:
                yield self._session
            return
        with self._errors(), self._readers.taken() as reader:
            yield _Session(reader)

    @contextmanager
    def transaction(self) -> Iterator[DatabaseSession]:
        with self._errors(), self._turn:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._session
                self._connection.execute("COMMIT")
                if self._keeper is not None:
                    self._keeper.committed()
            except BaseException:  # whatever ends the block, nothing of it stays
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def tended(self) -> Iterator[None]:
        if self._path == MEMORY:
            yield
            return
        with self._errors():
            self._turn.share(os.path.dirname(os.path.abspath(self._path)))
        self._copy_by_commits(pages=0)
        self._keeper = LogKeeper(self._connect, self._turn, partial(self._copy_by_commits, pages=_LOG_PAGES))
        try:
            yield
        finally:
            keeper, self._keeper = self._keeper, None
            keeper.close()
            self._copy_by_commits(pages=_LOG_PAGES)
            self._turn.keep()

    def _copy_by_commits(self, *, pages: int) -> None:
        with self._errors(), self._turn:
            self._connection.execute(f"PRAGMA wal_autocheckpoint = {pages}")

    migrating = transaction  # BEGIN IMMEDIATE lets one process at a time begin

    def lock(self, session: DatabaseSession, name: str, *, shared: bool = False) -> None:
        """A transaction that writes has the whole file."""

    def run_script(self, session: DatabaseSession, script: str) -> None:
        statement = ""
        for line in script.splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                session.run(statement, {})
                statement = ""

    def write_time(self, moment: datetime) -> object:
        return text_of(moment)

    def read_time(self, value: Any) -> datetime:
        return datetime.fromisoformat(value)

    def check(self) -> None:
        with self.read() as session:
            found = [str(row[0]) for row in session.rows("PRAGMA integrity_check(3)", {})]
        if found != ["ok"]:
            raise CatalogError(address=self._path, reason=f"it is damaged: {'; '.join(found)[:300]}")

    def close(self) -> None:
        if self._readers is not None:
            self._readers.close()
        with self._turn:
            self._connection.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if _primary(error) in _SURROUNDINGS:
                raise CatalogUnavailable(address=self._path, reason=str(error), hint=_REMEDY) from error
            raise CatalogError(address=self._path, reason=str(error)) from error
        except UnicodeDecodeError as error:  # of a damaged file even SQLite's own message may be no text
            raise CatalogError(address=self._path, reason="its file is damaged: what it says is no text") from error
        except OSError as error:
            raise CatalogUnavailable(address=self._path, reason=str(error), hint=_REMEDY) from error
        except PoolExhausted as error:
            raise CatalogUnavailable(address=self._path, reason=str(error)) from error


def _primary(error: sqlite3.Error) -> int | None:
    """The kind of an error. A file that ends too early is damaged, whatever SQLite makes of it."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None or code == sqlite3.SQLITE_IOERR_SHORT_READ:
        return None
    return int(code) & 0xFF
