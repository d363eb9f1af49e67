"""A file of a person's outside of any store: replaced only as it was read, and never over a save of theirs."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress

from cocli.app.whole_file import absolute
from cocli.errors import FileUnusable, disk_full
from cocli.store.disk.exchange import Exchange, rename_new
from cocli.store.etag import content_etag

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


def swap_file(path: str, data: bytes, known: bytes | None) -> bool:
    """Put a text in the place of the one that was read (None: of none); False if another one is there by now.

    A link stays a link: what it leads to is replaced.
    """
    target = os.path.realpath(absolute(path))
    try:
        return _swapped(*os.path.split(target), data, known)
    except FileNotFoundError:
        return False  # it was there when it was read
    except OSError as error:
        refused = FileUnusable(file=target, done="written", reason=error.strerror)
        raise disk_full(error, target) or refused from error


def _swapped(folder: str, name: str, data: bytes, known: bytes | None) -> bool:
    descriptor = os.open(folder, _FOLDER)
    try:
        temporary = f".{name}.tmp-{secrets.token_hex(4)}"
        _write(descriptor, temporary, data)
        if known is None:
            done = _created(descriptor, temporary, name)
        else:
            done = Exchange(descriptor, name, temporary).replace(content_etag(known), content_etag(data))
        os.fsync(descriptor)
        return done
    finally:
        os.close(descriptor)


def _created(folder: int, temporary: str, name: str) -> bool:
    try:
        return rename_new(folder, temporary, name)
    finally:
        with suppress(FileNotFoundError):  # renamed
            os.unlink(temporary, dir_fd=folder)


def _write(folder: int, name: str, data: bytes) -> None:
    descriptor = os.open(name, _WRITE, 0o666, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:  # whatever ends the write, nothing of it stays
        os.unlink(name, dir_fd=folder)
        raise
