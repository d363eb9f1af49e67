"""Two questions to the operating system that the standard library does not ask."""

from __future__ import annotations

import ctypes
import fcntl
import os
import sys
from functools import cache
from typing import Any


def real_path(descriptor: int) -> str:
    """Where an open file really lies, links resolved. Linux adds ` (deleted)` once its name is gone."""
    if sys.platform == "darwin":
        return os.fsdecode(fcntl.fcntl(descriptor, fcntl.F_GETPATH, b"\0" * 1024).rstrip(b"\0"))
    return os.readlink(f"/proc/self/fd/{descriptor}")


def sync_file_system(path: str) -> None:
    """Bring everything written so far on the file system of `path` to the disk."""
    syncfs = _syncfs()
    if syncfs is None:
        os.sync()
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if syncfs(descriptor) != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), path)
    finally:
        os.close(descriptor)


@cache
def _syncfs() -> Any | None:
    return getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
