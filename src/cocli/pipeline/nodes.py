"""The graph of the pipeline: which node reads which document. What a stage does live and what a replay does is this.

Each node is a parser with a version; its code is in the room of its source. Every state is kept. docs/replay.md tells
how to try a changed parser.
"""

from __future__ import annotations

from cocli.documents.graph.condition import AllOf, Compare, Condition, Not, Presence
from cocli.documents.graph.edge import Edge
from cocli.documents.graph.graph import Graph
from cocli.documents.graph.node import INTAKE, Node, NodeFunction
from cocli.pipeline.sources.graph_nodes import PlaceNode, place_nodes
from cocli.pipeline.sources.imports import IMPORT
from cocli.pipeline.websites.fetch.capture import BODY
from cocli.pipeline.websites.page.document import PAGE, page_node
from cocli.pipeline.websites.site.node import site_node
from cocli.pipeline.websites.site.place import SITE, VISIT

PIPELINE = "cocli.pipeline.nodes:pipeline_graph"
"""The graph where no other one is named."""


def pipeline_graph(*changed: Node) -> Graph:
    """The graph, with other nodes in place of those of the same name: how a changed parser is tried."""
    nodes = {node.name: node for node in (*_sources(), page_node())}
    nodes |= {node.name: node for node in changed}
    nodes.setdefault(SITE, site_node(nodes[PAGE]))
    return Graph("pipeline", list(nodes.values()), _edges())


def websites_graph(page: NodeFunction, site: NodeFunction) -> Graph:
    """The nodes of websites alone, for whoever has just read one and knows what comes of it."""
    reader = page_node(page)
    return Graph("websites", [reader, site_node(reader, site)], _website_edges())


def _sources() -> list[Node]:
    return [Node(reader.name, reader.states, version=reader.version, keep=True) for reader in place_nodes()]


def _edges() -> list[Edge]:
    """By who brought a document, and by what it is called. A raw file that anybody else brought is a page."""
    places = [_edge(reader.name, _captured_for(reader)) for reader in place_nodes()]
    return [*places, *_website_edges()]


def _website_edges() -> list[Edge]:
    """Without a look at any source: a graph of these is made for every website."""
    imported = _is("/connector", IMPORT)
    conditions: dict[str, Condition] = {
        PAGE: AllOf(all=(Presence(path=f"/blobs/{BODY}", op="exists"), Not.model_validate({"not": imported}))),
        SITE: Presence(path=f"/data/{VISIT}", op="exists"),
    }
    return [_edge(node, condition) for node, condition in conditions.items()]


def _edge(node: str, condition: Condition) -> Edge:
    return Edge(source=INTAKE, target=node, condition=condition)


def _is(path: str, value: str) -> Compare:
    return Compare(path=path, op="eq", value=value)


def _captured_for(reader: PlaceNode) -> Condition:
    """Which documents a node reads: those of its sources, by how they are called where it does not read them all."""
    connector = Compare(path="/connector", op="in", value=list(reader.readers))
    if not reader.doc:
        return connector
    return AllOf(all=(connector, Compare(path="/doc", op="starts_with", value=reader.doc)))
