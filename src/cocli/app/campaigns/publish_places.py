"""Where a publication is written to: a prefix of a store, or a folder of this machine that other programs serve."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from cocli.app.whole_file import absolute, whole_file
from cocli.app.workspace import location
from cocli.errors import NO_ROOM, DiskFull, FileUnusable, UsageError
from cocli.store.web import web_store

if TYPE_CHECKING:
    from cocli.store.base import Store

MOST_VALID = timedelta(days=7)
"""Longer signatures are refused by S3."""
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".csv": "text/csv; charset=utf-8",
    ".parquet": "application/vnd.apache.parquet",
    ".geojson": "application/geo+json",
    ".kml": "application/vnd.google-earth.kml+xml",
}
_FINE = 200


@dataclass(frozen=True, slots=True)
class LinkOptions:
    """How people get at a publication."""

    valid: timedelta | None = None
    """Links are signed for so long."""
    public: bool = False
    """Everybody may read the place: links are plain addresses."""
    url: str | None = None
    """What public links begin with, where that is not the store's own address."""

    def __post_init__(self) -> None:
        if self.valid is not None and not timedelta(0) < self.valid <= MOST_VALID:
            raise UsageError(reason="Links can be signed for seven days at most", hint="Write --presign 7d, or less.")

    def begun(self, name: str) -> str | None:
        """The link to a file behind `url`."""
        if self.url is None:
            return None
        return f"{self.url.rstrip('/')}/{quote(name)}"


class PublishPlace(Protocol):
    """Named files; a name may have folders. `sets/{set}/{file}` are the files of one publication."""

    @property
    def options(self) -> LinkOptions: ...

    def put(self, name: str, data: bytes) -> None: ...

    def where(self, name: str) -> str:
        """The file, as a person would type it."""
        ...

    def inner_link(self, name: str) -> str:
        """The link to a file from the page `index.html`."""
        ...

    def outer_link(self, name: str) -> str | None:
        """The link to a file for somebody's browser; None where there is none."""
        ...

    def public_problem(self, name: str) -> str | None:
        """Why people cannot open a file that is said to be public."""
        ...

    def names(self, folder: str) -> list[str]:
        """The files below a folder."""
        ...

    def remove(self, names: list[str]) -> None: ...


@dataclass(frozen=True, slots=True)
class StorePlace:
    """Below a prefix of a store."""

    store: Store
    prefix: str
    options: LinkOptions

    def __post_init__(self) -> None:
        if web_store(self.store) is None:
            _refuse_signing(self.store.address, self.options)

    def put(self, name: str, data: bytes) -> None:
        web = web_store(self.store)
        if web is None:
            self.store.put(self._key(name), data)
        else:
            web.put_typed(self._key(name), data, _TYPES[os.path.splitext(name)[1]])

    def where(self, name: str) -> str:
        return location(self.store, self._key(name))

    def inner_link(self, name: str) -> str:
        """A relative link does, unless links are signed."""
        if self.options.valid is None:
            return quote(name)
        return self.outer_link(name) or quote(name)

    def outer_link(self, name: str) -> str | None:
        web = web_store(self.store)
        if web is not None and self.options.valid is not None:
            return web.signed_link(self._key(name), self.options.valid)
        if web is not None and self.options.public and self.options.url is None:
            return web.public_link(self._key(name))
        return self.options.begun(name)

    def public_problem(self, name: str) -> str | None:
        web = web_store(self.store)
        if web is None or not self.options.public or self.options.url is not None:
            return None
        status = web.public_status(self._key(name))
        if status == _FINE:
            return None
        said = f"HTTP status {status}" if status else "no answer"
        return f"Without credentials the page cannot be read ({said}): the bucket does not let everybody read it."

    def names(self, folder: str) -> list[str]:
        return [info.key.removeprefix(self.prefix) for info in self.store.list(self._key(folder))]

    def remove(self, names: list[str]) -> None:
        self.store.delete_many([self._key(name) for name in names])

    def _key(self, name: str) -> str:
        return f"{self.prefix}{name}"


@dataclass(frozen=True, slots=True)
class FolderPlace:
    """A folder, in which nothing but the files themselves is: a web server may serve it."""

    root: str
    options: LinkOptions

    def __post_init__(self) -> None:
        _refuse_signing(self.root, self.options)

    def put(self, name: str, data: bytes) -> None:
        path = self._path(name)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        except OSError as error:
            kind = DiskFull if error.errno in NO_ROOM else FileUnusable
            raise kind(file=os.path.dirname(path), done="made", reason=error.strerror) from error
        with whole_file(path) as file:
            file.write(data)

    def where(self, name: str) -> str:
        return self._path(name)

    def inner_link(self, name: str) -> str:
        return quote(name)

    def outer_link(self, name: str) -> str | None:
        return self.options.begun(name)

    def public_problem(self, name: str) -> str | None:  # noqa: ARG002  who serves the folder is not known here
        return None

    def names(self, folder: str) -> list[str]:
        found: list[str] = []
        for path, _, files in os.walk(self._path(folder)):
            found += [os.path.relpath(os.path.join(path, file), self._path("")) for file in files]
        return sorted(name.replace(os.sep, "/") for name in found)

    def remove(self, names: list[str]) -> None:
        """With the folders that held them: a set is never removed in part."""
        for folder in sorted({os.path.dirname(self._path(name)) for name in names}):
            shutil.rmtree(folder, ignore_errors=True)  # what somebody has open or put there stays until the next time

    def _path(self, name: str) -> str:
        return os.path.join(absolute(self.root), name)


def _refuse_signing(where: str, options: LinkOptions) -> None:
    if options.valid is not None:
        raise UsageError(
            reason=f"Links to {where} cannot be signed: it is no bucket",
            hint="Leave --presign away, or publish into a bucket with --to s3://bucket/prefix.",
        )
