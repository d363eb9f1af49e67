"""Google Maps, read in a real browser (extra `browser`), and the parsers of what it received.

Asking, one page at a time:

- `opening`: the browser and the self-check as a campaign configures them; `list_source`: what the list stage asks.
- `browser/`: `reader` (`MapsReader`: a search at a tile or the page of a place, at its `pace`, and its `reach`),
  `session` (Chromium), `page` (one page in it: `consent`, `received`, `search_url`), by its `settings`.
- `quality_book`: where the self-check is kept that all workers share.

Reading is a pure function of a saved document, so that it can be done again by a better version:

- `documents`: `list_document(…)` and `details_document(…)` make the intake document from bytes.
- `parser/parse`: `parse(document) -> list[Place]`, all sources of one page merged by place id, JSON first.
- `parser/verdicts`: `judge(document) -> Verdict`: list, single, empty, area, consent, limited_view, blocked, error or
  shell.
- `quality`: fill rates per field against a baseline; a drop is an alarm.
- `evaluation`: precision and recall per field over a folder of labelled captures.

One reader per form in which a place is said: `place_message` (the internal array), `answers` (JSON answers),
`init_state` (the state embedded in a page), `list_dom` (cards of the feed), `details_dom` (the panel of one place).
Each hands out `sighting.Sighting`s. What they share: `numbers`, `links`, `phones`, `tree`, `segments`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.pipeline.plan.estimate import Cost
from cocli.pipeline.sources.licence import Licence
from cocli.pipeline.sources.source import Source, SourceRank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.documents import Document
    from cocli.keys.tile import Tile
    from cocli.models.place import Place
    from cocli.pipeline.sources.opening import SourceOpening
    from cocli.pipeline.sources.source import CaptureNode, ListSource


def _parse(document: Document) -> Sequence[Place]:
    from cocli.pipeline.sources.google_maps.parser.parse import parse

    return parse(document)


def _open(opening: SourceOpening) -> ListSource:
    from cocli.pipeline.sources.google_maps.list_source import open_list_source

    return open_list_source(opening)


def _nodes() -> Sequence[CaptureNode]:
    from cocli.pipeline.sources.google_maps.nodes import maps_nodes

    return maps_nodes()


def _capture_of(tile: Tile, phrase: str, _release: str | None) -> str:
    from cocli.pipeline.sources.google_maps.documents import list_identity

    return list_identity(tile, phrase)


def _page_of_place(place_id: str) -> str:
    from cocli.pipeline.sources.google_maps.documents import page_identity

    return page_identity(place_id)


SOURCE = Source(
    name="google-maps",
    title="Google Maps",
    licence=Licence("proprietary", "© Google", "https://www.google.com/help/terms_maps/"),
    # A row of a result list says less, and less surely, than the page of the place itself.
    rank=SourceRank(page=70, row=60),
    identity="place ids",
    parse=_parse,
    nodes=_nodes,
    open=_open,
    # A page, and an answer for every twenty places as it is scrolled to its end, with the pauses of a polite reader.
    cost=Cost(requests=4, seconds=45),
    capture_of=_capture_of,
    page_of_place=_page_of_place,
)
