"""A graph of two nodes with a message between them, for workers that are started by the command line."""

from __future__ import annotations

import os
import time
from pathlib import Path

from cocli.documents import Document
from cocli.documents.graph.edge import Edge, Transport
from cocli.documents.graph.graph import Graph
from cocli.documents.graph.node import INTAKE, Node, NodeContext


def parse(document: Document, context: NodeContext) -> Document:
    """Takes long where it is told to, and says when it began."""
    if mark := os.environ.get("COCLI_TEST_MARK"):
        Path(mark).touch()
        time.sleep(1.0)
    return document.with_data("parse", {"bytes": document.blobs["body"].size})


def double(document: Document, context: NodeContext) -> Document:
    size = document.data["parse"]["bytes"]
    assert isinstance(size, int)
    return document.with_data("double", {"bytes": size * 2})


def sizes() -> Graph:
    edges = [
        Edge(source=INTAKE, target="parse", transport=Transport.MESSAGING),
        Edge(source="parse", target="double", transport=Transport.MESSAGING),
    ]
    return Graph("sizes", [Node("parse", parse), Node("double", double, keep=True)], edges)


def pick(document: Document, context: NodeContext) -> Document:
    """Fails while it is told to: by 1, or by a file that is there."""
    broken = os.environ.get("COCLI_TEST_BROKEN", "")
    if broken == "1" or Path(broken or "/nowhere").exists():
        raise ValueError("this node is broken")
    return document.with_data("pick", {"bytes": document.blobs["body"].size})


def picky() -> Graph:
    return Graph("picky", [Node("pick", pick, keep=True)], [Edge(source=INTAKE, target="pick")])
