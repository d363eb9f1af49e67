"""The graph that is replayed where no other is named: what each stored page says, by the extractors of `enrich`."""

from __future__ import annotations

from dataclasses import asdict
from enum import Enum
from typing import TYPE_CHECKING, Any

from cocli.app.documents import BODY
from cocli.enrich.facts import EXTRACTOR_VERSION, read_page
from cocli.graph.condition import Ask
from cocli.graph.edge import Edge
from cocli.graph.graph import Graph
from cocli.graph.node import INTAKE, Node

if TYPE_CHECKING:
    from cocli.documents.document import Document
    from cocli.graph.node import NodeContext

PAGE = "page"
PAGE_FACTS = "cocli.app.documents_graph:page_facts"


def page_facts() -> Graph:
    """One node: e-mail addresses, phones, people and whatever else the body of a page says. Its states are kept."""
    node = Node(PAGE, _read_page, version=EXTRACTOR_VERSION, keep=True)
    has_a_body = Ask(path=f"/blobs/{BODY}", op="exists")
    return Graph("page-facts", [node], [Edge(source=INTAKE, target=PAGE, condition=has_a_body)])


def _read_page(document: Document, context: NodeContext) -> Document:  # noqa: ARG001  a node's signature
    facts = read_page(document.blobs[BODY].content, document.source.uri or "")
    return document.with_data(PAGE, _plain(asdict(facts)))


def _plain(value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {str(_plain(name)): _plain(inner) for name, inner in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(map(_plain, value))
    return [_plain(inner) for inner in value] if isinstance(value, (list, tuple)) else value
