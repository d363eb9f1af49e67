"""Quarantine by the service: a page of what failed for good, and letting some of it go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.app.documents.jobs import ReplayOptions
from cocli.app.documents.quarantine import quarantine_page, release
from cocli.app.workspace import no_progress
from cocli.documents.catalog.base import Cursor
from cocli.documents.graph.quarantine import QuarantineQuery
from cocli.documents.ids import check_parts
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.errors import UsageError
from cocli.service.documents import messages

if TYPE_CHECKING:
    from cocli.app.documents.documents import Documents
    from cocli.app.documents.tokens import TokenCaller

DEFAULT_PAGE = 100
MAX_PAGE = 1_000
"""Fewer than of rows: every entry is an object that is read."""
MAX_RELEASED = 100
"""So that the answer comes before a caller stops waiting for it."""


def list_quarantine(
    documents: Documents,
    caller: TokenCaller,  # noqa: ARG001  its account is that of the documents
    request: pb.ListQuarantineRequest,
) -> pb.ListQuarantineResponse:
    if request.page_size > MAX_PAGE:
        raise UsageError(reason=f"a page has 1 to {MAX_PAGE:,} entries, not {request.page_size:,}")
    page = quarantine_page(
        documents,
        QuarantineQuery(node=request.node or None, datasource=request.datasource or None, released=request.released),
        request.cluster or None,
        Cursor.parse(request.page_token) if request.page_token else None,
        request.page_size or DEFAULT_PAGE,
    )
    return pb.ListQuarantineResponse(
        items=map(messages.quarantine_message, page.items),
        next_page_token=page.next.token() if page.next else "",
    )


def release_message(
    documents: Documents, request: pb.ReleaseQuarantineRequest, graph: str | None, by: str
) -> pb.ReleaseQuarantineResponse:
    """Runs the nodes where the documents failed: for the process beside the service."""
    if not 1 <= len(request.doc_ids) <= MAX_RELEASED:
        raise UsageError(reason=f"a request names 1 to {MAX_RELEASED} documents, not {len(request.doc_ids)}")
    for doc in request.doc_ids:
        check_parts(doc=doc)
    query = QuarantineQuery(tuple(request.doc_ids), request.node or None, request.datasource or None)
    options = ReplayOptions(graph=graph, edition=request.cluster or None)
    done = release(documents, options, query, no_progress, by=by)
    return pb.ReleaseQuarantineResponse(
        results=[
            pb.ReleaseResult(item=messages.quarantine_message(released.entry), problem=released.problem or "")
            for released in done
        ]
    )
