"""Locks of keys, shared by threads and processes of one machine: each key is one byte of a file that has none.

Whoever locks has a file of its own open, because the locks of one open file do not keep each other out. What is free
stays open for the next: to open a file costs more than to lock it. Whoever dies lets go.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING

from cocli.store.disk.stripes import StripesTimeout, moved_up

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from cocli.store.disk.beneath import Beneath

_OPEN = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
_TRY = getattr(fcntl, "F_OFD_SETLK", 0)
_KEYS = 1 << 32
_UNLOCK = struct.pack("hhqqi", fcntl.F_UNLCK, os.SEEK_SET, 0, _KEYS, 0)
_KEPT = 8
"""Files that stay open: as many threads lock at once without opening one."""
_PATIENCE = 10.0
_FIRST_WAIT = 0.00005
_LONGEST_WAIT = 0.005


def locks_are_possible() -> bool:
    """Whether this system has locks that belong to an open file: only Linux does."""
    return bool(_TRY)


class KeyLocks:
    """Those of one file, at a path below the root of a store."""

    def __init__(self, beneath: Beneath, path: str) -> None:
        self._beneath = beneath
        self._path = path
        self._free: list[int] = []
        self._owner = os.getpid()

    def holding(self, keys: Sequence[str]) -> AbstractContextManager[None]:
        """A context in which nobody else holds one of these keys, nor all of them."""
        starts = {zlib.crc32(key.encode("ascii")) for key in keys}
        return _HeldKeys(self, [(start, 1) for start in sorted(starts)])

    def holding_all(self) -> AbstractContextManager[None]:
        """A context in which nobody else holds any key."""
        return _HeldKeys(self, [(0, _KEYS)])

    def close(self) -> None:
        free, self._free = self._free, []
        for descriptor in free:
            os.close(descriptor)

    def take(self) -> int:
        """An open file that nobody else locks with."""
        if self._owner != os.getpid():
            self._owner = os.getpid()
            self.close()  # a forked child shares its parent's open files, and would be let in with it
        while self._free:
            try:
                descriptor = self._free.pop()
            except IndexError:
                break  # another thread was faster
            if os.fstat(descriptor).st_nlink:
                return descriptor
            os.close(descriptor)  # somebody has removed the file: others lock another one by now
        return moved_up(self._beneath.open(self._path, _OPEN))

    def give_back(self, descriptor: int) -> None:
        """Let go of all that was locked with it."""
        fcntl.fcntl(descriptor, _TRY, _UNLOCK)
        self._free.append(descriptor)
        if len(self._free) > _KEPT:
            with suppress(IndexError):  # other threads have taken all of them since
                os.close(self._free.pop())


class _HeldKeys:
    """A class, because this is entered for every result and a generator costs three times as much."""

    __slots__ = ("_descriptor", "_locks", "_ranges")

    def __init__(self, locks: KeyLocks, ranges: Sequence[tuple[int, int]]) -> None:
        self._locks = locks
        self._ranges = ranges

    def __enter__(self) -> None:
        self._descriptor = self._locks.take()
        try:
            for start, length in self._ranges:
                _lock(self._descriptor, start, length)
        except BaseException:  # who dies here must not keep the others out
            self._locks.give_back(self._descriptor)
            raise

    def __exit__(self, *_: object) -> None:
        self._locks.give_back(self._descriptor)


def _lock(descriptor: int, start: int, length: int) -> None:
    wanted = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
    try:
        fcntl.fcntl(descriptor, _TRY, wanted)
    except BlockingIOError:
        _wait_for(descriptor, wanted)


def _wait_for(descriptor: int, wanted: bytes) -> None:
    wait, deadline = _FIRST_WAIT, time.monotonic() + _PATIENCE
    while True:
        time.sleep(wait)
        try:
            fcntl.fcntl(descriptor, _TRY, wanted)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise StripesTimeout("the journal") from None
        wait = min(wait * 2, _LONGEST_WAIT)
