"""How one field of a key is written, and what `parse` looks for: plain text, tiles, hashes, versions, days.

For `cocli.keys.paths` alone, which says where the fields stand.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from cocli.errors import InvalidKey
from cocli.keys.parts import MAX_PART_BYTES, ShortenedPart, decode_part, encode_part
from cocli.keys.tile import Tile

if TYPE_CHECKING:
    from collections.abc import Callable


class Codec(NamedTuple):
    """A field ⇄ its text in the key. The pattern is what `parse` looks for; it may span several parts."""

    pattern: str
    encode: Callable[[Any], str]
    decode: Callable[[str], Any]


def _matching(pattern: str, what: str) -> Codec:
    """Text that is taken as it is, if it has the right shape."""
    shape = re.compile(rf"(?:{pattern})\Z")

    def check(text: str) -> str:
        if not shape.match(text):
            raise InvalidKey(key=text[:80], part=text[:80], reason=f"is not {what}")
        return text

    return Codec(pattern, check, check)


def _encode_path(path: str) -> str:
    """Several parts. None may be too long: what was shortened could not be told from the rest when it is read back."""
    parts = [encode_part(part) for part in path.split("/")]
    for part in parts:
        if isinstance(decode_part(part), ShortenedPart):
            raise InvalidKey(key=path[:80], part=part[:40] + "…", reason=f"is longer than {MAX_PART_BYTES} bytes")
    return "/".join(parts)


def _decode_path(path: str) -> str:
    return "/".join(decode_part(part) for part in path.split("/"))


def _decode_tile(names: str) -> Tile:
    lat, _, lon = names.partition("/")
    return Tile.parse(lat, lon)


TEXT = Codec("[^/]+", encode_part, decode_part)
PATH = Codec(".+", _encode_path, _decode_path)
TILE = Codec("[^/]+/[^/]+", lambda tile: f"{tile.lat_name}/{tile.lon_name}", _decode_tile)
HASH2 = _matching("[0-9a-f]{2}", "2 lower-case hex digits")
HASH16 = _matching("[0-9a-f]{16}", "16 lower-case hex digits")
SHA256 = _matching("[0-9a-f]{64}", "64 lower-case hex digits")
_VERSION_TEXT = _matching("[0-9]{8,}", "a version: 0 or a greater number")
VERSION = Codec("[0-9]{8,}", lambda version: _VERSION_TEXT.encode(f"{version:08d}"), int)
DAY = _matching("[0-9]{4}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])", "a day written yyyymmdd")
UUID = _matching("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "a lower-case UUID")
COMPLETION_FORMAT = _matching("json|usv", "json or usv")


def _cluster_name(text: str) -> str:
    if text == "intake":
        raise InvalidKey(key=text, part=text, reason="is the name of the intake folder; a cluster may not be called so")
    return text


CLUSTER = Codec(
    TEXT.pattern,
    lambda name: encode_part(_cluster_name(name)),
    lambda part: _cluster_name(decode_part(part)),
)
