"""Replaces or removes a file only if it has the expected content, although editors take no locks.

To look first and rename afterwards would lose what an editor saves in between. So one call makes the old file and the
new one change places, and the old one is looked at then: if it is not what was expected, both go back. The store's lock
is held meanwhile, because of other processes of ours.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from cocli.errors import Conflict
from cocli.store.disk import Beneath
from cocli.store.etag import content_etag
from cocli.store.stripes import StripedLocks

if TYPE_CHECKING:
    from collections.abc import Iterator

_EXCHANGE = 2  # RENAME_EXCHANGE on Linux, RENAME_SWAP on macOS
_TEMPORARY = ".tmp#sync-{}-{}"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_UNSUPPORTED = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM)


class CannotExchange(Exception):
    """The file system, or the system itself, has no such call."""


class Exchanger:
    """Works in the folder of a `LocalStore`, with its locks and its rules about links."""

    def __init__(self, root: str, *, fsync: bool) -> None:
        self._root = root
        self._fsync = fsync
        self._locks = StripedLocks(f"{root}/.locks#")
        self._count = 0

    def replace(self, key: str, data: bytes, digest: str) -> None:
        """`Conflict` unless exactly the content of that digest is replaced; `CannotExchange` if it cannot be done."""
        with self._held(key) as (folder, name, temporary):
            if _digest(folder, name) != digest:
                raise Conflict(key=key)
            _write(folder, temporary, data, sync=self._fsync)
            try:
                _exchange(folder, temporary, name)
                if _digest(folder, temporary) != digest:
                    _exchange(folder, temporary, name)  # an editor was faster: its file is where it was
                    self._keep(folder, temporary, name, content_etag(data))
                    raise Conflict(key=key)
            finally:
                with suppress(FileNotFoundError):  # kept under another name
                    os.unlink(temporary, dir_fd=folder)
            if self._fsync:
                os.fsync(folder)

    def remove(self, key: str, digest: str) -> None:
        """Remove a file, if exactly that content goes."""
        with self._held(key) as (folder, name, temporary):
            if _digest(folder, name) != digest:
                raise Conflict(key=key)
            os.rename(name, temporary, src_dir_fd=folder, dst_dir_fd=folder)
            if _digest(folder, temporary) != digest:
                self._put_back(folder, temporary, name)
                raise Conflict(key=key)
            os.unlink(temporary, dir_fd=folder)
            if self._fsync:
                os.fsync(folder)

    def close(self) -> None:
        self._locks.close()

    def _keep(self, folder: int, temporary: str, name: str, digest: str) -> None:
        """What was ours for a moment may have been edited in that moment."""
        if _digest(folder, temporary) != digest:
            os.rename(temporary, f"{name}.saved-{self._count}", src_dir_fd=folder, dst_dir_fd=folder)

    def _put_back(self, folder: int, temporary: str, name: str) -> None:
        try:
            os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except FileExistsError:
            os.rename(temporary, f"{name}.saved-{self._count}", src_dir_fd=folder, dst_dir_fd=folder)
            return
        os.unlink(temporary, dir_fd=folder)

    @contextmanager
    def _held(self, key: str) -> Iterator[tuple[int, str, str]]:
        """The open folder of a key, its name in there, and a name for something temporary."""
        above, _, name = key.rpartition("/")
        self._count += 1
        beneath = Beneath(self._root)
        try:
            folder = beneath.open(above or ".", _FOLDER)
            try:
                with self._locks.hold(key):
                    yield folder, name, _TEMPORARY.format(os.getpid(), self._count)
            finally:
                os.close(folder)
        finally:
            beneath.close()


def _write(folder: int, name: str, data: bytes, *, sync: bool) -> None:
    descriptor = os.open(name, _WRITE, 0o644, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(data)
        if sync:
            os.fsync(descriptor)
    except BaseException:  # whatever ends the write, nothing of it stays
        os.unlink(name, dir_fd=folder)
        raise
    finally:
        os.close(descriptor)


def _digest(folder: int, name: str) -> str | None:
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        return content_etag(file.read())


def _exchange(folder: int, left: str, right: str) -> None:
    call = _call()
    if call is None:
        raise CannotExchange
    if call(folder, left.encode(), folder, right.encode(), _EXCHANGE) != 0:
        code = ctypes.get_errno()
        if code in _UNSUPPORTED:
            raise CannotExchange
        raise OSError(code, os.strerror(code), right)


@cache
def _call() -> Any | None:
    library = ctypes.CDLL(None, use_errno=True)
    name = "renameatx_np" if sys.platform == "darwin" else "renameat2"
    call = getattr(library, name, None)
    if call is not None:
        call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
        call.restype = ctypes.c_int
    return call
