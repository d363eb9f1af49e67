"""JSON answers that Maps gives to its own page: lists (`/search?tbm=map`) and one place (`/maps/preview/place`)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from cocli.pipeline.sources.google_maps.parser.place_message import at, is_message, items_at, read_message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.sources.google_maps.parser.sighting import Sighting

PREFIX = ")]}'"
"""Stands before every answer, so that no foreign page can read it as a script."""
MAX_CHARS = 16_000_000
_ENVELOPE = '{"c":'
_ENVELOPE_END = '/*""*/'
_MESSAGE_OF_DETAILS = 6
_DEEPEST = 6
_MOST_NODES = 200_000


@dataclass(frozen=True, slots=True)
class MapsAnswer:
    """What an answer holds: the places of a list, one place, or nothing of that kind."""

    kind: Literal["list", "single", "other"]
    sightings: tuple[Sighting, ...] = ()
    messages: int = 0
    """Place messages, with those of areas, which are no businesses."""


def read_answer(body: bytes | str) -> MapsAnswer:
    """Never fails: an answer that is cut off or of another kind holds nothing."""
    return read_value(load(body))


def read_value(root: object) -> MapsAnswer:
    """The places of an answer that is parsed already."""
    if not isinstance(root, list):
        return MapsAnswer("other")
    if is_message(root):
        return _answer("single", [root])
    single = at(root, _MESSAGE_OF_DETAILS)
    if is_message(single):
        return _answer("single", [single])
    return _answer("list", list(_listed(root)) or list(_anywhere(root)))


def _answer(kind: Literal["list", "single"], messages: list[Any]) -> MapsAnswer:
    if not messages:
        return MapsAnswer("other")
    sightings = tuple(sighting for message in messages if (sighting := read_message(message)))
    return MapsAnswer(kind, sightings, len(messages))


def load(body: bytes | str) -> object:
    """The JSON of an answer without what stands around it; None where it cannot be read."""
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    if len(text) > MAX_CHARS:
        return None
    text = text.lstrip("\ufeff \r\n\t")
    if text.startswith(_ENVELOPE):
        text = _opened(text)
    text = text.removeprefix(PREFIX).lstrip()
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):  # cut off, not JSON, or nested without end: it says nothing
        return None
    return value


def _opened(text: str) -> str:
    """Some answers come as `{"c":0,"d":"…the answer as a string…"}/*""*/`."""
    try:
        envelope = json.loads(text.rstrip().removesuffix(_ENVELOPE_END))
    except (ValueError, RecursionError):  # not such an envelope
        return ""
    inner = envelope.get("d") if isinstance(envelope, dict) else None
    if isinstance(inner, str):
        return inner.lstrip()
    return ""


def _listed(root: list[Any]) -> Iterator[Any]:
    """The messages where lists have them: `[0][1][i][14]`, where entry 0 repeats the question."""
    for entry in items_at(root, 0, 1):
        message = at(entry, 14)
        if is_message(message):
            yield message


def _anywhere(root: list[Any]) -> Iterator[Any]:
    """The messages of a list that has moved: breadth first, and never inside a message, which names other places."""
    level: list[Any] = [root]
    seen = 0
    for _ in range(_DEEPEST):
        below: list[Any] = []
        found = [value for value in level if is_message(value)]
        if found:
            yield from found
            return
        for value in level:
            below += [child for child in value if isinstance(child, list) and child]
            seen += len(value)
            if seen > _MOST_NODES:
                return
        level = below
