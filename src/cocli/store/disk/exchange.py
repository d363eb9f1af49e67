"""Replaces or removes a file only if it has the expected content, although editors take no locks.

To look first and rename afterwards would lose what an editor saves in between. So one call makes the old file and the
new one change places, and then it is looked at what came out: if it is not what was expected, both go back. What an
editor saves in that very moment is put back too, or kept under a name of its own: nothing of a person's is removed.

Where a file system has no such call, the file is looked at once more, and renamed over: the moment between is left.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
from contextlib import suppress
from functools import cache
from typing import Any

from cocli import logs
from cocli.store.disk.watched import BeingWritten, WatchedFile

_LOG = logs.get_logger(__name__)

_EXCHANGE = 2  # RENAME_EXCHANGE on Linux, RENAME_SWAP on macOS
_NO_REPLACE = 4 if sys.platform == "darwin" else 1  # RENAME_EXCL, RENAME_NOREPLACE
_UNSUPPORTED = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM)
_COPIES = 10_000


class CannotExchange(Exception):
    """The file system, or the system itself, has no such call."""


class Exchange:
    """One change of a name in an open folder. `temporary` is a name in it that nobody else uses."""

    def __init__(self, folder: int, name: str, temporary: str) -> None:
        self._folder = folder
        self._name = name
        self._temporary = temporary

    def replace(self, expected: str, ours: str) -> bool:
        """Give the temporary file the name, if the file that has it is as expected; whether it was.

        Both are etags of content. The temporary name is gone afterwards. `FileNotFoundError` where nothing has the
        name, `BeingWritten` where a program does not end writing to it.
        """
        exchanged = False
        try:
            with WatchedFile(self._folder, self._name) as old:
                if old.etag != expected:
                    return False
                self._take_over_mode(old)
                try:
                    exchange(self._folder, self._temporary, self._name)
                except CannotExchange:
                    return self._rename_over(old)
                exchanged = True
                return self._settle(old, ours)
        finally:
            if not exchanged:
                self._forget()

    def remove(self, expected: str) -> bool:
        """Remove the file, if it is as expected; whether it was. `FileNotFoundError` and `BeingWritten` as above."""
        with WatchedFile(self._folder, self._name) as old:
            if old.etag != expected:
                return False
            os.rename(self._name, self._temporary, src_dir_fd=self._folder, dst_dir_fd=self._folder)
            is_it = False
            try:
                is_it = self._came_out(old)
            finally:  # whatever ends the look, the file is where it was
                if is_it:
                    self._forget()
                else:
                    self._return()
        return is_it

    def _settle(self, old: WatchedFile, ours: str) -> bool:
        """After the exchange: is what came out what was expected? Otherwise it goes back."""
        is_it = False
        try:
            is_it = self._came_out(old)
        finally:  # whatever ends the look, the person's file is where it was
            if is_it:
                self._forget()
            else:
                self._put_back(ours)
        return is_it

    def _came_out(self, old: WatchedFile) -> bool:
        return old.is_at(self._folder, self._temporary) and old.is_untouched()

    def _put_back(self, ours: str) -> None:
        """The save that came out gets its name again. What then comes out is ours, or a save that is newer still."""
        try:
            exchange(self._folder, self._temporary, self._name)
        except FileNotFoundError:  # an editor has moved ours out of its way, and is about to make the file anew
            self._return()
            return
        if self._is_ours(ours):
            self._forget()
            return
        try:
            exchange(self._folder, self._temporary, self._name)  # the newer one keeps the name
        except FileNotFoundError:
            self._return()
            return
        self._keep()

    def _is_ours(self, ours: str) -> bool:
        try:
            with WatchedFile(self._folder, self._temporary, patience=0) as out:
                return out.etag == ours
        except BeingWritten:
            return False

    def _return(self) -> None:
        """Give back the name, unless a file has it again."""
        if not rename_new(self._folder, self._temporary, self._name):
            self._keep()

    def _keep(self) -> None:
        """Two saves in one moment: the later one has the name, the earlier one is kept beside it."""
        for number in range(1, _COPIES):
            copy = f"{self._name}.saved-{number}"
            if rename_new(self._folder, self._temporary, copy):
                _LOG.warning("two saves of %s met in one moment: the earlier one is kept as %s", self._name, copy)
                return

    def _rename_over(self, old: WatchedFile) -> bool:
        is_it = old.is_at(self._folder, self._name) and old.is_untouched()
        if is_it:
            os.rename(self._temporary, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        return is_it

    def _take_over_mode(self, old: WatchedFile) -> None:
        """Who may read a file is for its owner to say: a new version of it does not open it to others."""
        status = os.stat(self._temporary, dir_fd=self._folder, follow_symlinks=False)
        if stat.S_IMODE(status.st_mode) != old.mode:
            with suppress(PermissionError):  # a file of somebody else's: it is written with our own rules
                os.chmod(self._temporary, old.mode, dir_fd=self._folder)

    def _forget(self) -> None:
        with suppress(FileNotFoundError):  # renamed
            os.unlink(self._temporary, dir_fd=self._folder)


def exchange(folder: int, left: str, right: str) -> None:
    """Two files change their names in one step. `CannotExchange` where that cannot be done."""
    _rename(folder, left, right, _EXCHANGE)


def rename_new(folder: int, name: str, new: str) -> bool:
    """Give a file another name, unless something has that already; whether it was given."""
    try:
        _rename(folder, name, new, _NO_REPLACE)
    except FileExistsError:
        return False
    except CannotExchange:
        try:
            os.link(name, new, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError:
            return False
        os.unlink(name, dir_fd=folder)
    return True


def _rename(folder: int, old: str, new: str, flags: int) -> None:
    call = _call()
    if call is None:
        raise CannotExchange
    if call(folder, os.fsencode(old), folder, os.fsencode(new), flags) != 0:
        code = ctypes.get_errno()
        if code in _UNSUPPORTED:
            raise CannotExchange
        raise OSError(code, os.strerror(code), new)


@cache
def _call() -> Any | None:
    library = ctypes.CDLL(None, use_errno=True)
    name = "renameatx_np" if sys.platform == "darwin" else "renameat2"
    call = getattr(library, name, None)
    if call is not None:
        call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
        call.restype = ctypes.c_int
    return call
