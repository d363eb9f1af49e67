"""How far a search got, from what was saved of it: to its end, not so far, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.errors import PageUnread
from cocli.pipeline.sources.google_maps.parser.sighting import SOURCE
from cocli.pipeline.sources.google_maps.parser.verdicts import NOT_TO_BE_READ

if TYPE_CHECKING:
    from cocli.documents import Document
    from cocli.pipeline.sources.capture import Reach
    from cocli.pipeline.sources.google_maps.browser.page import SeenPage
    from cocli.pipeline.sources.google_maps.parser.parse import MapsReading

ONE_ANSWER = 20
"""Places of one answer. Some visitors are shown no more than that, with an end behind it."""


def reach_of(document: Document, reading: MapsReading, seen: SeenPage) -> tuple[Reach, str | None]:
    """And why. `PageUnread` where the page did not load: then another attempt may bring it."""
    verdict, found = reading.verdict, len(reading.places)
    if verdict.kind in NOT_TO_BE_READ:
        return "blocked", verdict.reason
    if seen.refused:
        return "blocked", seen.refused
    if verdict.kind == "area":
        return "blocked", "Maps took the phrase for a place on the map"
    if verdict.kind == "single":
        return "exhausted", None
    if verdict.kind == "list" and verdict.end_seen:
        if found == ONE_ANSWER:
            return ("cut_short", f"it ended after one answer of {found}")
        return ("exhausted", None)
    if seen.broken:
        raise PageUnread(source=SOURCE, what=document.doc, reason=seen.broken)
    if verdict.kind == "list" and found:
        return "cut_short", f"no end after {found} places"
    if verdict.kind == "empty":
        return "exhausted", None
    raise PageUnread(source=SOURCE, what=document.doc, reason=verdict.reason)
