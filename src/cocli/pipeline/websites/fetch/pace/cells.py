"""Where the table of paces lies: a small file that all processes of a machine share, or the memory of one of them.

The file is read and written in place, by the kernel's own copy of it: no sync, nothing to parse. It is not mapped into
memory, because a full disk, or somebody who cuts the file off, would then end the process.
"""

from __future__ import annotations

import errno
import fcntl
import os
import platform
import stat
import time
from contextlib import suppress
from typing import Protocol

from cocli import logs
from cocli.config.private import make_private, no_links

_LOG = logs.get_logger(__name__)

MAGIC = b"cocli-pace/1\n".ljust(48, b"\0")
_BOOT_ID = "/proc/sys/kernel/random/boot_id"
_TRIES, _TRY_SECONDS = 100, 0.02
_STALE_SECONDS = 2 * 24 * 3600.0


class Cells(Protocol):
    """Bytes that are read and written in place."""

    def lock(self) -> bool:
        """Keep everybody else out; False where somebody else is in. It is never waited for."""
        ...

    def unlock(self) -> None: ...

    def read(self, start: int, length: int) -> bytes: ...

    def write(self, start: int, data: bytes) -> None: ...

    def close(self) -> None: ...


class MemoryCells:
    """Of one fetcher alone."""

    def __init__(self, size: int) -> None:
        self._bytes = bytearray(size)

    def lock(self) -> bool:
        return True

    def unlock(self) -> None:
        pass

    def read(self, start: int, length: int) -> bytes:
        return bytes(self._bytes[start : start + length])

    def write(self, start: int, data: bytes) -> None:
        self._bytes[start : start + len(data)] = data

    def close(self) -> None:
        pass


class FileCells:
    """Of all processes of a machine and user that open the same file.

    The lock is the kernel's: whoever dies, however, has let go of it.
    """

    def __init__(self, path: str, size: int) -> None:
        """`OSError` where the file cannot be had: a link has its name, or the folder is not ours to write."""
        make_private(os.path.dirname(path))
        self._size = size
        self._file = no_links(path, os.O_RDWR | os.O_CREAT)
        try:
            _check_own(self._file, path)
            self._begin(path)
        except BaseException:
            os.close(self._file)
            raise

    def lock(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(self) -> None:
        fcntl.flock(self._file, fcntl.LOCK_UN)

    def read(self, start: int, length: int) -> bytes:
        # What lies beyond the end was never written, or has been cut off: it says nothing.
        return os.pread(self._file, length, len(MAGIC) + start).ljust(length, b"\0")

    def write(self, start: int, data: bytes) -> None:
        os.pwrite(self._file, data, len(MAGIC) + start)

    def close(self) -> None:
        os.close(self._file)

    def _begin(self, path: str) -> None:
        """What is no table of ours becomes an empty one."""
        tries = 0
        while not self.lock():
            tries += 1
            if tries > _TRIES:
                raise OSError(errno.ETIMEDOUT, "somebody keeps it locked", path)
            time.sleep(_TRY_SECONDS)
        try:
            if os.pread(self._file, len(MAGIC), 0) != MAGIC or os.fstat(self._file).st_size > self._size + len(MAGIC):
                os.ftruncate(self._file, 0)
                os.pwrite(self._file, MAGIC, 0)
            os.utime(self._file)
        finally:
            self.unlock()


def open_cells(folder: str, size: int) -> Cells:
    """The file of this machine's present run in a folder; memory of one's own where there can be none.

    Its clock begins anew with every start of the machine, so every start has its own file. Machines that share a home
    have different ones for the same reason.
    """
    name = f"pace-{_boot()}"
    try:
        cells = FileCells(os.path.join(folder, name), size)
    except OSError as error:
        _LOG.warning("other processes do not know when this one asks a site: %s", error)
        return MemoryCells(size)
    _remove_stale(folder, name)
    return cells


def machine_clock() -> float:
    """Seconds since this machine was started: the same for all its processes, and nobody can set it.

    Linux counts the time that a laptop sleeps as well. Elsewhere it is Python's monotonic clock, which macOS and the
    BSDs keep for the whole machine too.
    """
    return time.clock_gettime(_CLOCK)


_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def _boot() -> str:
    try:
        with open(_BOOT_ID, encoding="ascii") as file:
            return file.read().strip()
    except OSError:  # not Linux: times that cannot be are left out of account, so an old file does no harm
        return "".join(letter for letter in platform.node() if letter.isalnum()) or "machine"


def _remove_stale(folder: str, mine: str) -> None:
    """The files of earlier starts."""
    with suppress(OSError), os.scandir(folder) as entries:  # tidying up may fail: the next process tries again
        for entry in entries:
            is_other = entry.name.startswith("pace-") and entry.name != mine
            if is_other and time.time() - entry.stat(follow_symlinks=False).st_mtime > _STALE_SECONDS:
                os.unlink(entry.path)


def _check_own(file: int, path: str) -> None:
    found = os.fstat(file)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
        raise OSError(errno.EPERM, "it is no file of this user's", path)
