"""Requests to the operating system that the standard library does not make, or not as a store needs them."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import sys
from functools import cache
from typing import Any

from cocli.store.disk.unnamed import UnnamedFile, can_link_unnamed

_OPENAT2 = 437  # the same number on every architecture
_HOW_SIZE = 24
_RESOLVE_NO_SYMLINKS = 0x04
_RESOLVE_BENEATH = 0x08
_NEW_FILE = 0o644
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NO_UNNAMED = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.EPERM)


def real_path(descriptor: int) -> str:
    """Where an open file really lies, links resolved. Linux adds ` (deleted)` once its name is gone."""
    if sys.platform == "darwin":
        return os.fsdecode(fcntl.fcntl(descriptor, fcntl.F_GETPATH, b"\0" * 1024).rstrip(b"\0"))
    return os.readlink(f"/proc/self/fd/{descriptor}")


def read_whole(descriptor: int, size: int) -> bytes:
    """A file from where it stands to its end. `size` is what it should be: then one call does it."""
    chunks = [os.read(descriptor, size + 1)]
    if len(chunks[0]) != size:  # a file that grew, or one too large for a single call
        while chunk := os.read(descriptor, 1 << 20):
            chunks.append(chunk)
    return b"".join(chunks)


def sync_file_system(path: str) -> None:
    """Bring everything written so far on the file system of `path` to the disk."""
    syncfs = getattr(_libc(), "syncfs", None)
    if syncfs is None:
        os.sync()
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if syncfs(descriptor) != 0:
            raise _last_error(path)
    finally:
        os.close(descriptor)


class Beneath:
    """Opens files and folders below a root, and refuses symbolic links anywhere on the way.

    Linux does that in one call (`openat2`, since 5.6). Elsewhere a file is opened first, and the system is asked where
    it lies; that takes twice as long.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._hows: dict[int, Any] = {}
        self._descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._syscall = _openat2_syscall()
        self._unnamed = can_link_unnamed()

    def open(self, path: str, flags: int) -> int:
        """The descriptor of what lies at a path relative to the root; `OSError` with ELOOP where a link is met."""
        if self._syscall is None:
            return self._open_and_ask(path, flags)
        try:
            return self._open_at(self._descriptor, path, flags)
        except OSError as error:
            if error.errno not in (errno.ENOSYS, errno.EPERM):
                raise
        self._syscall = None  # an older kernel, or a sandbox that does not know the call
        return self._open_and_ask(path, flags)

    def open_folder(self, path: str, within: int | None = None) -> int:
        """A folder below the root, or below an open folder where there are files without a name."""
        return self.open(path, _FOLDER) if within is None else self._open_at(within, path, _FOLDER)

    def _open_at(self, folder: int, path: str, flags: int) -> int:
        if self._syscall is None:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), path)
        how = self._hows.get(flags) or self._how(flags)
        name = path.encode() if path.isascii() else os.fsencode(path)
        descriptor: int = self._syscall(_OPENAT2, folder, name, how, _HOW_SIZE)
        if descriptor < 0:
            raise _last_error(path)
        return descriptor

    @property
    def allows_unnamed(self) -> bool:
        """Whether files can be made that have no name yet."""
        return self._unnamed and self._syscall is not None

    def create_unnamed(self, folder: str) -> UnnamedFile | None:
        """A new file in a folder, without a name; None where the file system knows no such thing."""
        return self.unnamed_in(self.open_folder(folder))

    def unnamed_in(self, descriptor: int) -> UnnamedFile | None:
        """As `create_unnamed`, in a folder that is open and is closed with the file."""
        try:
            return UnnamedFile(descriptor)
        except OSError as error:
            os.close(descriptor)
            if error.errno not in _NO_UNNAMED:
                raise
            self.forbid_unnamed()
            return None

    def forbid_unnamed(self) -> None:
        self._unnamed = False

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _how(self, flags: int) -> Any:
        """What `openat2` is told; kept, because making it costs more than the call."""
        mode = _NEW_FILE if flags & os.O_CREAT else 0
        how = self._hows[flags] = (ctypes.c_uint64 * 3)(flags, mode, _RESOLVE_BENEATH | _RESOLVE_NO_SYMLINKS)
        return how

    def _open_and_ask(self, path: str, flags: int) -> int:
        expected = f"{self._root}/{path}" if path != "." else self._root
        # A folder that is a link is opened, to be recognised as one: with O_NOFOLLOW it would only be "no folder".
        careful = 0 if flags & os.O_DIRECTORY else os.O_NOFOLLOW
        descriptor = os.open(expected, flags | careful, _NEW_FILE)
        where = real_path(descriptor)
        if where not in (expected, f"{expected} (deleted)"):
            os.close(descriptor)
            if flags & os.O_CREAT:
                os.unlink(expected)
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        return descriptor


@cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _openat2_syscall() -> Any | None:
    if sys.platform != "linux":
        return None
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t]
    syscall.restype = ctypes.c_long
    return syscall


def _last_error(path: str) -> OSError:
    code = ctypes.get_errno()
    return OSError(code, os.strerror(code), path)
