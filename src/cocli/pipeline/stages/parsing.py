"""What a stage reads from what it just fetched: by the graph, so that a replay reads the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.pipeline.sources.place_states import places_in

if TYPE_CHECKING:
    from cocli.documents.document import Document
    from cocli.documents.graph.engine import Engine
    from cocli.models.place import Place


def read_places(parsers: Engine, document: Document, *, keep: bool = True) -> list[Place]:
    """The places of a capture, read by its node. The node's state is kept, unless somebody only looks."""
    state = parsers.parse(document, keep=keep)
    return [] if state is None else places_in(state)
