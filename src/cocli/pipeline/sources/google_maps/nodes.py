"""The nodes that read Google Maps: a list of results, and the page of one place. The parser itself is `parser`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.documents.reading.room import PAGES
from cocli.pipeline.sources.google_maps.documents import LIST_DOC, PLACE_DOC
from cocli.pipeline.sources.google_maps.parser.parse import read
from cocli.pipeline.sources.google_maps.parser.verdicts import NOT_TO_BE_READ, PARTIAL
from cocli.pipeline.sources.place_states import with_places
from cocli.pipeline.sources.source import CaptureNode

if TYPE_CHECKING:
    from cocli.documents.document import Document
    from cocli.documents.graph.node import NodeContext

MAPS_LIST = "maps-list"
MAPS_PLACE = "maps-place"
PARSER_VERSION = "2"
"""Whoever changes what is read from a page of Maps changes this: then a replay reads every page again."""


def maps_states(document: Document, context: NodeContext) -> Document:
    """From what a browser received to the places in it, and what kind of page it was: the function of both nodes.

    It is read in a process with limits.
    """
    reading = PAGES.call(read, document, what=document.doc)
    kind = reading.verdict.kind
    places = () if kind in NOT_TO_BE_READ and kind != PARTIAL else reading.places
    more = {"partial": True} if kind == PARTIAL else {}
    return with_places(document, context.node, places, page=kind, **more)


def maps_nodes() -> tuple[CaptureNode, ...]:
    return (
        CaptureNode(MAPS_LIST, maps_states, PARSER_VERSION, doc=LIST_DOC),
        CaptureNode(MAPS_PLACE, maps_states, PARSER_VERSION, doc=PLACE_DOC),
    )
