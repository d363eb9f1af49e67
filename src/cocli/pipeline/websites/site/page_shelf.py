"""The pages of websites in the document repository: saved before they are read, found again at the next visit."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

from cocli.errors import DocumentDeleted, DocumentNotFound
from cocli.keys.identities import datasource_id
from cocli.pipeline.websites.fetch.capture import CONNECTOR, document_id, page_document, validators_of
from cocli.pipeline.websites.page.document import for_country
from cocli.pipeline.websites.page.url import is_root, other_spellings
from cocli.pipeline.websites.site.gathering import Gathering
from cocli.pipeline.websites.site.shelf import Kept

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cocli.documents.document import Document
    from cocli.documents.receipt import Receipt
    from cocli.documents.repository import DocumentRepository
    from cocli.errors import CocliError
    from cocli.models.document import PipeDoc
    from cocli.pipeline.websites.fetch.outcome import Fetched, Validators
    from cocli.pipeline.websites.site.shelf import Shelf
    from cocli.pipeline.websites.site.trace import VisitTrace


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


class PreparedShelf:
    """Fits `shelf.Shelf`: another shelf of which is known before what a visit is likely to ask.

    Each question to a repository takes a turn in a thread, which costs more than its answer.
    """

    def __init__(self, shelf: Shelf, pages: Mapping[str, Validators | None], *, is_first_visit: bool = False) -> None:
        """At a first visit no page is kept."""
        self._shelf = shelf
        self._pages = pages
        self._is_first_visit = is_first_visit

    @classmethod
    def of(cls, shelf: Shelf, trace: VisitTrace) -> Self:
        """With what an earlier visit was given for each of its pages."""
        pages: dict[str, Validators | None] = {}
        for url, found in trace.asked.items():
            pages[url] = pages[found.url or url] = found.validators
        return cls(shelf, pages)

    async def validators(self, url: str) -> Validators | None:
        if self._is_first_visit or url in self._pages or self._is_spelled_otherwise(url):
            return self._pages.get(url)
        return await self._shelf.validators(url)

    def _is_spelled_otherwise(self, url: str) -> bool:
        """Whether it is a known home page in another spelling, under which none is kept."""
        return is_root(url) and any(spelling in self._pages for spelling in other_spellings(url))

    def digest_of(self, page: Fetched, country: str | None) -> str:
        return self._shelf.digest_of(page, country)

    async def keep(self, page: Fetched, country: str | None) -> Kept:
        return await self._shelf.keep(page, country)

    async def again(self, url: str) -> Kept | None:
        return await self._shelf.again(url)


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
