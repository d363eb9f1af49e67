"""A site as an earlier visit left it: what was asked for, and what was made of it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

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
    found: dict[str, KnownVisit] = {}
    for (name, (visit, trace)), site in zip(traced.items(), sites, strict=True):
        with suppress(DocumentError, RecordError, KeyError, ValueError, TypeError):  # damaged: it is read as always
            known = _known_visit(repository, visit, trace, site) if isinstance(site, Document) else None
            if known is not None:
                found[name] = known
    return found


def _trace_in(visit: Document) -> VisitTrace | None:
    try:
        return VisitTrace.from_data(visit.data[VISIT].get("trace"))
    except (KeyError, ValueError, TypeError):  # damaged: then the site is read as always
        return None


def _known_visit(
    repository: DocumentRepository, visit: Document, trace: VisitTrace, site: Document
) -> KnownVisit | None:
    memo = repository.recall(
        visit.account,
        visit.doc,
        SITE,
        site.cluster or "",
        input_digest=visit.digest,
        code_digest=_code_digest(),
        origin=visit.origin,
    )
    if memo is None or memo.output_digest != site.digest:
        return None
    state, pages = visit_in(visit)
    seen = max((page.since for page in pages), default=visit.source.fetched_at)
    values = site.data[SITE]["website"] | {"crawled_at": seen, "document": site.uuid}
    references = [page_reference(page, visit.account) for page in pages]
    return KnownVisit(trace, state, Website.model_validate(values), (*references, site.reference))


@cache
def _code_digest() -> str:
    return site_node(page_node()).code_digest
