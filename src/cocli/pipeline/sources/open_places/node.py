"""The node that reads a slice of an open-data file: one for all sources, because one parser reads them all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.pipeline.sources.open_places.parser import parse_rows
from cocli.pipeline.sources.place_states import with_places

if TYPE_CHECKING:
    from cocli.documents.document import Document
    from cocli.documents.graph.node import NodeContext

OPEN_PLACES = "open-places"
PARSER_VERSION = "1"
"""Whoever changes what is read from a row changes this: then a replay reads every slice again."""


def open_places_states(document: Document, context: NodeContext) -> Document:
    """From the rows of a tile to the places in them: the function of the node."""
    parsed = parse_rows(document)
    left_out = [{"row": number, "reason": reason} for number, reason in parsed.problems]
    return with_places(document, context.node, parsed.places, left_out=left_out)
