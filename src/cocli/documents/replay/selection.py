"""Which documents a job is about: a query over their rows, page by page in the order of their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from cocli.documents.catalog.base import Cursor
from cocli.models.document import AddressPart  # noqa: TC001 - pydantic reads the annotation
from cocli.models.record import RecordPart, Text, UtcDatetime

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from cocli.documents.repository import DocumentRepository
    from cocli.models.document import PipeDoc

PAGE = 500


class DocumentQuery(RecordPart):
    """All that is said has to hold. `saved_from` is included, `saved_before` is not: when the state was saved."""

    doc: AddressPart | None = None
    doc_prefix: Text | None = None
    """What the id begins with."""
    datasource: AddressPart | None = None
    uri_prefix: Text | None = None
    http_status: Annotated[int, Field(ge=100, le=999)] | None = None
    content_type: Text | None = None
    """What the type begins with: `text/html` fits `text/html; charset=utf-8`."""
    saved_from: UtcDatetime | None = None
    saved_before: UtcDatetime | None = None

    def matches(self, row: PipeDoc) -> bool:
        return (
            (self.doc is None or row.doc == self.doc)
            and (self.doc_prefix is None or row.doc.startswith(self.doc_prefix))
            and (self.datasource is None or row.datasource == self.datasource)
            and (self.uri_prefix is None or (row.source_uri or "").startswith(self.uri_prefix))
            and (self.http_status is None or row.http_status == self.http_status)
            and (self.content_type is None or (row.content_type or "").startswith(self.content_type))
            and (self.saved_from is None or row.saved_at >= self.saved_from)
            and (self.saved_before is None or row.saved_at < self.saved_before)
        )


def pages(
    repository: DocumentRepository,
    account: str,
    query: DocumentQuery,
    *,
    edition: str | None,
    addresses: Collection[str] | None = None,
    after: Cursor | None = None,
) -> Iterator[Sequence[PipeDoc]]:
    """The rows that fit: of the intake (None), or of an edition at some addresses. A page may be empty."""
    for rows in _all_pages(repository, account, query, edition, after):
        yield [row for row in rows if query.matches(row) and (addresses is None or row.address in addresses)]


def _all_pages(
    repository: DocumentRepository, account: str, query: DocumentQuery, edition: str | None, after: Cursor | None
) -> Iterator[Sequence[PipeDoc]]:
    if query.doc is not None:
        rows = repository.states(account, query.doc, cluster=edition)
        yield [row for row in rows if after is None or _place(row) > _behind(after)]
        return
    while True:
        page = repository.documents(
            account,
            datasource=query.datasource,
            cluster=edition,
            kind="intake" if edition is None else None,
            after=after,
            limit=PAGE,
        )
        yield page.items
        if (after := page.next) is None:
            return


def _place(row: PipeDoc) -> tuple[str, ...]:
    return _behind(Cursor.behind(row))


def _behind(after: Cursor) -> tuple[str, ...]:
    return after.doc, after.address, after.datasource, after.connector


def position_of(row: PipeDoc) -> str:
    """Where to go on behind a row."""
    return Cursor.behind(row).token()
