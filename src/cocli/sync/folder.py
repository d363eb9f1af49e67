"""The folder of a pair: what lies in it, seen in one walk, and read so that a change on the way is noticed.

Writing goes through the `LocalStore`, so whatever holds for that holds here. This module adds the stamp of a file, by
which an unchanged file is recognised without being read, and the rule for when a stamp is not enough.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple, Protocol

from cocli.errors import ChangedWhileRead, NotFound, Unavailable
from cocli.keys.parts import is_key
from cocli.store.disk.own_names import named_entries, place_of
from cocli.store.local import LocalStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cocli.store.base import Store
    from cocli.store.local import Fsync

_INTERNAL = (".tmp#", ".locks#", ".clock#", ".journal#")  # the store's own files; no key can be called so
_NO_KEY = "its name cannot be a key: letters, digits and ._~@+=,- only"
_DOUBLED = "another file beside it has the same key: rename one of them"


class Stamp(NamedTuple):
    """How a file looks from outside. A same-sized edit in one tick of the clock may look the same: see `is_racy`."""

    size: int
    modified_ns: int
    changed_ns: int
    inode: int

    def is_racy(self, looked_ns: int) -> bool:
        """Whether the file was written in, or after, the tick in which somebody looked at its content.

        Then a later edit could have the same stamp. Git calls such an entry racy, and reads it again as well.
        """
        return self.modified_ns >= looked_ns or self.changed_ns >= looked_ns


class Content(NamedTuple):
    data: bytes
    stamp: Stamp


class Side(Protocol):
    """The folder, as the engine sees it. `Folder` is the real one; the simulator has one in its own world."""

    @property
    def store(self) -> Store: ...

    @property
    def case_sensitive(self) -> bool: ...

    def walk(self, folders: Sequence[str], skipped: Callable[[str, str], None]) -> dict[str, Stamp]: ...

    def now_ns(self) -> int: ...

    def stamp(self, key: str) -> Stamp | None: ...

    def read(self, key: str, looked_ns: int) -> Content: ...

    def replace(self, key: str, data: bytes, digest: str) -> None: ...

    def remove(self, key: str, digest: str) -> None: ...


class Folder:
    """A folder on this machine. `case_sensitive` is found out, unless it is said."""

    def __init__(
        self, root: str | os.PathLike[str], *, fsync: Fsync = "always", case_sensitive: bool | None = None
    ) -> None:
        self.store = LocalStore(root, fsync=fsync)
        self._root = self.store.address
        self._case_sensitive = case_sensitive

    @property
    def address(self) -> str:
        return self._root

    @property
    def case_sensitive(self) -> bool:
        if self._case_sensitive is None:
            self.store.now()  # makes the file of the clock
            self._case_sensitive = not os.path.exists(f"{self._root}/.CLOCK#")
        return self._case_sensitive

    def now_ns(self) -> int:
        """The file system's own clock, with the grain that it gives to the times of files."""
        self.store.now()
        return os.stat(f"{self._root}/.clock#").st_mtime_ns

    def walk(self, folders: Sequence[str], skipped: Callable[[str, str], None]) -> dict[str, Stamp]:
        """Every file below some folders (`""` is all) with its stamp. `skipped` is told of what cannot be a key."""
        found: dict[str, Stamp] = {}
        for folder in folders:
            self._walk(f"{self._root}/{folder}".rstrip("/"), folder, found, skipped)
        return found

    def stamp(self, key: str) -> Stamp | None:
        try:
            return _stamp(os.stat(f"{self._root}/{place_of(self._root, key)}", follow_symlinks=False))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def read(self, key: str, looked_ns: int) -> Content:
        """A file and its stamp; `ChangedWhileRead` if they may not belong together.

        `looked_ns` is a moment before. What was written in or after that tick may be written to again within it,
        without a trace in its stamp: such a file is read twice, and has to be the same both times.
        """
        before = self.stamp(key)
        if before is None:
            raise NotFound(key=key)
        data = self.store.get(key).data
        torn = before.is_racy(looked_ns) and self.store.get(key).data != data
        if torn or self.stamp(key) != before or len(data) != before.size:
            raise ChangedWhileRead(key=key)
        return Content(data, before)

    def replace(self, key: str, data: bytes, digest: str) -> None:
        """Put new content in the place of what is known; `Conflict` if something else is there by now."""
        self.store.put(key, data, if_match=digest)

    def remove(self, key: str, digest: str) -> None:
        """Remove what is known; `Conflict` if something else is there by now."""
        self.store.delete(key, if_match=digest)

    def close(self) -> None:
        self.store.close()

    def _walk(self, path: str, prefix: str, found: dict[str, Stamp], skipped: Callable[[str, str], None]) -> None:
        try:
            with os.scandir(path) as scan:
                entries = list(scan)
        except (FileNotFoundError, NotADirectoryError):
            return  # removed since its parent was read
        except PermissionError as error:
            skipped(prefix, f"cannot be read: {error.strerror}")
            return
        except OSError as error:
            raise Unavailable(address=self._root, reason=error.strerror or str(error)) from error

        def left_out(name: str, doubled: bool) -> None:
            if not name.startswith(_INTERNAL):
                skipped(prefix + name, _DOUBLED if doubled else _NO_KEY)

        for part, entry in named_entries(entries, prefix, left_out):
            key = prefix + part
            if entry.is_dir(follow_symlinks=False):
                self._walk(entry.path, f"{key}/", found, skipped)
            elif not is_key(key):
                skipped(key, _NO_KEY)
            elif not entry.is_file(follow_symlinks=False):
                skipped(key, "is a link or no plain file; it is not followed")
            else:
                try:
                    found[key] = _stamp(entry.stat(follow_symlinks=False))
                except FileNotFoundError:
                    continue  # removed since the folder was read


def _stamp(status: os.stat_result) -> Stamp:
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
