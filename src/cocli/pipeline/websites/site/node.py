"""The node `site`: several pages become one website's record.

A node is given one document. This one is the visit, which names the pages by their digests, so the node reads exactly
those through the repository, whatever was fetched since. What a page says is the state that the node `page` made of it
under the same edition; where there is none yet, that very node reads the page here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.documents.graph.node import Node
from cocli.documents.graph.trouble import call
from cocli.errors import DocumentDeleted, DocumentInvalid, DocumentNotFound
from cocli.keys.identities import datasource_id
from cocli.models.document import DocumentReference
from cocli.pipeline.websites.fetch.capture import CONNECTOR
from cocli.pipeline.websites.page.document import facts_in
from cocli.pipeline.websites.site.document import site_document, stored_facts, visit_in
from cocli.pipeline.websites.site.place import SITE, site_uuid
from cocli.pipeline.websites.site.record import SCRAPER_VERSION, ReadPage, website_of

if TYPE_CHECKING:
    from cocli.documents.document import Document
    from cocli.documents.graph.node import NodeContext, NodeFunction
    from cocli.pipeline.websites.facts.facts import PageFacts
    from cocli.pipeline.websites.site.document import VisitedPage


@dataclass(frozen=True, slots=True)
class SiteReader:
    """The function of the node. `page` is the node that reads its pages."""

    page: Node

    def __call__(self, document: Document, context: NodeContext) -> Document:
        state, visited = visit_in(document)
        at = document.source.fetched_at
        if at is None:
            raise DocumentInvalid(doc=document.doc, reason="it does not say when the site was visited")
        pages, docs = [], []
        for page in visited:
            stored = self._stored(page, document.account, context)
            if stored is not None:
                pages.append(ReadPage(self._facts(stored, context), stored.uuid, page.since))
                docs.append(page.doc)
        website = website_of(state, pages, at=at, document=site_uuid(state.domain, document.account))
        return site_document(document.account, context.edition, state, docs, website)

    def _stored(self, page: VisitedPage, account: str, context: NodeContext) -> Document | None:
        try:
            return context.repository.get(account, page_reference(page, account))
        except (DocumentNotFound, DocumentDeleted):  # a page that somebody deleted has nothing to say any more
            return None

    def _facts(self, page: Document, context: NodeContext) -> PageFacts:
        known = stored_facts(context.repository, page, self.page, context.edition)
        if known is not None:
            return known
        read = call(self.page, context.repository.load(page), context)
        if read is None:
            raise DocumentInvalid(doc=page.doc, reason=f"the node {self.page.name} lets it through no more")
        return facts_in(read)


def page_reference(page: VisitedPage, account: str) -> DocumentReference:
    """Points at the page that a visit saw."""
    datasource = datasource_id(account, CONNECTOR)
    return DocumentReference(
        account=account,
        connector=CONNECTOR,
        datasource=datasource,
        doc=page.doc,
        address=datasource,
        cluster=None,
        digest=page.digest,
    )


def site_node(page: Node, function: NodeFunction | None = None) -> Node:
    """Its states are kept. A new version of the node `page` makes every site anew."""
    config = {"page": page.code_digest}
    return Node(SITE, function or SiteReader(page), version=SCRAPER_VERSION, config=config, keep=True)
