"""The node that reads a slice of an open-data file: one for all sources, because one parser reads them all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.pipeline.sources.open_places.parser import parse_rows
from cocli.pipeline.sources.place_states import with_places
from cocli.pipeline.sources.source import CaptureNode

if TYPE_CHECKING:
    from cocli.documents.document import Document
    from cocli.documents.graph.node import NodeContext
    from cocli.pipeline.sources.open_places.kind import OpenFileKind

OPEN_PLACES = "open-places"
PARSER_VERSION = "1"
"""Whoever changes what is read from a row changes this: then a replay reads every slice again."""


def open_places_node(kind: OpenFileKind) -> CaptureNode:
    """The node, as it reads the captures of one source."""

    def states(document: Document, context: NodeContext) -> Document:
        """From the rows of a tile to the places in them."""
        parsed = parse_rows(document, kind)
        left_out = [{"row": number, "reason": reason} for number, reason in parsed.problems]
        return with_places(document, context.node, parsed.places, left_out=left_out)

    return CaptureNode(OPEN_PLACES, states, PARSER_VERSION)
