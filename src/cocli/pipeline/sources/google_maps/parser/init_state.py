"""The state embedded in a page, `window.APP_INITIALIZATION_STATE`: answers as strings, and what was asked for."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.keys.identities import is_place_id
from cocli.pipeline.sources.google_maps.parser import links
from cocli.pipeline.sources.google_maps.parser.answers import PREFIX, load, read_value
from cocli.pipeline.sources.google_maps.parser.place_message import at
from cocli.pipeline.sources.google_maps.parser.sighting import tidy

if TYPE_CHECKING:
    from cocli.pipeline.sources.google_maps.parser.answers import MapsAnswer

_START = re.compile(rb"APP_INITIALIZATION_STATE\s*=\s*(?=\[)")
_END = b"</script"
_ANY_ID = re.compile(rb"(0x[0-9a-fA-F]{6,16})(?::|%3A)(0x[0-9a-fA-F]{6,16})")
_MOST_STATES = 3
_DEEPEST = 7
_MOST_NODES = 300_000
_MOST_STRINGS = 12


@dataclass(frozen=True, slots=True)
class Echo:
    """The place that the page was opened for, as the state repeats it. It names a place, it is no evidence of one."""

    feature_id: str | None
    place_id: str | None
    name: str | None
    lat: float | None
    lon: float | None
    kgmid: str | None = None


@dataclass(frozen=True, slots=True)
class InitState:
    """What the embedded state of a page holds."""

    present: bool = False
    answers: tuple[MapsAnswer, ...] = ()
    echo: Echo | None = None


def read_state(html: bytes) -> InitState:
    """Never fails: a state that cannot be read holds nothing."""
    best = InitState()
    for number, match in enumerate(_START.finditer(html)):
        if number == _MOST_STATES:
            break
        root = _decoded(html, match.end())
        if root is None:
            best = InitState(True) if not best.present else best
            continue
        found = _read(root)
        if found.answers or found.echo or not best.present:
            best = found
        if found.answers:
            break
    return best


def only_place(html: bytes) -> Echo | None:
    """The place that a page names in its links and scripts, where it names but one."""
    found: set[str] = set()
    link = links.PlaceLink()
    for match in _ANY_ID.finditer(html):
        found.add(f"{match[1].decode()}:{match[2].decode()}".lower())
        if len(found) > 1:
            return None
        if link.lat is None:
            # The link that it stands in goes on with the point.
            link = links.read_place_link(f"!1s{html[match.start() : match.end() + 200].decode('utf-8', 'replace')}")
    feature_id = links.feature_id(found.pop()) if found else None
    if feature_id:
        return Echo(feature_id, link.place_id, None, link.lat, link.lon, link.kgmid)
    return None


def _decoded(html: bytes, start: int) -> list[Any] | None:
    end = html.find(_END, start)
    text = html[start : end if end >= 0 else len(html)].decode("utf-8", "replace")
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):  # cut off, a script that is not JSON, or nested without end
        return None
    if isinstance(value, list):
        return value
    return None


def _read(root: list[Any]) -> InitState:
    strings, echo = _walk(root)
    answers: list[MapsAnswer] = []
    for text in strings:
        value = load(text)
        answer = read_value(value)
        if answer.messages:
            answers.append(answer)
        elif echo is None:
            echo = _asked(value)
    return InitState(True, tuple(answers), echo)


def _walk(root: list[Any]) -> tuple[list[str], Echo | None]:
    """The strings that are answers, and the first array that names a place. Depth and size are bounded."""
    strings: list[str] = []
    echo: Echo | None = None
    level: list[Any] = [root]
    seen = 0
    for _ in range(_DEEPEST):
        below: list[Any] = []
        for value in level:
            seen += len(value)
            for child in value.values() if isinstance(value, dict) else value:
                if isinstance(child, str):
                    if child.startswith(PREFIX) and len(strings) < _MOST_STRINGS:
                        strings.append(child)
                elif isinstance(child, (list, dict)) and child:
                    below.append(child)
            if echo is None and isinstance(value, list):
                echo = _echo(value)
        if seen > _MOST_NODES:
            break
        level = below
    return strings, echo


def _echo(value: list[Any]) -> Echo | None:
    """`[feature id, name, …, [null, null, lat, lon], …, kgmid, …, place id]`."""
    feature_id = links.feature_id(value[0]) if len(value) >= 3 else None
    if feature_id is None:
        return None
    lat: float | None = None
    lon: float | None = None
    kgmid = place_id = None
    for part in value[2:40]:
        if isinstance(part, list) and len(part) == 4 and part[0] is None and part[1] is None and lat is None:
            lat, lon = links.point(part[2], part[3])
        kgmid = kgmid or links.kgmid(part)
        place_id = place_id or _place_id(part)
    return Echo(feature_id, place_id, tidy(value[1]), lat, lon, kgmid)


def _place_id(value: object) -> str | None:
    if isinstance(value, str) and is_place_id(value):
        return value
    return None


def _asked(value: object) -> Echo | None:
    """The question that a page puts to Maps itself begins with the same array."""
    first = at(value, 0)
    if isinstance(first, list) and first:
        return _echo(first)
    return None
