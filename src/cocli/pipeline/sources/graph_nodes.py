"""The nodes that read captures, of all sources: which node reads which documents, and by which function.

Sources that are read by one parser share a node: its function looks at the connector of a document.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.errors import DocumentInvalid
from cocli.pipeline.sources.place_states import with_places
from cocli.pipeline.sources.registry import sources
from cocli.pipeline.sources.source import CaptureNode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.documents.document import Document
    from cocli.documents.graph.node import NodeContext
    from cocli.pipeline.sources.source import Source


@dataclass(slots=True)
class PlaceNode:
    """A node that makes places of the captures of one source or of several."""

    name: str
    version: str
    doc: str
    readers: dict[str, CaptureNode] = field(default_factory=dict)
    """Connector → how its captures are read."""

    def states(self, document: Document, context: NodeContext) -> Document | None:
        """The function of the node."""
        reader = self.readers.get(document.connector)
        if reader is None:
            reason = f"the node {self.name} reads captures of {', '.join(self.readers)}, not of {document.connector}"
            raise DocumentInvalid(doc=document.doc, reason=reason)
        return reader.states(document, context)


def place_nodes() -> list[PlaceNode]:
    """Every node that reads captures of a source."""
    found: dict[str, PlaceNode] = {}
    for source in sources():
        for reader in _readers(source):
            node = found.setdefault(reader.name, PlaceNode(reader.name, reader.version, reader.doc))
            if (node.version, node.doc) != (reader.version, reader.doc):
                raise ValueError(f"{source.name} shares the node {node.name}, but not its version and documents")
            node.readers[source.connector] = reader
    return list(found.values())


def list_parser(source: Source) -> str:
    """The node that reads the lists of a source, and its version: `maps-list/1`."""
    reader = _readers(source)[0]
    return f"{reader.name}/{reader.version}"


def _readers(source: Source) -> Sequence[CaptureNode]:
    if source.nodes is not None:
        return source.nodes()
    parse = source.parse
    if parse is None:
        return ()

    def states(document: Document, context: NodeContext) -> Document:
        return with_places(document, context.node, parse(document))

    return (CaptureNode(source.name, states),)
