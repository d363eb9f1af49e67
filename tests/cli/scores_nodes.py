"""The nodes of the graph in docs/graph.md."""

from __future__ import annotations

from cocli.documents import Document
from cocli.documents.graph.node import NodeContext


def parse(document: Document, context: NodeContext) -> Document:
    return document.with_data("parse", {"text": document.blobs["body"].content.decode()})


def words(document: Document, context: NodeContext) -> Document:
    return document.with_data("words", {"count": len(str(document.data["parse"]["text"]).split())})


def score(document: Document, context: NodeContext) -> Document:
    count = document.data["words"]["count"]
    assert isinstance(count, int)
    return document.with_data("score", {"score": count * 10})
