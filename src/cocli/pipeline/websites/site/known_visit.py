"""A site as an earlier visit left it: what was asked for, and what was made of it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from cocli.documents.catalog.base import MemoQuestion
from cocli.documents.document import Document
from cocli.errors import DocumentError, RecordError
from cocli.models.website import Website
from cocli.pipeline.websites.page.document import page_node
from cocli.pipeline.websites.site.document import visit_in
from cocli.pipeline.websites.site.node import page_reference, site_node
from cocli.pipeline.websites.site.place import SITE, VISIT, site_place, visit_place
from cocli.pipeline.websites.site.trace import VisitTrace

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def known_visits(
    repository: DocumentRepository, account: str, edition: str, domains: Sequence[str]
) -> dict[str, KnownVisit]:
    """What is known of some sites. One is left out that was not visited, whose visit left no trace, or whose pages
    would be read otherwise today."""
    visits = dict(zip(domains, repository.stored_many([visit_place(account, name) for name in domains]), strict=True))
    traced = {
        name: (visit, trace)
        for name, visit in visits.items()
        if isinstance(visit, Document) and (trace := _trace_in(visit)) is not None
    }
    sites = repository.stored_many([site_place(account, edition, name) for name in traced])
    whole = [
        (name, visit, trace, site)
        for (name, (visit, trace)), site in zip(traced.items(), sites, strict=True)
        if isinstance(site, Document)
    ]
    memos = repository.recall_many([_question(visit, site) for _, visit, _, site in whole])
    found: dict[str, KnownVisit] = {}
    for (name, visit, trace, site), memo in zip(whole, memos, strict=True):
        if memo is None or memo.output_digest != site.digest:
            continue
        with suppress(DocumentError, RecordError, KeyError, ValueError, TypeError):  # damaged: it is read as always
            found[name] = _known_visit(visit, trace, site)
    return found


def _trace_in(visit: Document) -> VisitTrace | None:
    try:
        return VisitTrace.from_data(visit.data[VISIT].get("trace"))
    except (KeyError, ValueError, TypeError):  # damaged: then the site is read as always
        return None


def _question(visit: Document, site: Document) -> MemoQuestion:
    """Whether the site was made of this visit by the extractors of today."""
    return MemoQuestion(visit.account, visit.doc, SITE, site.cluster or "", visit.digest, _code_digest(), visit.origin)


def _known_visit(visit: Document, trace: VisitTrace, site: Document) -> KnownVisit:
    state, pages = visit_in(visit)
    seen = max((page.since for page in pages), default=visit.source.fetched_at)
    values = site.data[SITE]["website"] | {"crawled_at": seen, "document": site.uuid}
    references = [page_reference(page, visit.account) for page in pages]
    return KnownVisit(trace, state, Website.model_validate(values), (*references, site.reference))


@cache
def _code_digest() -> str:
    return site_node(page_node()).code_digest
