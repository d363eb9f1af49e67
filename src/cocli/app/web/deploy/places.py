"""Where a dashboard is deployed: a bucket that browsers ask through a guard, or a folder that a web server serves."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol

from cocli.app.whole_file import absolute, whole_file
from cocli.errors import NO_ROOM, DiskFull, FileUnusable, NotFound
from cocli.store.kinds import FOLDER, scheme_of
from cocli.store.opening import open_store
from cocli.store.web import web_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cocli.app.web.data_file import DataFile
    from cocli.store.base import Store

_AT_ONCE = 8
_STORED_HEADERS = frozenset({"Cache-Control", "Content-Disposition"})
"""What an object can carry. The others are in `_headers`, for what stands in front."""


class PlacedFile(NamedTuple):
    """A file that is there."""

    etag: str
    modified: datetime


class DeployPlace(Protocol):
    """Named files; a name is a path below the site's root."""

    @property
    def address(self) -> str: ...

    def existing(self) -> dict[str, PlacedFile]: ...

    def read(self, path: str) -> bytes | None: ...

    def put(self, files: Sequence[DataFile]) -> list[str]:
        """Write some files, in any order; their etags."""
        ...

    def remove(self, paths: Sequence[str]) -> None: ...

    def now(self) -> datetime: ...

    def is_open_to_all(self, path: str) -> bool:
        """Whether somebody without credentials can read a file."""
        ...


@dataclass(frozen=True, slots=True)
class StoreDeployPlace:
    """A store, or the part of it below a prefix."""

    store: Store

    @property
    def address(self) -> str:
        return self.store.address

    def existing(self) -> dict[str, PlacedFile]:
        return {info.key: PlacedFile(info.etag or "", info.modified) for info in self.store.list()}

    def read(self, path: str) -> bytes | None:
        try:
            return self.store.get(path).data
        except NotFound:
            return None

    def put(self, files: Sequence[DataFile]) -> list[str]:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(pool.map(self._put, files))

    def _put(self, file: DataFile) -> str:
        web = web_store(self.store)
        if web is None:
            return self.store.put(file.path, file.data)
        headers = {name: value for name, value in file.headers.items() if name in _STORED_HEADERS}
        return web.put_typed(file.path, file.data, file.content_type, headers)

    def remove(self, paths: Sequence[str]) -> None:
        for failed in self.store.delete_many(paths):
            if failed is not None:
                raise failed

    def now(self) -> datetime:
        return self.store.now()

    def is_open_to_all(self, path: str) -> bool:
        web = web_store(self.store)
        return web is not None and web.public_status(path) == 200


@dataclass(frozen=True, slots=True)
class FolderDeployPlace:
    """A folder of this machine, in which nothing but the files themselves is."""

    root: str

    @property
    def address(self) -> str:
        return absolute(self.root)

    def existing(self) -> dict[str, PlacedFile]:
        found: dict[str, PlacedFile] = {}
        for folder, _, files in os.walk(self.address):
            for file in files:
                path = os.path.join(folder, file)
                with suppress(FileNotFoundError):  # removed meanwhile by another deployment
                    with open(path, "rb") as opened:
                        etag = hashlib.file_digest(opened, "md5").hexdigest()
                    modified = datetime.fromtimestamp(os.stat(path).st_mtime, UTC)
                    found[os.path.relpath(path, self.address).replace(os.sep, "/")] = PlacedFile(etag, modified)
        return found

    def read(self, path: str) -> bytes | None:
        try:
            with open(os.path.join(self.address, path), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def put(self, files: Sequence[DataFile]) -> list[str]:
        return [self._put(file) for file in files]

    def _put(self, file: DataFile) -> str:
        path = os.path.join(self.address, file.path)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        except OSError as error:
            kind = DiskFull if error.errno in NO_ROOM else FileUnusable
            raise kind(file=os.path.dirname(path), done="made", reason=error.strerror) from error
        with whole_file(path) as opened:
            opened.write(file.data)
        return content_etag(file.data)

    def remove(self, paths: Sequence[str]) -> None:
        for path in paths:
            with suppress(FileNotFoundError):  # another deployment was faster
                os.unlink(os.path.join(self.address, path))
        for folder in sorted({os.path.dirname(path) for path in paths} - {""}, key=len, reverse=True):
            with suppress(OSError):  # not empty, or gone
                os.removedirs(os.path.join(self.address, folder))

    def now(self) -> datetime:
        return datetime.now(UTC)

    def is_open_to_all(self, path: str) -> bool:  # noqa: ARG002  who serves the folder is not known here
        return False


@contextmanager
def opened_place(address: str) -> Iterator[DeployPlace]:
    if scheme_of(address) == FOLDER:
        yield FolderDeployPlace(address)
        return
    store = open_store(address)
    try:
        yield StoreDeployPlace(store)
    finally:
        store.close()


def content_etag(data: bytes) -> str:
    """The etag that a server gives to what was put in one piece."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
