"""A page as a document: what was asked, and reading it again. The node `page` of the graph is here.

Whatever the reading depends on lies in the document: body, address, declared charset, and the country of the place.
So a stored page is read again, on any machine, with the same result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.documents.graph.condition import Presence
from cocli.documents.graph.edge import Edge
from cocli.documents.graph.graph import Graph
from cocli.documents.graph.node import INTAKE, Node
from cocli.documents.reading.limits import TOO_COSTLY
from cocli.documents.reading.room import PAGES
from cocli.errors import TooCostly
from cocli.pipeline.websites.facts.facts import EXTRACTOR_VERSION, facts_of_page, unread_facts
from cocli.pipeline.websites.facts.stored_facts import facts_from_json, facts_to_json, storable
from cocli.pipeline.websites.fetch.capture import BODY
from cocli.pipeline.websites.fetch.journey import charset_of
from cocli.pipeline.websites.page.charset import decode
from cocli.pipeline.websites.page.walk import parse_page

if TYPE_CHECKING:
    from cocli.documents.document import Document
    from cocli.documents.graph.node import NodeContext, NodeFunction
    from cocli.pipeline.websites.facts.facts import PageFacts
    from cocli.pipeline.websites.page.page import Page

REQUEST = "request"
"""The entry of a page's data that says for whom it was fetched."""
PAGE = "page"
"""The node that reads pages."""


def for_country(document: Document, country: str | None) -> Document:
    """The page, with the country by which its national phone numbers are read."""
    if country:
        return document.with_data(REQUEST, {"country": country})
    return document


def country_asked(document: Document) -> str | None:
    country = document.data.get(REQUEST, {}).get("country")
    if isinstance(country, str):
        return country
    return None


def parse_document(document: Document) -> Page:
    """The parsed page of a document whose blobs were read."""
    declared = charset_of(document.source.headers.get("content-type"))
    return parse_page(decode(document.blobs[BODY].content, declared), document.source.uri or "")


def read_document(document: Document, page: Page | None = None) -> PageFacts:
    """What the page of a document says. `page` saves parsing it twice."""
    return storable(facts_of_page(page or parse_document(document), country_asked(document)))


def read_bounded(document: Document) -> PageFacts:
    """What the page of a document says, read in a process with limits. One that takes too much says only that."""
    try:
        return PAGES.call(read_document, document, what=document.doc)
    except TooCostly as error:
        return unread_facts(document.source.uri or "", f"{TOO_COSTLY}: {error.details['reason']}")


def page_states(document: Document, context: NodeContext) -> Document:  # noqa: ARG001  a node's signature
    """From the intake of a page to its facts: the function of the node."""
    return with_facts(document, read_bounded(document))


def with_facts(document: Document, facts: PageFacts) -> Document:
    return document.with_data(PAGE, facts_to_json(facts))


def page_node(function: NodeFunction = page_states) -> Node:
    """Its states are kept. Its version is that of the extractors: a new one reads every page again."""
    return Node(PAGE, function, version=EXTRACTOR_VERSION, keep=True)


def facts_in(state: Document) -> PageFacts:
    """What the state of a page says."""
    return facts_from_json(state.data[PAGE])


def page_graph(function: NodeFunction = page_states) -> Graph:
    """The node `page` alone."""
    has_a_body = Presence(path=f"/blobs/{BODY}", op="exists")
    edge = Edge(source=INTAKE, target=PAGE, condition=has_a_body)
    return Graph("page-facts", [page_node(function)], [edge])
