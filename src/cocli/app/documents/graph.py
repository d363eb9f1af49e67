"""The graph that is replayed where no other is named: what each stored page says, by the extractors of `enrich`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.pipeline.websites.page.document import page_graph

if TYPE_CHECKING:
    from cocli.documents.graph.graph import Graph

PAGE_FACTS = "cocli.app.documents.graph:page_facts"


def page_facts() -> Graph:
    """One node, `page`: addresses, phones, people and whatever else the body of a page says. Its states are kept."""
    return page_graph()
