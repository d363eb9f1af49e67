"""Why a company has its values, for all of its fields at once; and the pages that they were read from."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cocli.app.documents.documents import opened_documents
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.web.captured_page import spots_of
from cocli.app.web.companies import find_company, plain_value
from cocli.app.why.prospect import find_prospect
from cocli.app.why.trace import Tracer
from cocli.app.why.why import explain_fields, field_names, value_of
from cocli.errors import CocliError, NotFound
from cocli.models.web.why import (
    WebDocument,
    WebEmailTrail,
    WebExplanation,
    WebObservation,
    WebWhy,
    WebWritten,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.app.documents.documents import Documents
    from cocli.app.web.site import DataSite
    from cocli.app.why.answers import Explanation
    from cocli.app.why.trace import DocumentView
    from cocli.models.document import PipeDoc
    from cocli.models.prospect import Prospect

_PAGES = ("text/html", "application/xhtml+xml")
_UNMARKED = frozenset(("tags", "sources", "tiles", "phrases", "source_ids", "campaign", "lat", "lon", "country"))


def make_why(site: DataSite, name: str, company_hash: str) -> WebWhy:
    """All fields of a company, and the documents that they lead to."""
    indexes = campaign_indexes(site.workspace, name)
    meant = find_prospect(indexes, find_company(indexes, company_hash).company_hash)
    prospect = meant.prospect
    found = explain_fields(site.workspace, indexes, meant, field_names(prospect))
    views = {view.uuid: view for explanation in found for view in explanation.documents}
    with opened_documents(site.workspace, name, learn=False) as documents:
        rows = Tracer(documents).rows(list(views))
        shown = {uuid for uuid, row in rows.items() if _has_page(documents, row)}
    return WebWhy(
        campaign=name,
        at=site.now(),
        company_hash=prospect.company_hash,
        name=prospect.name,
        moved_from=company_hash if company_hash != prospect.company_hash else None,
        merged=tuple(sorted(record.company_hash for record in meant.merged)),
        fields=tuple(_explanation(explanation, shown) for explanation in found),
        documents=tuple(_document(name, prospect, view, shown) for view in views.values()),
    )


def _explanation(found: Explanation, shown: set[str]) -> WebExplanation:
    written = found.written
    pages = (document.uuid for document in found.documents if document.uuid in shown)
    return WebExplanation(
        field=found.field,
        value=plain_value(found.value),
        rule=found.rule,
        meaning=found.meaning,
        written=WebWritten(key=written.key, value=written.value, file=written.file) if written else None,
        observations=tuple(
            WebObservation(**{**asdict(seen), "value": plain_value(seen.value)}) for seen in found.observations
        ),
        emails=tuple(WebEmailTrail(**asdict(trail)) for trail in found.emails),
        pages=tuple(pages),
        problems=tuple(found.problems),
        command=f"cocli why {found.company_hash} {found.field} -c {found.campaign}",
    )


def _document(campaign: str, prospect: Prospect, view: DocumentView, shown: set[str]) -> WebDocument:
    link = f"data/{campaign}/pages/{prospect.company_hash}/{view.uuid}.html"
    return WebDocument(
        uuid=view.uuid,
        uri=view.uri,
        connector=view.connector,
        fetched_at=view.fetched_at,
        page_link=link if view.uuid in shown else None,
        deleted=view.deleted_at is not None,
        command=view.command,
    )


# --- pages


def make_page(site: DataSite, name: str, company_hash: str, uuid: str) -> bytes:
    """A page that a value of the company was read from, harmless and marked. `NotFound` for any other document."""
    indexes = campaign_indexes(site.workspace, name)
    prospect = find_company(indexes, company_hash)
    with opened_documents(site.workspace, name, learn=False) as documents:
        row = Tracer(documents).rows([uuid]).get(uuid)
        data = _page_of(documents, row) if row is not None else None
    if data is None:
        raise NotFound(
            key=f"page {uuid} of {company_hash}", hint=f"Look for it with: cocli why {company_hash} -c {name}"
        )
    return site.captured.render(data, spots_of(_values(prospect)), what=uuid)


def _values(prospect: Prospect) -> dict[str, Any]:
    names = [name for name in field_names(prospect) if name.partition(".")[0] not in _UNMARKED]
    return {name: name if "@" in name else _spoken(value_of(prospect, name)) for name in names}


def _spoken(value: Any) -> Any:
    """What may stand in a page: texts."""
    if isinstance(value, (list, tuple)):
        return [item for item in value if isinstance(item, str)]
    if isinstance(value, str):
        return value
    return ""


def _has_page(documents: Documents, row: PipeDoc) -> bool:
    try:
        return _page_of(documents, row) is not None
    except CocliError:  # it is told as a problem of the explanation
        return False


def _page_of(documents: Documents, row: PipeDoc) -> bytes | None:
    """The HTML of a document; None where it is none, or is deleted."""
    if row.deleted_at is not None:
        return None
    document = documents.repository.get(documents.account, row.reference, blobs=True)
    blobs: Iterable[Any] = document.blobs.values()
    for blob in blobs:
        if blob.mime_type.partition(";")[0].strip().lower() in _PAGES:
            content: bytes = blob.content
            return content
    return None
