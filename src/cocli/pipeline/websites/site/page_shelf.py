"""The pages of websites in the document repository: saved before they are read, found again at the next visit."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from cocli.errors import DocumentDeleted, DocumentNotFound
from cocli.keys.identities import datasource_id
from cocli.pipeline.websites.fetch.capture import CONNECTOR, document_id, page_document, validators_of
from cocli.pipeline.websites.page.document import for_country
from cocli.pipeline.websites.site.gathering import Gathering
from cocli.pipeline.websites.site.shelf import Kept

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.documents.document import Document
    from cocli.documents.receipt import Receipt
    from cocli.documents.repository import DocumentRepository
    from cocli.errors import CocliError
    from cocli.models.document import PipeDoc
    from cocli.pipeline.websites.fetch.outcome import Fetched, Validators


class PageShelf:
    """Fits `cocli.pipeline.websites.site.shelf.Shelf`. The repository blocks, so every call to it has a thread."""

    def __init__(self, repository: DocumentRepository, account: str) -> None:
        self._repository = repository
        self._account = account
        self._datasource = datasource_id(account, CONNECTOR)
        self._saving: Gathering[Document, Receipt] = Gathering(self._save)

    async def validators(self, url: str) -> Validators | None:
        kept = await asyncio.to_thread(self._find, url, blobs=False)
        if kept:
            return validators_of(kept.document)
        return None

    async def digest(self, url: str) -> str | None:
        row = await asyncio.to_thread(_page_row, self._repository, self._account, document_id(url), self._datasource)
        return row.digest if row is not None else None

    def digest_of(self, page: Fetched, country: str | None) -> str:
        return for_country(page_document(page, account=self._account), country).digest

    async def keep(self, page: Fetched, country: str | None) -> Kept:
        document = for_country(page_document(page, account=self._account), country)
        receipt = await self._saving.add(document)
        return Kept(document, receipt.row.saved_at)

    async def again(self, url: str) -> Kept | None:
        return await asyncio.to_thread(self._find, url, blobs=True)

    def _save(self, documents: Sequence[Document]) -> Sequence[Receipt | CocliError]:
        return self._repository.save_many([(document, ()) for document in documents])

    def _find(self, url: str, *, blobs: bool) -> Kept | None:
        return find_page(self._repository, self._account, document_id(url), self._datasource, blobs=blobs)


def find_page(
    repository: DocumentRepository, account: str, doc: str, datasource: str, *, blobs: bool = True
) -> Kept | None:
    """A stored page, and since when it is as it is; None where there is none, or none any more."""
    row = _page_row(repository, account, doc, datasource)
    if row is None:
        return None
    try:
        return Kept(repository.get(account, row.reference, blobs=blobs), row.saved_at)
    except (DocumentNotFound, DocumentDeleted):  # gone since the row was read: then it is not there
        return None


def _page_row(repository: DocumentRepository, account: str, doc: str, datasource: str) -> PipeDoc | None:
    if "|" in doc:
        return None  # no document can have this name
    return next((row for row in repository.states(account, doc, cluster=None) if row.datasource == datasource), None)
