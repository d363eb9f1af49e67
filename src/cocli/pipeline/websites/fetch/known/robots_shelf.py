"""The robots.txt files that this machine has read today: one process need not ask for what another has.

A file of SQLite that may go at any time: it is not synced, and a damaged one is begun anew. Whatever goes wrong with
it, the site is asked, as it would be without.
"""

from __future__ import annotations

import os
import sqlite3
import time
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from cocli import logs
from cocli.config.private import make_private, no_links

if TYPE_CHECKING:
    from collections.abc import Callable

_LOG = logs.get_logger(__name__)

FRESH_SECONDS = 24 * 3600.0
"""RFC 9309: a robots.txt should not be used for longer than a day."""
_MOST_BYTES = 64 * 1024
"""A longer one is read again by every process."""
_READ_AHEAD = 20_000
_SMALL = 1024
"""So many files of at most so many bytes are read at once: to ask for each costs more than most of them."""
_WAIT = 0.02
"""Seconds for another process that writes: then the site is asked."""
_TABLE = (
    """create table if not exists robots (origin text primary key, read_at real not null, body blob) without rowid"""
)
_SMALL_ONES = "select origin, read_at, body from robots where body is null or length(body) <= ? limit ?"
_Row = tuple[float, bytes | None]
"""When it was read, and the packed file."""


class KeptRobots(NamedTuple):
    """What a site said, some time ago."""

    body: bytes | None
    """None: it has no such file."""
    age: float


class RobotsShelf:
    """Shared by all processes that open the same file."""

    def __init__(self, path: str, *, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._connection: sqlite3.Connection | None = None
        self._ahead: dict[str, _Row] | None = None
        """What was there when something was looked for first."""
        try:
            make_private(os.path.dirname(path))
            self._connection = _opened(path)
            self._connection.execute("delete from robots where read_at < ?", (now() - FRESH_SECONDS,))
        except (OSError, sqlite3.Error) as error:
            _LOG.warning("robots.txt files are not remembered: %s", error)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def find(self, origin: str) -> KeptRobots | None:
        """What was read less than a day ago. A time to come is a clock that was set back."""
        if self._ahead is None:
            self._ahead = self._read_ahead()
        found = self._ahead.get(origin) or self._ask("select read_at, body from robots where origin = ?", origin)
        if found is None:
            return None
        read_at, packed = found
        age = self._now() - read_at
        if not 0 <= age < FRESH_SECONDS:
            return None
        with suppress(zlib.error):  # a damaged one is none
            return KeptRobots(None if packed is None else zlib.decompress(packed), age)
        return None

    def keep(self, origin: str, body: bytes | None) -> None:
        if body is not None and len(body) > _MOST_BYTES:
            return
        packed = None if body is None else zlib.compress(body, 1)
        if self._ahead is not None:
            self._ahead.pop(origin, None)
        self._ask("insert or replace into robots values (?, ?, ?)", origin, self._now(), packed)

    def _read_ahead(self) -> dict[str, _Row]:
        if self._connection is None:
            return {}
        try:
            rows = self._connection.execute(_SMALL_ONES, (_SMALL, _READ_AHEAD)).fetchall()
        except sqlite3.Error as error:  # as below
            _LOG.debug("robots.txt files: %s", error)
            return {}
        return {origin: (read_at, body) for origin, read_at, body in rows}

    def _ask(self, statement: str, *values: object) -> _Row | None:
        if self._connection is None:
            return None
        try:
            row: _Row | None = self._connection.execute(statement, values).fetchone()
        except sqlite3.Error as error:  # locked for too long, damaged, or the disk is full: then it is not there
            _LOG.debug("robots.txt files: %s", error)
            return None
        return row


def _opened(path: str) -> sqlite3.Connection:
    try:
        return _connected(path)
    except sqlite3.DatabaseError:  # no database, or not any more: nothing is lost
        for ending in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.unlink(path + ending)
        return _connected(path)


def _connected(path: str) -> sqlite3.Connection:
    for ending in ("", "-wal", "-shm"):
        if os.path.lexists(path + ending) or not ending:
            os.close(no_links(path + ending, os.O_RDWR | os.O_CREAT))  # a planted link is refused, not followed
    connection = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
    try:
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = off")
        connection.execute(_TABLE)
    except BaseException:
        connection.close()
        raise
    return connection
