"""What the operating system says about a folder, as the store's own errors."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from cocli.errors import Denied, InvalidKey, StoreError, StoreFull, Unavailable
from cocli.store.disk.stripes import StripesTimeout
from cocli.store.disk.watched import BeingWritten

if TYPE_CHECKING:
    from collections.abc import Callable


class store_errors:  # noqa: N801 - reads as the function that it is
    """Map what the operating system says to the store's own errors. A class, because a generator is slower."""

    __slots__ = ("_address", "_key")

    def __init__(self, address: str, key: str) -> None:
        self._address = address
        self._key = key

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is not None and isinstance(error, OSError):
            raise store_error(error, self._address, self._key) from error


def failure(address: str, action: Callable[[], None]) -> StoreError | None:
    """What came of something that is done for several objects; None if it was done."""
    try:
        with store_errors(address, ""):
            action()
    except StoreError as error:
        return error
    return None


def store_error(error: OSError, address: str, key: str) -> StoreError:
    """What became of something that was done for one object."""
    if isinstance(error, StripesTimeout):
        return Unavailable(address=address, reason=f"{error} stayed locked by another process")
    if isinstance(error, BeingWritten):
        reason = f"{key} is open for writing in another program"
        return Unavailable(address=address, reason=reason, key=key)
    return translated(error, address, key)


def translated(error: OSError, address: str, key: str) -> StoreError:
    reason = error.strerror or str(error)
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return StoreFull(address=address, reason=reason, key=key)
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return Denied(address=address, key=key, credentials=f"user {os.getuid()}", reason=reason)
        case errno.EISDIR | errno.ENOTDIR | errno.EEXIST | errno.ENOTEMPTY:
            return InvalidKey(key=key, part=key, reason="is a folder on the disk, or lies below an object")
        case errno.ELOOP:
            return InvalidKey(key=key, part=key, reason="passes through a symbolic link, which could lead anywhere")
        case errno.ENAMETOOLONG:
            return InvalidKey(key=key, part=key, reason="is longer than the file system allows")
    return Unavailable(address=address, reason=reason, key=key)
