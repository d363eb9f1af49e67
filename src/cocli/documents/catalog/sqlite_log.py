"""The write-ahead log of a SQLite catalogue is copied into its file beside the commits, not in the midst of one.

SQLite lets the commit that makes the log longer than a thousand pages copy all of it: with many saves that is one
group in twenty, and whoever waits behind it. Here a thread copies while others commit, and has the file for itself
only for the few pages that came meanwhile.
"""

from __future__ import annotations

import sqlite3
import threading
from typing import TYPE_CHECKING

from cocli import logs

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.documents.catalog.write_turn import WriteTurn

_LOG = logs.get_logger(__name__)

_COMMITS = 32
"""After which the log is copied: with groups of eight saves it has a thousand pages then."""
_MOST_PAGES = 20_000
"""From which on others are waited for: a log that never begins anew would fill the disk."""
_FEW_PAGES = 200
"""That are copied while nobody can commit."""
_PATIENCE_MS = 2_000


class LogKeeper:
    """Who has the `turn` keeps others from committing. `failed` is called, once, if the log can be copied no longer."""

    def __init__(self, connect: Callable[[], sqlite3.Connection], turn: WriteTurn, failed: Callable[[], None]) -> None:
        self._connect = connect
        self._turn = turn
        self._failed = failed
        self._commits = 0
        self._due = threading.Event()
        self._ending = False
        self._thread = threading.Thread(target=self._run, name="catalog-log", daemon=True)
        self._thread.start()

    def committed(self) -> None:
        self._commits += 1
        if self._commits >= _COMMITS:
            self._commits = 0
            self._due.set()

    def close(self) -> None:
        self._ending = True
        self._due.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            connection = self._connect()
            try:
                while self._due.wait() and not self._ending:
                    self._due.clear()
                    self._copy(connection)
            finally:
                connection.close()
        except sqlite3.Error as error:  # the disk is full, or worse: whoever commits next is told
            _LOG.warning("the log of the catalogue is copied by its commits again: %s", error)
            self._failed()

    def _copy(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA busy_timeout = 0")
        _, pages, copied = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if pages > _MOST_PAGES:
            connection.execute(f"PRAGMA busy_timeout = {_PATIENCE_MS}")
        elif pages - copied > _FEW_PAGES:
            return  # somebody reads what was there before: next time
        with self._turn:  # those who read, and other processes, may have it still: then next time
            connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
