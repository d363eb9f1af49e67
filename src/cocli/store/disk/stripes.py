"""Locks for the moment of a swap, shared by threads and processes of one machine.

A key falls into one of a few lock files; `flock` lets go of them when their holder dies, however it dies.
Within a process, threads share the descriptors, so each file has a thread lock in front of it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import threading
import time
import zlib
from contextlib import suppress

_STRIPES = 64
_FIRST_WAIT = 0.00005
_LONGEST_WAIT = 0.005
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
_FILE = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_TRY_LOCK = fcntl.LOCK_EX | fcntl.LOCK_NB
_HIGH = 512
"""Lock files stay open under numbers from here on: descriptors that are opened together for a moment, and closed
together, then follow each other (`last_holds`)."""


class StripesTimeout(TimeoutError):
    """Somebody held a lock for far longer than any swap takes (a stopped process, for example)."""


class _Held:
    """A class, because this is entered for every write and a generator costs three times as much."""

    __slots__ = ("_descriptor", "_key", "_lock", "_locks")

    def __init__(self, locks: StripedLocks, key: str) -> None:
        self._locks = locks
        self._key = key

    def __enter__(self) -> None:
        self._lock, self._descriptor = self._locks.acquire(self._key)

    def __exit__(self, *_: object) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        finally:
            self._lock.release()


class StripedLocks:
    """Exclusive locks by key on a folder of lock files, made when first needed."""

    def __init__(self, folder: str, *, timeout: float = 10.0) -> None:
        self._folder = folder
        self._timeout = timeout
        self._locks = [threading.Lock() for _ in range(_STRIPES)]
        self._descriptors: dict[int, int] = {}
        self._owner = os.getpid()

    def hold(self, key: str) -> _Held:
        """A context in which nobody else holds the lock of this key."""
        return _Held(self, key)

    def acquire(self, key: str) -> tuple[threading.Lock, int]:
        stripe = zlib.crc32(key.encode("ascii")) % _STRIPES
        if self._owner != os.getpid():
            self._forget_parent()
        lock = self._locks[stripe]
        if not lock.acquire(timeout=self._timeout):
            raise StripesTimeout(key)
        try:
            descriptor = self._descriptors.get(stripe)
            if descriptor is None:
                descriptor = self._descriptors[stripe] = self._open(stripe)
            self._lock(descriptor, key)
        except BaseException:  # a thread that dies here must not keep the others out
            lock.release()
            raise
        return lock, descriptor

    def close(self) -> None:
        for stripe, descriptor in list(self._descriptors.items()):
            with self._locks[stripe]:
                self._descriptors.pop(stripe, None)
                os.close(descriptor)

    def _forget_parent(self) -> None:
        """A forked child shares its parent's open files, and `flock` would let both in: it opens its own instead."""
        self._owner = os.getpid()
        self._locks = [threading.Lock() for _ in range(_STRIPES)]
        for descriptor in self._descriptors.values():
            os.close(descriptor)
        self._descriptors = {}

    def _open(self, stripe: int) -> int:
        with suppress(FileExistsError):
            os.mkdir(self._folder)
        try:
            folder = os.open(self._folder, _FOLDER)
        except NotADirectoryError:
            reason = f"{self._folder} is a link or no folder; remove it"  # followed, it could lead anywhere
            raise PermissionError(errno.EPERM, reason) from None
        try:
            return moved_up(os.open(f"{stripe:02x}", _FILE, 0o644, dir_fd=folder))
        finally:
            os.close(folder)

    def _lock(self, descriptor: int, key: str) -> None:
        try:
            fcntl.flock(descriptor, _TRY_LOCK)
        except BlockingIOError:
            self._wait_for(descriptor, key)

    def _wait_for(self, descriptor: int, key: str) -> None:
        wait, deadline = _FIRST_WAIT, time.monotonic() + self._timeout
        while True:
            time.sleep(wait)
            try:
                fcntl.flock(descriptor, _TRY_LOCK)
                return
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise StripesTimeout(key) from None
            wait = min(wait * 2, _LONGEST_WAIT)


def moved_up(descriptor: int) -> int:
    """The same open file under a number that is out of the way."""
    try:
        high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    except OSError:
        return descriptor  # this process may not have so many: it is as good where it is
    os.close(descriptor)
    return high
