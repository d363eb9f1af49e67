"""The state of a whole site in the document repository: which pages it was read from, and what that came to.

The document is called `site:{domain}`, the node `site`. It holds no time, so a visit that finds nothing new writes
nothing; and with its pages it is enough to make the website's record again, without one request.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.documents.document import Document, DocumentSource
from cocli.documents.ids import node_uuid
from cocli.errors import DocumentDeleted, DocumentNotFound, RecordError
from cocli.keys.identities import datasource_id
from cocli.models.website import Website
from cocli.pipeline.websites.facts.stored_facts import facts_from_json
from cocli.pipeline.websites.fetch.capture import CONNECTOR
from cocli.pipeline.websites.page.document import PAGE, page_graph, read_document
from cocli.pipeline.websites.site.page_shelf import find_page
from cocli.pipeline.websites.site.record import ReadPage, SiteState, website_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from cocli.documents.repository import DocumentRepository
    from cocli.pipeline.websites.facts.facts import PageFacts
    from cocli.pipeline.websites.site.shelf import Kept

SITE = "site"
"""The node that makes a site of its pages."""


def site_doc(domain: str) -> str:
    return f"site:{domain}"


def site_uuid(domain: str, account: str) -> str:
    """Known before it is saved: the records name it."""
    return node_uuid(site_doc(domain), SITE, account)


def site_document(account: str, cluster: str, state: SiteState, pages: Sequence[str], website: Website) -> Document:
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
    empty = _at_its_place(account, cluster, state.domain)
    return empty.with_source(DocumentSource(uri=state.final_url or state.asked)).with_data(SITE, data)


def _at_its_place(account: str, cluster: str, domain: str) -> Document:
    return Document(
        account=account,
        connector=CONNECTOR,
        datasource=datasource_id(account, CONNECTOR),
        doc=site_doc(domain),
        address=SITE,
        cluster=cluster,
    )


def stored_website(
    repository: DocumentRepository, account: str, cluster: str, domain: str, crawled_at: datetime
) -> Website | None:
    """The record of a site as it was read last, on whichever machine; None where none is kept."""
    document = repository.stored(_at_its_place(account, cluster, domain))
    if document is None:
        return None
    values = {"crawled_at": crawled_at, "document": site_uuid(domain, account)}
    return Website.model_validate(document.data[SITE]["website"] | values)


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


def stored_site(repository: DocumentRepository, account: str, cluster: str, domain: str) -> StoredSite | None:
    """What this machine's catalogue knows of a site; None where it knows none."""
    try:
        document = repository.current(account, site_doc(domain), SITE, cluster)
    except (DocumentNotFound, DocumentDeleted):  # that is the answer
        return None
    row = next(row for row in repository.states(account, document.doc, cluster=cluster) if row.address == SITE)
    data = document.data[SITE]
    state = SiteState(domain, data["asked"], data["status"], tuple(data["evidence"]), data["final_url"])
    return StoredSite(account, state, tuple(data["pages"]), row.saved_at)


def rebuild_website(
    repository: DocumentRepository, account: str, cluster: str, domain: str, *, facts_in: str | None = None
) -> Website:
    """The record of a site, made again from its stored pages with the extractors of today. Nothing is asked for.

    `facts_in` is the cluster into which the pages were replayed, where that is another one.
    """
    stored = stored_site(repository, account, cluster, domain)
    if stored is None:
        raise DocumentNotFound(doc=site_doc(domain), place=f"{cluster}/{SITE}")
    pages = []
    for kept in stored.pages(repository):
        facts = _stored_facts(repository, kept, facts_in or cluster) or _read_again(repository, kept)
        pages.append(ReadPage(facts, kept.uuid, kept.saved_at))
    return website_of(stored.state, pages, at=stored.saved_at, document=site_uuid(domain, account))


def _stored_facts(repository: DocumentRepository, kept: Kept, cluster: str) -> PageFacts | None:
    """What the node `page` made of this very content, with the extractors of today."""
    document = kept.document
    node = page_graph().node(PAGE)
    memo = repository.recall(
        document.account,
        document.doc,
        PAGE,
        cluster,
        input_digest=document.digest,
        code_digest=node.code_digest,
    )
    if memo is None or memo.output_digest is None:
        return None
    reference = document.reference.with_changes(address=PAGE, cluster=cluster, digest=memo.output_digest)
    try:
        return facts_from_json(repository.get(document.account, reference).data[PAGE])
    except (DocumentNotFound, DocumentDeleted, KeyError, RecordError):  # not there as expected: read the page itself
        return None


def _read_again(repository: DocumentRepository, kept: Kept) -> PageFacts:
    return read_document(repository.load(kept.document))
