"""A file that is read before it is replaced, and whether anybody writes to it meanwhile.

Editors that save in place open the file, empty it, write and close it. Who looks in between sees half a text; who puts
another file under the name in between lets the editor go on writing into a file without a name. On Linux a read lease
tells: the kernel refuses it while anybody has the file open for writing, and lets whoever opens it afterwards wait
until it ends. Where there are no leases (other systems, network shares, a file of another user), the content is
compared once more.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import stat
import sys
import time
from typing import TYPE_CHECKING, Self

from cocli.store.disk.beneath import read_whole
from cocli.store.etag import content_etag

if TYPE_CHECKING:
    from types import TracebackType

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_PATIENCE = 2.0
_FIRST_WAIT = 0.0005
_LONGEST_WAIT = 0.02


class BeingWritten(OSError):
    """Another program has the file open for writing, and does not close it."""


class WatchedFile:
    """`etag` names its content, from a moment in which nobody was writing."""

    def __init__(self, folder: int, name: str, *, patience: float = _PATIENCE) -> None:
        self._descriptor = os.open(name, _READ, dir_fd=folder)
        self._leased = False
        try:
            status = _status(self._descriptor, name)
            self._wait_for_writers(name, patience)
            self._identity = (status.st_dev, status.st_ino)
            self.mode = stat.S_IMODE(status.st_mode)
            self.etag = self._content()
        except BaseException:  # whatever it was, nothing stays open
            self._close()
            raise

    def is_at(self, folder: int, name: str) -> bool:
        """Whether this very file has the name now."""
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        return (status.st_dev, status.st_ino) == self._identity

    def is_untouched(self) -> bool:
        """Whether nobody has begun to write to it since it was opened here."""
        if self._leased:
            return fcntl.fcntl(self._descriptor, fcntl.F_GETLEASE) == fcntl.F_RDLCK
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        return self._content() == self.etag

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _content(self) -> str:
        return content_etag(read_whole(self._descriptor, os.fstat(self._descriptor).st_size))

    def _wait_for_writers(self, name: str, patience: float) -> None:
        wait, deadline = _FIRST_WAIT, time.monotonic() + patience
        while not self._lease():
            if time.monotonic() >= deadline:
                raise BeingWritten(errno.EBUSY, "another program has it open for writing", name)
            time.sleep(wait)
            wait = min(wait * 2, _LONGEST_WAIT)

    def _lease(self) -> bool:
        """False while somebody has the file open for writing; True also where that cannot be found out."""
        if sys.platform != "linux":
            return True
        try:
            # The kernel tells by a signal that somebody wants to write. We ask instead; this one is ignored by itself.
            fcntl.fcntl(self._descriptor, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(self._descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except BlockingIOError:
            return False
        except OSError:
            return True  # another user's file, or a file system without leases: its content is compared again
        self._leased = True
        return True

    def _close(self) -> None:
        if self._leased:  # said, because a process that was forked meanwhile has the file open too
            fcntl.fcntl(self._descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        os.close(self._descriptor)


def _status(descriptor: int, name: str) -> os.stat_result:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    return status
