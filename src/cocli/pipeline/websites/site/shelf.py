"""Where the pages of a site are kept while it is read: what the reader of a site asks of whoever keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cocli.pipeline.websites.fetch.capture import page_document
from cocli.pipeline.websites.page.document import for_country

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.documents.document import Document
    from cocli.pipeline.websites.fetch.outcome import Fetched, Validators


@dataclass(frozen=True, slots=True)
class Kept:
    """A page that was put away before anybody read it."""

    document: Document
    """With its body."""
    saved_at: datetime
    """When this content was first seen: a page that did not change is as old as it was."""
    stored: bool = True
    """Whether it lies in a repository, so that its uuid leads there."""

    @property
    def uuid(self) -> str | None:
        if self.stored:
            return self.document.uuid
        return None


class Shelf(Protocol):
    async def validators(self, url: str) -> Validators | None:
        """What a page was given with when it was last fetched; None where it is not known."""
        ...

    def digest_of(self, page: Fetched, country: str | None) -> str:
        """Of a page as it would be kept."""
        ...

    async def keep(self, page: Fetched, country: str | None) -> Kept:
        """Put a page away. Nothing is read from it before this returned."""
        ...

    async def again(self, url: str) -> Kept | None:
        """The page as it was kept last; None where it is gone."""
        ...


class NoShelf:
    """Keeps nothing: for a look at a site that leaves no trace."""

    def __init__(self, account: str = "nobody") -> None:
        self._account = account

    async def validators(self, url: str) -> Validators | None:  # noqa: ARG002  nothing was kept
        return None

    def digest_of(self, page: Fetched, country: str | None) -> str:
        return for_country(page_document(page, account=self._account), country).digest

    async def keep(self, page: Fetched, country: str | None) -> Kept:
        document = for_country(page_document(page, account=self._account), country)
        return Kept(document, page.fetched_at, stored=False)

    async def again(self, url: str) -> Kept | None:  # noqa: ARG002  nothing was kept
        return None
