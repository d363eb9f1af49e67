"""The documents of an account: every page that was fetched, and what each step made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.app.documents import documents as use
from cocli.app.documents.jobs import ReplayOptions
from cocli.app.documents.quarantine import QuarantineRelease, quarantined, release
from cocli.app.workspace import no_progress
from cocli.documents.graph.quarantine import QuarantineQuery

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cocli.app.documents.documents import Documents
    from cocli.documents.document import Document
    from cocli.documents.graph.quarantine import QuarantineEntry
    from cocli.documents.receipt import Receipt
    from cocli.documents.repository import DocumentRepository
    from cocli.models.document import PipeDoc

_PAGE = 1000


class DocumentAccess:
    """The documents of a campaign's account, or of the user's own."""

    def __init__(self, documents: Documents, gate: Callable[[], None]) -> None:
        self._documents = documents
        self._gate = gate

    @property
    def account(self) -> str:
        return self._documents.account

    @property
    def repository(self) -> DocumentRepository:
        """What this stands on, for whoever needs more; it is not part of the stable surface."""
        return self._documents.repository

    def find(self, *, datasource: str | None = None, edition: str | None = None) -> Iterator[PipeDoc]:
        """The row of every state that is alive, in the order of document, edition and node; read page by page."""
        after = None
        while True:
            page = self.repository.documents(
                self.account, datasource=datasource, cluster=edition, after=after, limit=_PAGE
            )
            yield from page.items
            after = page.next
            if after is None:
                return

    def states(self, doc: str) -> list[PipeDoc]:
        """The rows of one document: as it came in, and what each node of each edition made of it."""
        return use.states_of(self._documents, doc)

    def get(
        self,
        doc: str,
        *,
        node: str | None = None,
        edition: str | None = None,
        datasource: str | None = None,
        digest: str | None = None,
        blobs: bool = True,
    ) -> Document:
        """A document as it came in, or what a node made of it. `DocumentNotFound` if there is none."""
        row = use.find_state(self._documents, doc, node=node, edition=edition, datasource=datasource)
        return use.read_state(self._documents, row, digest=digest, blobs=blobs)

    def save(self, document: Document, *, publish: Sequence[str] = ()) -> Receipt:
        """Save a state. The same content again writes nothing; other content is a new version."""
        self._gate()
        return use.save_document(self._documents, document, publish)

    def quarantine(self, *, node: str | None = None, released: bool = False) -> Iterator[QuarantineEntry]:
        """Documents that failed for good, with the node and the reason."""
        return quarantined(self._documents, QuarantineQuery(node=node, released=released))

    def release(
        self, *docs: str, node: str | None = None, graph: str | None = None, by: str = "api"
    ) -> list[QuarantineRelease]:
        """Let documents go on at the node where they failed; with none named, all that are in quarantine.

        `by` is who does it, for the record.
        """
        self._gate()
        query = QuarantineQuery(docs, node)
        return release(self._documents, ReplayOptions(graph=graph), query, no_progress, by=by)

    def upload(
        self,
        data: bytes,
        doc: str,
        *,
        uri: str | None = None,
        mime_type: str | None = None,
        filename: str | None = None,
    ) -> Receipt:
        """Save bytes as a document that came in."""
        self._gate()
        file = use.Upload(data, doc, uri=uri, mime_type=mime_type, filename=filename)
        return use.upload(self._documents, file)
