"""The local cache of what never changes: shards, manifests, lists. Named by content, so it is never stale.

A folder for people and programs (DuckDB reads the files in it), or this process's memory for tests and simulations.
Whatever the cache loses is fetched again; nothing is believed that was not checked when it arrived.
"""

from __future__ import annotations

import mmap
import os
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from cocli.config.private import make_private

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.index.shards import Buffer

_TEMPORARY = ".tmp-"


class Cache(Protocol):
    """`name` is the last part of an object's key: `{sha256}.usv`, `{version}-{sha256}.json`."""

    def has(self, name: str) -> bool: ...

    def get(self, name: str) -> Buffer | None: ...

    def add(self, name: str, data: bytes) -> None:
        """Keep content that was checked. A cache that cannot be written is no error: it is only slower."""
        ...

    def drop(self, name: str) -> None:
        """Forget something that turned out to be damaged."""
        ...


class MemoryCache:
    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def has(self, name: str) -> bool:
        return name in self._kept

    def get(self, name: str) -> Buffer | None:
        return self._kept.get(name)

    def add(self, name: str, data: bytes) -> None:
        self._kept[name] = data

    def drop(self, name: str) -> None:
        self._kept.pop(name, None)


class FolderCache:
    """A folder, shared by any number of processes. A file has its name only once it is whole."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = os.path.abspath(os.path.expanduser(os.fspath(folder)))
        self.refused: OSError | None = None
        """Why the last file could not be kept, for who cannot do without it."""

    def path(self, name: str) -> str:
        return f"{self.folder}/{name}"

    def has(self, name: str) -> bool:
        return os.path.exists(self.path(name))

    def get(self, name: str) -> Buffer | None:
        try:
            with open(self.path(name), "rb") as file:
                if os.fstat(file.fileno()).st_size == 0:
                    return None  # an empty file cannot be mapped, and is nothing that was ever kept
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError:
            return None  # not there, or not readable: it is fetched

    def add(self, name: str, data: bytes) -> None:
        temporary = self.path(f"{_TEMPORARY}{secrets.token_hex(8)}")
        try:
            make_private(self.folder)
            with open(temporary, "xb") as file:
                file.write(data)
            os.rename(temporary, self.path(name))
        except OSError as error:
            self.refused = error
            self._remove(temporary)  # disk full, read-only: the next reader fetches it again

    def drop(self, name: str) -> None:
        self._remove(self.path(name))

    def prune(self, keep: Iterable[str]) -> int:
        """Remove everything but the named files; returns how many bytes that freed."""
        kept, freed = set(keep), 0
        with suppress(FileNotFoundError), os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name not in kept and not entry.name.startswith(_TEMPORARY) and entry.is_file():
                    freed += entry.stat().st_size
                    self._remove(entry.path)
        return freed

    def _remove(self, path: str) -> None:
        with suppress(OSError):  # gone already, or not ours to remove: it does no harm
            os.unlink(path)
