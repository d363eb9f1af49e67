"""A cell as a value: numbers, countries, place ids, addresses of mail. What cannot be read is None, and is counted."""

from __future__ import annotations

import math
import re
from urllib.parse import unquote

from cocli.errors import IdentityError
from cocli.formats.spreadsheets import is_taken_for_number
from cocli.keys.identities import is_place_id, place_id_from_feature_id
from cocli.pipeline.sources.imports.reading.points import degrees_of
from cocli.pipeline.sources.imports.reading.texts import seen_text
from cocli.pipeline.websites.facts.emails.address import read_address
from cocli.pipeline.websites.hosts.table import hosts_of

_NOTHING = frozenset(
    [
        "",
        "-",
        "--",
        "–",
        "—",
        ".",
        "n/a",
        "na",
        "n.a.",
        "none",
        "null",
        "nil",
        "nan",
        "unknown",
        "not available",
        "\\n",
        "#n/a",
    ]
)
_EVERYBODY = frozenset({"mycontacts", "my contacts"})
"""Labels that an address book puts on every card."""
_EMAIL = re.compile(r"(?<![^\s@,;<>\"'()])[^\s@,;<>\"'()]++@[^\s@,;<>\"'()]++")
_PLACE_ID = re.compile(r"(?<![A-Za-z0-9_-])[CG]hIJ[A-Za-z0-9_-]{23}(?![A-Za-z0-9_-])")
_MARKED_PLACE_ID = re.compile(r"!19s([CG]hIJ[A-Za-z0-9_-]{23})")
_FEATURE_ID = re.compile(r"0x[0-9a-f]{1,16}:0x[0-9a-f]{1,16}", re.IGNORECASE)
_CID = re.compile(r"(\d{5,20})")
_ASKED_CID = re.compile(r"[?&](?:cid|ludocid)=(\d{1,20})(?!\d)")
_GOOGLE_MAP = re.compile(
    r"(?:https?://)?(?:(?:www\.)?google\.[a-z.]+/(?:maps|search|earth|url\?.*maps)|maps\.google\.[a-z.]+/"
    r"|search\.google\.com/local/)",
    re.IGNORECASE,
)
"""Google has a host in each country, and more than maps on it: its paths tell."""
_HOST = re.compile(r"(?:https?://)?(?:www\.)?([a-z0-9.-]{1,253})/", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<=\d)[.,](?=\d{3}(?!\d))")
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def text_of(cell: str | None) -> str | None:
    """A cell without blanks around it; None for what people write where nothing is known."""
    if not cell:
        return None
    text = seen_text(_BREAKS.sub(" ", cell)).strip()
    if len(text) > 1 and text[0] == "'" and (text[1] in "=+-@" or is_taken_for_number(text[1:])):
        text = text[1:]  # the apostrophe that keeps a spreadsheet from computing it
    return None if text.casefold() in _NOTHING else text


def number_of(text: str) -> float | None:
    """`4.5`, `4,5`, `1,234`, `1.234,5`, `(12)`, `12 reviews`: as far as it can be told."""
    match = re.search(r"-?\d[\d.,\u00a0' ]*", text)
    if not match:
        return None
    digits = re.sub(r"[\u00a0' ]", "", match[0]).rstrip(".,")
    comma, point = digits.rfind(","), digits.rfind(".")
    if comma >= 0 and point >= 0:
        thousands = "," if comma < point else "."
        digits = digits.replace(thousands, "").replace(",", ".")
    elif comma >= 0:
        is_thousands = digits.count(",") > 1 or (len(digits) - comma == 4 and not digits.startswith("0"))
        digits = digits.replace(",", "" if is_thousands else ".")
    elif digits.count(".") > 1:
        digits = digits.replace(".", "")
    try:
        number = float(digits)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def count_of(text: str) -> float | None:
    """A number of things: `1.234` is a thousand of them, because there are no parts of one."""
    return number_of(_THOUSANDS.sub("", text))


def coordinate_of(text: str, limit: float) -> float | None:
    """Degrees with a point or a comma, or with minutes; nothing else: half-read degrees put a pin into the sea."""
    return degrees_of(text, limit)


def emails_of(text: str) -> tuple[str, ...]:
    """All addresses of mail in a cell, in their order."""
    found = (read_address(address) for address in _EMAIL.findall(text.replace("mailto:", " ")))
    return tuple(dict.fromkeys(str(address) for address in found if address))


def listed_of(text: str) -> tuple[str, ...]:
    """The entries of a cell that lists several, each once: by semicolons or bars, or as JSON or Python write a list."""
    plain = text.strip()
    if plain[:1] == "[" and plain[-1:] == "]":
        plain = re.sub(r"[\"']\s*,\s*[\"']", ";", plain[1:-1]).strip("\"' ")
    parts = (part.strip(" \"'") for part in re.split(r"[;|]", plain))
    return tuple(dict.fromkeys(part for part in parts if part))


def addresses_in(text: str) -> tuple[str, ...]:
    """The web addresses of a cell that lists some."""
    return tuple(address.rstrip(".,;)\"'") for address in re.findall(r"https?://[^\s,;|\"'<>\]}]+", text))


def first_site_of(text: str) -> str | None:
    """The first address of a cell that is no map's; several are separated by semicolons, bars or blanks."""
    parts = re.split(r"\s*[;|\n]\s*|,\s+|\s+(?=https?://)", text.strip())
    return next((part for part in parts if part and not is_map_address(part)), None)


def tags_of(text: str) -> tuple[str, ...]:
    """The tags of a cell, separated by commas, semicolons or, as address books do it, `:::`."""
    parts = (part.strip(" *") for part in re.split(r"[,;]|:::", text))
    return tuple(dict.fromkeys(part[:100] for part in parts if part and part.casefold() not in _EVERYBODY))


def place_id_of(text: str) -> str | None:
    """The place that an id or an address of Google Maps names: by its place id, or by the feature id in it."""
    plain = unquote(text)
    for found in [*_MARKED_PLACE_ID.findall(plain), *_PLACE_ID.findall(plain)]:
        if is_place_id(found):
            return str(found)
    match = _FEATURE_ID.search(plain)
    if match is None:
        return None
    try:
        return str(place_id_from_feature_id(match[0].lower()))
    except IdentityError:
        return None  # half of a feature id names no place


def cid_of(text: str) -> str | None:
    """The number of a place: alone, or in a link such as `https://maps.google.com/?cid=123`."""
    match = _CID.fullmatch(text.strip()) or _ASKED_CID.search(text)
    return match[1] if match and 0 < int(match[1]) < 1 << 64 else None


def is_map_address(text: str) -> bool:
    """An address of a map: it says where, not whose website."""
    host = _HOST.match(text)
    return (host is not None and host[1].lower() in hosts_of("map")) or _GOOGLE_MAP.match(text) is not None
