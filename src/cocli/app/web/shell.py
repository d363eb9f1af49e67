"""The shell: two HTML documents and the files that they load, named by what all of them say together.

One hash is over the whole tree, because the modules name each other by relative paths: a change of one is a new folder.
"""

from __future__ import annotations

import hashlib
import mimetypes
import re
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import quote

from cocli.app.web.data_file import HTML, DataFile, bytes_file
from cocli.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from importlib.resources.abc import Traversable

IMMUTABLE = "public, max-age=31536000, immutable"
_SHELL_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'{tiles}; worker-src 'self'; "
    "frame-src 'self'; img-src 'self' data: blob:{tiles}; font-src 'self'; manifest-src 'self'; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types cocli"
)
SHELL_POLICY = _SHELL_POLICY.format(tiles="")
MAP_PAGE = "map.html"
SCRIPT_POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'"
"""Of a script: a Worker has the policy of its own answer, not that of the page."""
_FOLDER = "service/web/static"
_COMMENT_LINE = re.compile(rb"^[ \t]*//[^\n]*\n", re.MULTILINE)
_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".geojson": "application/geo+json",
}


@dataclass(frozen=True)
class WebShell:
    """The files of the pages, read once."""

    folder: Traversable
    tiles: str | None = None
    """The host of a configured base map: the page that shows maps may ask it, and no other page."""

    @classmethod
    def installed(cls, tiles: str | None = None) -> WebShell:
        return cls(files("cocli").joinpath(*_FOLDER.split("/")), tiles)

    @property
    def map_policy(self) -> str:
        """What the page that shows maps may do."""
        return _SHELL_POLICY.format(tiles=f" {self.tiles}" if self.tiles else "")

    @cached_property
    def assets(self) -> dict[str, bytes]:
        """Path below `assets/` → content."""
        return {path: _sent(path, data) for path, data in _read(self.folder.joinpath("assets"), "")}

    @cached_property
    def _files(self) -> dict[str, DataFile]:
        """The same, as they are answered: hashed once."""
        return {path: _asset(path, data) for path, data in self.assets.items()}

    @cached_property
    def tree_hash(self) -> str:
        digest = hashlib.sha256()
        for path, data in sorted(self.assets.items()):
            digest.update(f"{path} {hashlib.sha256(data).hexdigest()}\n".encode())
        return digest.hexdigest()[:16]

    def index(self, campaigns: Iterable[str] = ()) -> DataFile:
        """The one page; without script it leads to the reports of these campaigns."""
        links = [f'<li><a href="data/{quote(name)}/report.html">{escape(name)}</a></li>' for name in campaigns]
        return self._page("index.html", "\n".join(links))

    def map_page(self) -> DataFile:
        """The same page under another name and policy. The screens with a map are opened there, where another host
        has the tiles: a policy holds for a document as long as it is open."""
        made = self._page("index.html", "")
        return replace(made, path=MAP_PAGE, headers={"Content-Security-Policy": self.map_policy})

    def auth(self) -> DataFile:
        """The page behind the one-time link."""
        return self._page("auth.html", "")

    def asset(self, path: str) -> DataFile:
        """A file below `assets/{tree_hash}/`."""
        file = self._files.get(path)
        if file is None:
            raise NotFound(key=f"assets/{path}")
        return file

    def _page(self, name: str, reports: str) -> DataFile:
        text = self.folder.joinpath(name).read_text(encoding="utf-8")
        text = text.replace("{{assets}}", f"assets/{self.tree_hash}").replace("<!--reports-->", reports)
        return bytes_file(name, text.encode(), HTML, {"Content-Security-Policy": SHELL_POLICY})


def _sent(path: str, data: bytes) -> bytes:
    """A file as a browser gets it: lines of comments in our own modules are for who reads the source."""
    if not path.endswith(".js") or path.startswith("vendor/"):
        return data
    return _COMMENT_LINE.sub(b"", data)


def _asset(path: str, data: bytes) -> DataFile:
    policy = {"Content-Security-Policy": SCRIPT_POLICY} if path.endswith(".js") else {}
    return bytes_file(path, data, content_type(path), {"Cache-Control": IMMUTABLE, **policy})


def content_type(path: str) -> str:
    ending = path[path.rfind(".") :]
    return _TYPES.get(ending) or mimetypes.guess_type(path)[0] or "application/octet-stream"


def _read(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _read(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", entry.read_bytes()
