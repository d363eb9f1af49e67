"""Where a business is, in one cell: `52.5, 13.4`, `POINT (13.4 52.5)`, degrees with minutes, a link of a map, JSON."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import unquote

_NUMBER = r"[-+−]?\d{1,3}(?:\.\d+)?"
_PAIR = re.compile(
    rf"(?:geo:|\(|\[|lat(?:itude)?[:=]?)?\s*({_NUMBER})°?\s*(?:[,;/ ]|,\s*lo?ng?(?:itude)?[:=]?)\s*({_NUMBER})°?"
    r"\s*[)\]]?",
    re.I,
)
_COMMAS = re.compile(r"([-+−]?\d{1,3},\d{2,})\s*[; /]\s*([-+−]?\d{1,3},\d{2,})")
_WKT = re.compile(rf"(?:SRID=\d+;)?\s*POINT\s*Z?M?\s*\(\s*({_NUMBER})\s+({_NUMBER})(?:\s+{_NUMBER})*\s*\)", re.I)
_DEGREES = r"(\d{1,3})\s*[°º]\s*(?:(\d{1,2})\s*[′'’]\s*)?(?:(\d{1,2}(?:[.,]\d+)?)\s*(?:[″\"”]|''|’’)\s*)?"
_WEST_SOUTH = frozenset("WS")
_DMS = re.compile(rf"{_DEGREES}([NSns])[\s,;/]*{_DEGREES}([EWOewo])")
_LETTERED = re.compile(r"(\d{1,3}(?:[.,]\d+)?)\s*°?\s*([NS])[\s,;/]+(\d{1,3}(?:[.,]\d+)?)\s*°?\s*([EWO])", re.I)
_MARKED = re.compile(r"!3d(-?\d{1,3}\.\d+)!4d(-?\d{1,3}\.\d+)")
_ASKED = re.compile(r"(?:[?&](?:q|ll|query|destination|center|daddr)=(?:loc:)?|/place/|/dir//?|#map=\d+/)"
                    r"(-?\d{1,2}\.\d{3,})[,/+ ]+(-?\d{1,3}\.\d{3,})")  # fmt: skip
_KEYS = (("lat", "latitude", "y"), ("lng", "lon", "long", "longitude", "x"))
_DIGIT = re.compile(r"\d")
_LONGEST = 4_000


def point_of(text: str) -> tuple[float, float] | None:
    """Latitude and longitude, where a cell is nothing but a point, or a link that names one."""
    text = text.strip()[:_LONGEST]
    if not _DIGIT.search(text):
        return None
    if text.startswith("{"):
        return _of_object(text)
    if text.startswith("http"):
        return _of_link(text)
    for read in (_well_known, _pair, _with_letters, _sixtieths, _of_link):
        if found := read(text):
            return found
    return None


def checked_point(lat: float, lon: float) -> tuple[float, float] | None:
    """Both in their range; `0, 0` is what programs write that know none."""
    if not (-90 <= lat <= 90 and -180 <= lon <= 180) or lat == lon == 0:
        return None
    return lat, lon


def degrees_of(text: str, limit: float) -> float | None:
    """One coordinate: degrees with a point or a comma, or with minutes and a letter."""
    plain = text.strip().replace("−", "-").removesuffix("°")
    try:
        value = float(plain.replace(",", "."))
    except ValueError:
        match = re.fullmatch(rf"{_DEGREES}([NSEWOnsewo])", plain)
        if match is None:
            return None
        value = _angle(match[1], match[2], match[3], match[4])
    return value if -limit <= value <= limit else None


def _well_known(text: str) -> tuple[float, float] | None:
    match = _WKT.fullmatch(text)
    return checked_point(_float(match[2]), _float(match[1])) if match else None


def _pair(text: str) -> tuple[float, float] | None:
    match = _PAIR.fullmatch(text) or _COMMAS.fullmatch(text)
    # Two whole numbers are anything: a range, a size, hours.
    if match is None or not any(sign in match[1] and sign in match[2] for sign in ".,"):
        return None
    return checked_point(_float(match[1]), _float(match[2]))


def _with_letters(text: str) -> tuple[float, float] | None:
    match = _LETTERED.fullmatch(text)
    if match is None:
        return None
    return checked_point(_angle(match[1], None, None, match[2]), _angle(match[3], None, None, match[4]))


def _sixtieths(text: str) -> tuple[float, float] | None:
    match = _DMS.fullmatch(text)
    if match is None:
        return None
    return checked_point(_angle(match[1], match[2], match[3], match[4]), _angle(match[5], match[6], match[7], match[8]))


def _of_link(text: str) -> tuple[float, float] | None:
    if "://" not in text and not text.startswith("geo:"):
        return None
    plain = unquote(text)
    marked = _MARKED.findall(plain)
    found = marked[-1] if marked else next(iter(_ASKED.findall(plain)), None)
    return checked_point(float(found[0]), float(found[1])) if found else None


def _of_object(text: str) -> tuple[float, float] | None:
    try:
        said: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None  # no JSON: then it is no point either
    if isinstance(said, dict) and isinstance(said.get("coordinates"), list) and said.get("type") == "Point":
        pair = said["coordinates"][1::-1]
    elif isinstance(said, dict):
        pair = [next((said[key] for key in keys if key in said), None) for keys in _KEYS]
    else:
        return None
    if len(pair) != 2 or not all(isinstance(number, (int, float, str)) for number in pair):
        return None
    try:
        return checked_point(float(pair[0]), float(pair[1]))
    except ValueError:
        return None  # words where numbers belong


def _angle(degrees: str, minutes: str | None, seconds: str | None, side: str) -> float:
    value = _float(degrees) + _float(minutes or "0") / 60 + _float(seconds or "0") / 3600
    return -value if side.upper() in _WEST_SOUTH else value


def _float(text: str) -> float:
    return float(text.replace(",", ".").replace("−", "-"))
