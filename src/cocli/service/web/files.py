"""The shell, its assets and the data files, as answers: with etags and ranges, to those who may see them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.responses import FileResponse, Response

from cocli.app.web.basemap.map_source import PMTILES_PATH
from cocli.errors import Forbidden, NotFound
from cocli.service.web.cache import FileCache

if TYPE_CHECKING:
    from collections.abc import Collection

    from cocli.app.web.data_file import DataFile, StoredFile
    from cocli.app.web.shell import WebShell
    from cocli.app.web.site import DataSite
    from cocli.service.web.access import Principal
    from cocli.service.web.routes import WebCall

_RANGE = re.compile(r"bytes=(\d{0,15})-(\d{0,15})")
_SCHEMA = re.compile(r"schemas/[a-z-]+\.json")
_SHARED = ("site.json", "campaigns.json")
_NAMES = ("names",)


class WebFiles:
    """Everything that is read by GET."""

    def __init__(self, site: DataSite, shell: WebShell) -> None:
        self._site = site
        self._shell = shell
        self.cache = FileCache(site)
        self._narrow: dict[frozenset[str], FileCache] = {}

    def forget(self) -> None:
        for cache in (self.cache, *self._narrow.values()):
            cache.forget()

    # --- routes

    def index(self, call: WebCall) -> Response:
        names = [name for name in self._names() if call.principal.sees(name)]
        return file_response(call, self._shell.index(names))

    def map_page(self, call: WebCall) -> Response:
        return file_response(call, self._shell.map_page())

    def auth_page(self, call: WebCall) -> Response:
        return file_response(call, self._shell.auth())

    def asset(self, call: WebCall) -> Response:
        tree, _, path = call.params["path"].partition("/")
        if tree != self._shell.tree_hash:
            raise NotFound(key=f"assets/{tree}", hint="The program was replaced: load the page again.")
        takes_gzip = "gzip" in call.request.headers.get("accept-encoding", "")
        return file_response(call, self._shell.zipped(path) if takes_gzip else self._shell.asset(path))

    def data(self, call: WebCall) -> Response:
        path = call.params["path"]
        if path in _SHARED:
            return file_response(call, self._cache_of(call.principal, self._names()).get(path))
        if path == PMTILES_PATH:
            return self._map_tiles()
        _check_seen(call.principal, path)
        return file_response(call, self._site.stored(path) or self.cache.get(path))

    def _map_tiles(self) -> Response:
        """It may be larger than the memory: its parts are read from the disk when they are asked for."""
        source = self._site.basemap
        if source is None or source.file is None:
            raise NotFound(key=f"data/{PMTILES_PATH}", hint="Name a file in [web] basemap.")
        return FileResponse(source.file, media_type="application/vnd.pmtiles", headers={"Cache-Control": "no-cache"})

    def ready_data(self, call: WebCall) -> Response | None:
        """The same, where it was made just now; None where the store has to be asked."""
        path = call.params["path"]
        cache: FileCache | None = self.cache
        if path == PMTILES_PATH:
            return None
        if path in _SHARED:
            names = self._site.remembered(_NAMES)
            cache = None if names is None else self._cache_of(call.principal, names)
        else:
            _check_seen(call.principal, path)
        file = cache.fresh(path) if cache else None
        return file_response(call, file) if file else None

    # --- who sees what

    def _names(self) -> list[str]:
        from cocli.app.web.campaigns import known_campaigns

        return self._site.remember(_NAMES, lambda: known_campaigns(self._site.workspace, self._site.campaigns))

    def _cache_of(self, principal: Principal, names: Collection[str]) -> FileCache:
        """The list of campaigns is another one for who may see some of them only."""
        seen = frozenset(name for name in names if principal.sees(name))
        if len(seen) == len(names):
            return self.cache
        if seen not in self._narrow:
            self._narrow[seen] = FileCache(replace(self._site, campaigns=seen))
        return self._narrow[seen]


def _check_seen(principal: Principal, path: str) -> None:
    first = path.partition("/")[0]
    if not _SCHEMA.fullmatch(path) and not principal.sees(first):
        raise Forbidden(who=principal.name, reason=f"the campaign {first} is not theirs to see")


def file_response(call: WebCall, file: DataFile | StoredFile) -> Response:
    """A file, the part of it that is asked for, or only that it did not change."""
    headers = {"ETag": file.etag, "Cache-Control": "no-cache", **file.headers}
    asked = call.request.headers
    if file.etag in [known.strip().removeprefix("W/") for known in asked.get("if-none-match", "").split(",")]:
        return Response(status_code=304, headers=headers)
    headers["Accept-Ranges"] = "bytes"
    wanted = _RANGE.fullmatch(asked.get("range", ""))
    is_current = asked.get("if-range", file.etag) == file.etag
    if wanted is not None and is_current and call.request.method == "GET":
        return _part(file, wanted, headers)
    return Response(file.part(0, file.size), headers=headers, media_type=file.content_type)


def _part(file: DataFile | StoredFile, wanted: re.Match[str], headers: dict[str, str]) -> Response:
    size = file.size
    first, last = wanted[1], wanted[2]
    if not first and not last:
        return Response(file.part(0, size), headers=headers, media_type=file.content_type)
    start = int(first) if first else max(0, size - int(last))
    end = min(int(last), size - 1) if first and last else size - 1
    if start >= size or start > end:
        return Response(status_code=416, headers={**headers, "Content-Range": f"bytes */{size}"})
    headers["Content-Range"] = f"bytes {start}-{end}/{size}"
    return Response(file.part(start, end + 1), status_code=206, headers=headers, media_type=file.content_type)
