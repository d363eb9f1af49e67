"""Google Maps as a source: asks for a tile or a place at its pace, in the browser, and says how far that got."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli import logs
from cocli.documents.reading.room import PAGES
from cocli.errors import PageUnread, TooCostly
from cocli.pipeline.sources.capture import Capture
from cocli.pipeline.sources.google_maps.browser.reach import reach_of
from cocli.pipeline.sources.google_maps.browser.search_url import place_url, search_url
from cocli.pipeline.sources.google_maps.browser.view import reach_in_view, seen_box
from cocli.pipeline.sources.google_maps.documents import details_document, list_document
from cocli.pipeline.sources.google_maps.parser.parse import MapsReading, read
from cocli.pipeline.sources.google_maps.parser.sighting import SOURCE
from cocli.pipeline.sources.google_maps.parser.verdicts import NOT_TO_BE_READ, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from cocli.documents import Document
    from cocli.keys.tile import Tile
    from cocli.pipeline.sources.google_maps.browser.pace import Pace
    from cocli.pipeline.sources.google_maps.browser.session import BrowserSession

_LOG = logs.get_logger(__name__)

_GONE = (404, 410)
_TOO_MUCH = "it takes too much to read"
_UNREAD = MapsReading(Verdict("error", _TOO_MUCH), ())


@dataclass(frozen=True, slots=True)
class Visit:
    """The page of one place. Where it was blocked or is gone, its reading holds nothing."""

    document: Document
    reading: MapsReading
    blocked: str | None = None
    gone: bool = False


class MapsReader:
    """Safe to be called from several threads; they share one browser and one pace."""

    def __init__(self, session: BrowserSession, pace: Pace, *, account: str, clock: Callable[[], datetime]) -> None:
        self._session = session
        self._pace = pace
        self._account = account
        self._clock = clock

    def find(self, tile: Tile, phrase: str) -> tuple[Capture, MapsReading]:
        """Search for a phrase at the centre of a tile.

        `PageUnread` where the page did not load; `SourceResting` where it is not the time to ask.
        """
        url = search_url(self._session.settings.url, tile, phrase)
        pace = self._pace
        seen = self._session.read(f"{phrase} at {tile}", pace.take, lambda page: page.list(url, phrase, pace.check))
        document = list_document(
            account=self._account,
            tile=tile,
            phrase=phrase,
            url=seen.url,
            html=seen.html,
            answers=seen.answers,
            fetched_at=self._clock(),
            http_status=seen.status,
            headers=seen.headers,
        )
        box = seen_box(seen.url)
        reading = _reading(document)
        if reading is None:
            pace.answered(seen.turn, blocked=False)
            return Capture(document, "cut_short", _TOO_MUCH, seen=box), _UNREAD
        reach, reason = reach_in_view(*reach_of(document, reading, seen), box, tile)
        pace.answered(seen.turn, blocked=reach == "blocked")
        if reach == "blocked":
            _LOG.warning("Google Maps refuses: %s", reason)
        else:
            _LOG.debug("list read", extra={"reach": reach, "places": len(reading.places)})
        return Capture(document, reach, reason, seen=box), reading

    def visit(self, place_id: str) -> Visit:
        """Open the page of a place."""
        url = place_url(self._session.settings.url, place_id)
        seen = self._session.read(f"place {place_id}", self._pace.take, lambda page: page.place(url))
        document = details_document(
            account=self._account,
            place_id=place_id,
            url=seen.url,
            html=seen.html,
            answers=seen.answers,
            fetched_at=self._clock(),
            http_status=seen.status,
            headers=seen.headers,
        )
        reading = _reading(document)
        if reading is None:
            self._pace.answered(seen.turn, blocked=False)
            return Visit(document, _UNREAD)
        verdict = reading.verdict
        blocked = verdict.kind in NOT_TO_BE_READ or seen.refused is not None
        self._pace.answered(seen.turn, blocked=blocked)
        if blocked:
            _LOG.warning("Google Maps refuses: %s", seen.refused or verdict.reason)
            return Visit(document, reading, blocked=seen.refused or verdict.reason)
        _LOG.debug("place read", extra={"shows": verdict.kind, "status": seen.status})
        if seen.status in _GONE or verdict.kind == "area":
            return Visit(document, reading, gone=True)
        if verdict.kind != "single" or not reading.places:
            raise PageUnread(source=SOURCE, what=document.doc, reason=seen.broken or verdict.reason)
        return Visit(document, reading)

    def close(self) -> None:
        self._session.close()


def _reading(document: Document) -> MapsReading | None:
    """None where it takes too much: it is kept all the same, and whoever reads what was kept says so."""
    try:
        return PAGES.call(read, document, what=document.doc)
    except TooCostly:
        return None
