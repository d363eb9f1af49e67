"""The graph of the pipeline: which node reads which document. What a stage does live and what a replay does is this.

Each node is a parser with a version; its code is in the room of its source. Every state is kept. docs/replay.md tells
how to try a changed parser.
"""

from __future__ import annotations

from cocli.documents.graph.condition import AllOf, Compare, Condition, Not, Presence
from cocli.documents.graph.edge import Edge
from cocli.documents.graph.graph import Graph
from cocli.documents.graph.node import INTAKE, Node, NodeFunction
from cocli.pipeline.sources.google_maps.documents import LIST_DOC, PLACE_DOC
from cocli.pipeline.sources.google_maps.nodes import MAPS_LIST, MAPS_PLACE, maps_states
from cocli.pipeline.sources.google_maps.nodes import PARSER_VERSION as MAPS_VERSION
from cocli.pipeline.sources.google_maps.parser.sighting import SOURCE as GOOGLE_MAPS
from cocli.pipeline.sources.imports import IMPORT
from cocli.pipeline.sources.open_places.kinds import KIND_NAMES
from cocli.pipeline.sources.open_places.node import OPEN_PLACES, open_places_states
from cocli.pipeline.sources.open_places.node import PARSER_VERSION as OPEN_PLACES_VERSION
from cocli.pipeline.websites.fetch.capture import BODY
from cocli.pipeline.websites.page.document import PAGE, page_node
from cocli.pipeline.websites.site.document import SITE, VISIT
from cocli.pipeline.websites.site.node import site_node

PIPELINE = "cocli.pipeline.nodes:pipeline_graph"
"""The graph where no other one is named."""
PLACE_NODES = (MAPS_LIST, MAPS_PLACE, OPEN_PLACES)
"""The nodes whose states hold places."""


def pipeline_graph(*changed: Node) -> Graph:
    """The graph, with other nodes in place of those of the same name: how a changed parser is tried."""
    nodes = {node.name: node for node in (*_sources(), page_node())}
    nodes |= {node.name: node for node in changed}
    nodes.setdefault(SITE, site_node(nodes[PAGE]))
    return Graph("pipeline", list(nodes.values()), _edges())


def websites_graph(page: NodeFunction, site: NodeFunction) -> Graph:
    """The nodes of websites alone, for whoever has just read one and knows what comes of it."""
    reader = page_node(page)
    edges = [edge for edge in _edges() if edge.target in (PAGE, SITE)]
    return Graph("websites", [reader, site_node(reader, site)], edges)


def _sources() -> list[Node]:
    return [
        Node(MAPS_LIST, maps_states, version=MAPS_VERSION, keep=True),
        Node(MAPS_PLACE, maps_states, version=MAPS_VERSION, keep=True),
        Node(OPEN_PLACES, open_places_states, version=OPEN_PLACES_VERSION, keep=True),
    ]


def _edges() -> list[Edge]:
    """By who brought a document, and by what it is called. A raw file that anybody else brought is a page."""
    from_maps = _is("/connector", GOOGLE_MAPS)
    imported = _is("/connector", IMPORT)
    conditions: dict[str, Condition] = {
        MAPS_LIST: AllOf(all=(from_maps, _begins("/doc", LIST_DOC))),
        MAPS_PLACE: AllOf(all=(from_maps, _begins("/doc", PLACE_DOC))),
        OPEN_PLACES: Compare(path="/connector", op="in", value=list(KIND_NAMES)),
        PAGE: AllOf(all=(Presence(path=f"/blobs/{BODY}", op="exists"), Not.model_validate({"not": imported}))),
        SITE: Presence(path=f"/data/{VISIT}", op="exists"),
    }
    return [Edge(source=INTAKE, target=node, condition=condition) for node, condition in conditions.items()]


def _is(path: str, value: str) -> Compare:
    return Compare(path=path, op="eq", value=value)


def _begins(path: str, value: str) -> Compare:
    return Compare(path=path, op="starts_with", value=value)
