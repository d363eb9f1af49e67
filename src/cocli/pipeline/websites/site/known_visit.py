"""A site as an earlier visit left it: what was asked for, and what was made of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from cocli.errors import DocumentError, RecordError
from cocli.models.website import Website
from cocli.pipeline.websites.page.document import page_node
from cocli.pipeline.websites.site.document import SITE, VISIT, site_doc, stored_site_state, stored_visit, visit_in
from cocli.pipeline.websites.site.node import page_reference, site_node
from cocli.pipeline.websites.site.trace import VisitTrace

if TYPE_CHECKING:
    from cocli.documents.repository import DocumentRepository
    from cocli.models.document import DocumentReference
    from cocli.pipeline.websites.site.record import SiteState


@dataclass(frozen=True, slots=True)
class KnownVisit:
    """What an earlier visit came to, with the extractors of today."""

    trace: VisitTrace
    state: SiteState
    website: Website
    documents: tuple[DocumentReference, ...]
    """Its pages, and the site that was made of them."""


def known_visit(repository: DocumentRepository, account: str, edition: str, domain: str) -> KnownVisit | None:
    """None where there was none, where it left no trace, or where its pages would be read otherwise today."""
    try:
        visit = stored_visit(repository, account, domain)
        trace = VisitTrace.from_data(visit.data[VISIT].get("trace")) if visit else None
        site = stored_site_state(repository, account, edition, domain) if trace else None
    except (DocumentError, RecordError, KeyError, ValueError, TypeError):  # damaged: then the site is read as always
        return None
    if visit is None or trace is None or site is None:
        return None
    memo = repository.recall(
        account,
        site_doc(domain),
        SITE,
        edition,
        input_digest=visit.digest,
        code_digest=_code_digest(),
        origin=visit.origin,
    )
    if memo is None or memo.output_digest != site.digest:
        return None
    state, pages = visit_in(visit)
    seen = max((page.since for page in pages), default=visit.source.fetched_at)
    values = site.data[SITE]["website"] | {"crawled_at": seen, "document": site.uuid}
    references = [page_reference(page, account) for page in pages]
    return KnownVisit(trace, state, Website.model_validate(values), (*references, site.reference))


@cache
def _code_digest() -> str:
    return site_node(page_node()).code_digest
