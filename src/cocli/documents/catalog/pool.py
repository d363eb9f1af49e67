"""Connections to a database that threads share: as many as are needed at a time, and no more than allowed."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class _Connection(Protocol):
    def close(self) -> object: ...


C = TypeVar("C", bound=_Connection)


class PoolExhausted(Exception):
    """Nobody gave a connection back in time."""


class ConnectionPool(Generic[C]):
    """`connect` makes a connection; `is_whole` tells whether one may be used again. The latest used is used first."""

    def __init__(
        self, connect: Callable[[], C], *, is_whole: Callable[[C], bool], most: int, wait_seconds: float
    ) -> None:
        self._connect = connect
        self._is_whole = is_whole
        self._wait_seconds = wait_seconds
        self._free = threading.BoundedSemaphore(most)
        self._lock = threading.Lock()
        self._idle: list[C] = []
        self._closed = False

    @contextmanager
    def taken(self) -> Iterator[C]:
        if not self._free.acquire(timeout=self._wait_seconds):
            raise PoolExhausted(f"all connections were in use for {self._wait_seconds:g} seconds")
        try:
            connection = self._take()
            try:
                yield connection
            finally:
                self._give_back(connection)
        finally:
            self._free.release()

    def _take(self) -> C:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        return self._connect() if connection is None else connection

    def _give_back(self, connection: C) -> None:
        if self._is_whole(connection):
            with self._lock:
                if not self._closed:
                    self._idle.append(connection)
                    return
            connection.close()
            return
        # Whatever broke this one has most likely broken those that wait as well: they would fail one after the other.
        connection.close()
        self._close_idle()

    def close(self) -> None:
        """Those in use are closed when they are given back."""
        with self._lock:
            self._closed = True
        self._close_idle()

    def _close_idle(self) -> None:
        with self._lock:
            leaving, self._idle = self._idle, []
        for connection in leaving:
            connection.close()
