"""What the links of a Maps page say: the ids and the point of a place, and the address of its own website."""

from __future__ import annotations

import base64
import binascii
import math
import re
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, unquote_plus, urlsplit

from cocli.keys.identities import is_place_id
from cocli.pipeline.websites.hosts.table import hosts_of

_LONGEST = 8_000
_DATA = re.compile(r"!(1s|3d|4d|16s|16z|19s)([^!?&#]*)")
_FEATURE_ID = re.compile(r"0x[0-9a-f]{1,16}:0x[0-9a-f]{1,16}", re.IGNORECASE)
_KGMID = re.compile(r"/[gm]/[0-9a-z_]{2,30}", re.IGNORECASE)
_NAME = re.compile(r"/maps/place/([^/?#]+)")
_BREAK = re.compile(r"[\s\x00-\x1f]")
_ESCAPE = re.compile(r"\\u00([0-9a-f]{2})", re.IGNORECASE)
_GOOGLE = re.compile(r"(?:^|\.)google\.(?:com?\.)?[a-z]{2,3}$")


@dataclass(frozen=True, slots=True)
class PlaceLink:
    """The identity that a link to a place carries."""

    feature_id: str | None = None
    place_id: str | None = None
    kgmid: str | None = None
    lat: float | None = None
    lon: float | None = None
    name: str | None = None

    def __bool__(self) -> bool:
        return bool(self.feature_id or self.place_id or self.kgmid)


def read_place_link(href: str) -> PlaceLink:
    """The parts of `/maps/place/NAME/data=!4m7!3m6!1sFID!8m2!3dLAT!4dLON!16sKGMID!19sPLACE_ID`."""
    # In a link, the parts of an id are escaped (%2Fg%2F…), the marks between them may be.
    text = href[:_LONGEST].replace("%21", "!")
    parts = _parts(text)
    name = _NAME.search(text)
    first = parts.get("1s", "")
    place = parts.get("19s") or first
    lat, lon = point(parts.get("3d"), parts.get("4d"))
    return PlaceLink(
        feature_id=feature_id(first),
        place_id=place if is_place_id(place) else None,
        kgmid=kgmid(parts.get("16s")) or _packed_kgmid(parts.get("16z")),
        lat=lat,
        lon=lon,
        name=unquote_plus(name[1]) if name else None,
    )


def _parts(text: str) -> dict[str, str]:
    """The parts of the last place: before it, a link may name the area or the place that it was found in."""
    parts: dict[str, str] = {}
    for kind, written in _DATA.findall(text):
        value = unquote(written) if "%" in written else written
        if kind == "1s" and "1s" in parts and (feature_id(value) or is_place_id(value)):
            parts = {}
        elif kind == "1s" and not (feature_id(value) or is_place_id(value)):
            continue  # a picture, or what was searched for
        parts.setdefault(kind, value)
    return parts


def read_address(url: str) -> PlaceLink:
    """The place that an address leads to: by its path, or by what it asks for (`cid=`, `ftid=`, `q=place_id:`)."""
    link = read_place_link(url)
    parts = _split(url)
    if link or parts is None:
        return link
    asked = {key: values[0] for key, values in parse_qs(parts[2][:_LONGEST], max_num_fields=50).items()}
    place = asked.get("query_place_id") or asked.get("place_id") or asked.get("q", "").removeprefix("place_id:")
    cid = asked.get("cid") or asked.get("ludocid") or ""
    known = feature_id(asked.get("ftid"))
    if known is None and cid.isdecimal() and 0 < int(cid[:20]) < 1 << 64:
        known = f"0x0:0x{int(cid):x}"
    return PlaceLink(feature_id=known, place_id=place if is_place_id(place) else None)


def feature_id(value: object) -> str | None:
    """A feature id in lower case, as it is stored."""
    if not isinstance(value, str) or not _FEATURE_ID.fullmatch(value):
        return None
    return value.lower()


def kgmid(value: object) -> str | None:
    if isinstance(value, str) and _KGMID.fullmatch(value):
        return value
    return None


def _packed_kgmid(text: str | None) -> str | None:
    if not text or len(text) > 60:
        return None
    try:
        return kgmid(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode("ascii"))
    except (binascii.Error, ValueError):  # not an id: none is known then
        return None


def point(lat: object, lon: object) -> tuple[float, float] | tuple[None, None]:
    """A latitude and a longitude, both or neither."""
    if isinstance(lat, bool) or isinstance(lon, bool):
        return None, None
    if not isinstance(lat, (int, float, str)) or not isinstance(lon, (int, float, str)):
        return None, None
    try:
        north, east = float(lat), float(lon)
    except (ValueError, OverflowError):  # not a number: the point is not known
        return None, None
    if not (math.isfinite(north) and math.isfinite(east) and -90 <= north <= 90 and -180 <= east <= 180):
        return None, None
    if north == east == 0:
        return (None, None)
    return (north, east)


def website(value: object) -> str | None:
    """The address of a website: `/url?q=…` is unwrapped, an advertisement (`/aclk`) is none, nor is Google itself."""
    if not isinstance(value, str) or len(value) > _LONGEST:
        return None
    url = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), value.strip())
    for _ in range(3):
        parts = _split(url)
        if parts is None:
            return None
        host, path, query = parts
        if host and not _GOOGLE.search(host):
            if url.lower().startswith(("http://", "https://")) and "." in host:
                return url
            return None
        if path != "/url":
            if host in hosts_of("business-page"):
                return url
            return None
        inner = parse_qs(query)
        url = (inner.get("q") or inner.get("url") or [""])[0]
    return None


def _split(url: str) -> tuple[str, str, str] | None:
    if not url or _BREAK.search(url):
        return None
    try:
        parts = urlsplit(url)
        return (parts.hostname or "").lower(), parts.path, parts.query
    except ValueError:  # such as http://[x: it leads nowhere
        return None
