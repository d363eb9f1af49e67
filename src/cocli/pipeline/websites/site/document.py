"""A whole site in the document repository: the visit, which names its pages, and the state that was made of them.

The document is called `site:{domain}`. What came in is the visit: what was asked, what answered, and which pages were
read, each by its digest. The node `site` makes the website's record of that, without one request. Neither holds the
time of the visit, so one that finds nothing new writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from cocli.documents.document import Document, DocumentSource
from cocli.errors import DocumentDeleted, DocumentNotFound, RecordError
from cocli.keys.identities import datasource_id
from cocli.models.record import render_utc
from cocli.pipeline.websites.fetch.capture import CONNECTOR
from cocli.pipeline.websites.page.document import PAGE, facts_in, page_node, read_bounded
from cocli.pipeline.websites.site.page_shelf import find_page
from cocli.pipeline.websites.site.place import SITE, SITE_DOC, VISIT, site_doc, site_place, site_uuid
from cocli.pipeline.websites.site.record import ReadPage, SiteState, website_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cocli.documents.graph.node import Node
    from cocli.documents.repository import DocumentRepository
    from cocli.models.document import PipeDoc
    from cocli.models.website import Website
    from cocli.pipeline.websites.facts.facts import PageFacts
    from cocli.pipeline.websites.site.shelf import Kept
    from cocli.pipeline.websites.site.trace import VisitTrace

_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class VisitedPage:
    """A page as a visit found it: its document, its very content, and since when it says so."""

    doc: str
    digest: str
    since: datetime

    @classmethod
    def of(cls, kept: Kept) -> VisitedPage:
        return cls(kept.document.doc, kept.document.digest, kept.saved_at)


def visit_document(
    account: str, state: SiteState, pages: Sequence[VisitedPage], *, at: datetime, trace: VisitTrace | None = None
) -> Document:
    """A site as it came in. `at` is the time of the visit; the same visit another day is the same document."""
    data: dict[str, Any] = {
        "domain": state.domain,
        "asked": state.asked,
        "status": state.status,
        "evidence": list(state.evidence),
        "final_url": state.final_url,
        "pages": [{"doc": page.doc, "digest": page.digest, "since": render_utc(page.since)} for page in pages],
    }
    if trace is not None:
        data["trace"] = trace.as_data()
    source = DocumentSource(uri=state.final_url or state.asked, fetched_at=at)
    document = Document.intake(account=account, connector=CONNECTOR, doc=site_doc(state.domain), source=source)
    return document.with_data(VISIT, data)


def visit_in(document: Document) -> tuple[SiteState, list[VisitedPage]]:
    """What the document of a site says of the visit."""
    data = document.data[VISIT]
    names = ("domain", "asked", "status", "final_url")
    state = SiteState(**{name: data[name] for name in names}, evidence=tuple(data["evidence"]))
    pages = [VisitedPage(page["doc"], page["digest"], datetime.fromisoformat(page["since"])) for page in data["pages"]]
    return state, pages


def site_document(account: str, edition: str, state: SiteState, pages: Sequence[str], website: Website) -> Document:
    """The state of a site. `pages` are the documents of its pages, in the order in which they were read."""
    values = website.model_dump(mode="json", exclude={"crawled_at", "document"}, exclude_defaults=True)
    data: dict[str, Any] = {
        "asked": state.asked,
        "status": state.status,
        "evidence": list(state.evidence),
        "final_url": state.final_url,
        "pages": list(pages),
        "website": values,
    }
    empty = site_place(account, edition, state.domain)
    return empty.with_source(DocumentSource(uri=state.final_url or state.asked)).with_data(SITE, data)


@dataclass(frozen=True, slots=True)
class StoredSite:
    """What is kept of a site beside its pages."""

    account: str
    state: SiteState
    docs: tuple[str, ...]
    """The documents of its pages, in the order in which they were read."""
    saved_at: datetime

    def pages(self, repository: DocumentRepository) -> list[Kept]:
        """Those that are still there, without their bodies."""
        datasource = datasource_id(self.account, CONNECTOR)
        found = (find_page(repository, self.account, doc, datasource, blobs=False) for doc in self.docs)
        return [kept for kept in found if kept is not None]


def stored_site(repository: DocumentRepository, account: str, edition: str, domain: str) -> StoredSite | None:
    """What this machine's catalogue knows of a site; None where it knows none."""
    try:
        row = repository.find(account, site_doc(domain), SITE, edition, datasource=datasource_id(account, CONNECTOR))
        document = repository.current_of(row)
    except (DocumentNotFound, DocumentDeleted):  # that is the answer
        return None
    data = document.data[SITE]
    state = SiteState(domain, data["asked"], data["status"], tuple(data["evidence"]), data["final_url"])
    return StoredSite(account, state, tuple(data["pages"]), row.saved_at)


def rebuild_website(
    repository: DocumentRepository, account: str, edition: str, domain: str, *, read_in: str | None = None
) -> Website:
    """The record of a site, made again from its stored pages with the extractors of today. Nothing is asked for.

    `read_in` is the edition into which the pages were replayed, where that is another one.
    """
    stored = stored_site(repository, account, edition, domain)
    if stored is None:
        raise DocumentNotFound(doc=site_doc(domain), place=f"{edition}/{SITE}")
    pages = []
    for kept in stored.pages(repository):
        page = page_node()
        facts = stored_facts(repository, kept.document, page, read_in or edition) or _read_again(repository, kept)
        pages.append(ReadPage(facts, kept.uuid, kept.saved_at))
    return website_of(stored.state, pages, at=stored.saved_at, document=site_uuid(domain, account))


def stored_facts(repository: DocumentRepository, document: Document, node: Node, edition: str) -> PageFacts | None:
    """What the node `page` of an edition made of this very content, with this very code."""
    memo = repository.recall(
        document.account,
        document.doc,
        PAGE,
        edition,
        input_digest=document.digest,
        code_digest=node.code_digest,
        origin=document.origin,
    )
    if memo is None or memo.output_digest is None:
        return None
    reference = document.reference.with_changes(address=PAGE, cluster=edition, digest=memo.output_digest)
    try:
        return facts_in(repository.get(document.account, reference))
    except (DocumentNotFound, DocumentDeleted, KeyError, RecordError):  # not there as expected: read the page itself
        return None


def _read_again(repository: DocumentRepository, kept: Kept) -> PageFacts:
    return read_bounded(repository.load(kept.document))


def sites_without_visit(repository: DocumentRepository, account: str, edition: str) -> Iterator[StoredSite]:
    """Sites that were read before a visit was a document of its own: all that is known of them is their state."""
    after = None
    while True:
        page = repository.documents(account, cluster=edition, after=after, limit=_ROWS)
        for row in page.items:
            if row.address == SITE and not _came_in(repository, row):
                stored = stored_site(repository, account, edition, row.doc.removeprefix(SITE_DOC))
                if stored is not None:
                    yield stored
        if (after := page.next) is None:
            return


def _came_in(repository: DocumentRepository, row: PipeDoc) -> bool:
    return bool(repository.states(row.account, row.doc, cluster=None, deleted=True))
