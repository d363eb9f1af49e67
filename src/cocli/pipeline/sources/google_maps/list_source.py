"""Google Maps as a source of the list stage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.pipeline.sources.google_maps.quality import PageFill
from cocli.pipeline.sources.google_maps.quality_book import LIST_PARSER

if TYPE_CHECKING:
    from cocli.keys.tile import Tile
    from cocli.pipeline.sources.capture import Capture
    from cocli.pipeline.sources.google_maps.browser.reader import MapsReader
    from cocli.pipeline.sources.google_maps.quality_book import QualityBook
    from cocli.pipeline.sources.opening import SourceOpening


class GoogleMapsSource:
    """Fits `cocli.pipeline.sources.source.ListSource`. Nothing is asked while the self-check has a grave alarm."""

    def __init__(self, reader: MapsReader, book: QualityBook) -> None:
        self._reader = reader
        self._book = book

    def read(self, tile: Tile, phrase: str) -> Capture:
        self._book.check()
        capture, reading = self._reader.find(tile, phrase)
        if capture.reach != "blocked":
            self._book.add(PageFill.of(reading.places))
        return capture

    def close(self) -> None:
        self._reader.close()


def open_list_source(opening: SourceOpening) -> GoogleMapsSource:
    from cocli.pipeline.sources.google_maps.opening import open_book, open_maps  # a browser is heavy

    return GoogleMapsSource(open_maps(opening), open_book(opening, LIST_PARSER))
