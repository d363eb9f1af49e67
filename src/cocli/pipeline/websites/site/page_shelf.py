"""The pages of websites in the document repository: saved before they are read, found again at the next visit."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.errors import DocumentDeleted, DocumentNotFound
from cocli.keys.identities import datasource_id
from cocli.pipeline.websites.fetch.capture import CONNECTOR, document_id, page_document, validators_of
from cocli.pipeline.websites.page.document import for_country
from cocli.pipeline.websites.page.url import is_root, other_spellings
from cocli.pipeline.websites.site.gathering import Gathering
from cocli.pipeline.websites.site.shelf import Kept

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cocli.documents.document import Document
    from cocli.documents.receipt import Receipt
    from cocli.documents.repository import DocumentRepository
    from cocli.errors import CocliError
    from cocli.models.document import PipeDoc
    from cocli.pipeline.websites.fetch.outcome import Fetched, Validators
    from cocli.pipeline.websites.site.shelf import Shelf


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


@dataclass(frozen=True, slots=True)
class KnownPage:
    """What a second visit needs to know of a page: what it was given with, and what it was."""

    validators: Validators | None
    digest: str


class PreparedShelf:
    """Fits `shelf.Shelf`: another shelf of which it was looked up before what a visit is likely to ask.

    Each question to a repository takes a turn in a thread, which costs more than its answer. So all of them are asked
    at once, before the visit begins.
    """

    def __init__(self, shelf: Shelf, pages: Mapping[str, KnownPage | None], *, is_first_visit: bool = False) -> None:
        """None for a page that is not kept. At a first visit none is."""
        self._shelf = shelf
        self._pages = pages
        self._is_first_visit = is_first_visit

    async def validators(self, url: str) -> Validators | None:
        if self._is_first_visit or url in self._pages:
            page = self._pages.get(url)
            return page.validators if page else None
        return await self._shelf.validators(url)

    async def digest(self, url: str) -> str | None:
        page = self._pages.get(url)
        return page.digest if page else await self._shelf.digest(url)

    def digest_of(self, page: Fetched, country: str | None) -> str:
        return self._shelf.digest_of(page, country)

    async def keep(self, page: Fetched, country: str | None) -> Kept:
        return await self._shelf.keep(page, country)

    async def again(self, url: str) -> Kept | None:
        return await self._shelf.again(url)


def known_pages(repository: DocumentRepository, account: str, urls: Iterable[str]) -> dict[str, KnownPage | None]:
    """What is kept of some addresses; of a home page that is not, also of what it may be kept under instead."""
    datasource = datasource_id(account, CONNECTOR)
    found: dict[str, KnownPage | None] = {}
    waiting = list(urls)[::-1]
    while waiting:
        url = waiting.pop()
        if url in found:
            continue
        kept = find_page(repository, account, document_id(url), datasource, blobs=False)
        found[url] = page = KnownPage(validators_of(kept.document), kept.document.digest) if kept else None
        if is_root(url) and not (page and page.validators):
            waiting += [spelling for spelling in other_spellings(url) if spelling.startswith("https:")]
    return found


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
