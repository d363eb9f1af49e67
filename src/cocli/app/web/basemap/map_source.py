"""`[web] basemap`: where the tiles below the map come from, and which host a browser has to be allowed to ask for them.

https://tiles.example.com/{z}/{x}/{y}.png    pictures of another host
https://maps.example.com/area.pmtiles        one file of another host, read by ranges
maps/area.pmtiles                            one file of this machine: served, and deployed, as data/basemap.pmtiles
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from cocli.app.whole_file import absolute
from cocli.errors import ConfigError

PMTILES_PATH = "basemap.pmtiles"
"""Below `data/`."""
_ENDING = ".pmtiles"
_MAGIC = b"PMTiles"
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\]")
_HINT = "Write an address with {z}, {x} and {y}, or a .pmtiles file or its address; or leave [web] basemap out."


@dataclass(frozen=True, slots=True)
class MapSource:
    """What `[web] basemap` says."""

    address: str
    """As a page names it."""
    origin: str | None = None
    """The host that a page has to ask, as a policy names it; None where it is our own."""
    file: str | None = None
    """The file of this machine behind the address."""


def map_source(text: str | None) -> MapSource | None:
    """Where the tiles come from. `ConfigError` where nobody could draw them."""
    if not text:
        return None
    is_tiles = all(mark in text for mark in ("{z}", "{x}", "{y}"))
    if "://" in text:
        if not is_tiles and not urlsplit(text).path.endswith(_ENDING):
            raise _unusable(text, "it names neither tiles nor a .pmtiles file")
        return MapSource(text, _origin(text))
    if is_tiles or not text.endswith(_ENDING):
        raise _unusable(text, "it is no address, and no .pmtiles file")
    return MapSource(f"data/{PMTILES_PATH}", file=_checked(absolute(text)))


def _origin(text: str) -> str:
    """Scheme, host and port. Nothing else of an address goes into a policy, and no host that would end its line."""
    parts = urlsplit(text)
    host = parts.netloc.rpartition("@")[2].lower()
    name, _, port = host.rpartition(":") if re.search(r":\d+$", host) else (host, "", "")
    if parts.scheme not in ("http", "https") or "@" in parts.netloc or not _HOST.fullmatch(name):
        raise _unusable(text, "its host is not one name of the web")
    return f"{parts.scheme}://{name}{f':{port}' if port else ''}"


def _checked(path: str) -> str:
    try:
        with open(path, "rb") as file:
            begins_right = file.read(len(_MAGIC)) == _MAGIC
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from error
    if not begins_right or not os.path.isfile(path):
        raise _unusable(path, "it is no PMTiles file")
    return path


def _unusable(text: str, reason: str) -> ConfigError:
    return ConfigError(reason=f"[web] basemap = {text!r} cannot be drawn: {reason}", hint=_HINT)
