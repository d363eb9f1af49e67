"""Whose turn it is to write to a SQLite catalogue: one thread of a process, and one of the processes that share turns.

SQLite lets one write at a time as well, but whoever finds it locked sleeps and looks again, for longer each time. Here
the next one is woken when the one before is done. It is a courtesy: what keeps the file whole is SQLite's own lock, and
the turn of a process that dies is over.
"""

from __future__ import annotations

import fcntl
import os
import threading

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class WriteTurn:
    """A context in which nobody else writes. A thread may enter it again."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._depth = 0
        self._folder: int | None = None

    def share(self, folder: str) -> None:
        """From now on with every process that shares the turns of this folder.

        The folder itself is locked: no file is left behind, and none of the database is opened. To close one of those
        would end the locks that SQLite has on it.
        """
        with self._lock:
            self._folder = os.open(folder, _FOLDER)

    def keep(self) -> None:
        """No longer share it."""
        with self._lock:
            folder, self._folder = self._folder, None
            if folder is not None:
                os.close(folder)

    def __enter__(self) -> None:
        self._lock.acquire()
        try:
            if self._folder is not None and not self._depth:
                fcntl.flock(self._folder, fcntl.LOCK_EX)
            self._depth += 1
        except BaseException:  # a thread that fails here must not keep the others out
            self._lock.release()
            raise

    def __exit__(self, *_: object) -> None:
        try:
            self._depth -= 1
            if self._folder is not None and not self._depth:
                fcntl.flock(self._folder, fcntl.LOCK_UN)
        finally:
            self._lock.release()
