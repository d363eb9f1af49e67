"""The states of an edition: read from the repository, each once, and which documents have none yet."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.documents.ids import node_uuid
from cocli.models.website import Website
from cocli.pipeline.sources.graph_nodes import place_nodes
from cocli.pipeline.sources.place_states import places_in
from cocli.pipeline.sources.registry import parses
from cocli.pipeline.websites.site.document import visit_in
from cocli.pipeline.websites.site.place import SITE, SITE_DOC, site_uuid

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cocli.documents.catalog.base import Kind
    from cocli.documents.document import Document
    from cocli.documents.repository import DocumentRepository
    from cocli.models.document import PipeDoc
    from cocli.models.place import Place

_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class Sighted:
    """What one capture says: its uuid, and the places in it."""

    document: str
    node: str
    places: list[Place]


@dataclass(slots=True)
class EditionStates:
    """The states of an account under one edition. `read` counts the objects that were read."""

    repository: DocumentRepository
    account: str
    edition: str
    read: int = 0
    _rows: dict[str, PipeDoc] = field(default_factory=dict)
    _intakes: dict[str, PipeDoc] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Note which states and which captures there are, by the catalogue alone."""
        for row in self._pages(None):
            if parses(row.connector) or row.doc.startswith(SITE_DOC):
                self._intakes[row.doc] = row
        wanted = {SITE, *(node.name for node in place_nodes())}
        for row in self._pages(self.edition):
            if row.address in wanted:
                self._rows[row.doc] = row

    def missing(self) -> list[str]:
        """Documents that came in, and of which the edition has no state, or one of what they said before."""
        return [doc for doc, intake in self._intakes.items() if not self._is_read(doc, intake)]

    def _is_read(self, doc: str, intake: PipeDoc) -> bool:
        row = self._rows.get(doc)
        # A state that was made before states named what they were made from is taken for what it is.
        return row is not None and row.parent_digest in (None, intake.digest)

    def fingerprint(self) -> str:
        """Says whether anything changed: the digests of all states."""
        names = "\n".join(f"{doc} {row.address} {row.digest}" for doc, row in sorted(self._rows.items()))
        return hashlib.sha256(names.encode()).hexdigest()

    def sightings(self) -> Iterator[Sighted]:
        """Every capture of a list, a place or a slice, with the places that the edition finds in it."""
        for doc, row in self._rows.items():
            if row.address != SITE:
                capture = node_uuid(doc, row.datasource, row.account)
                yield Sighted(capture, row.address, places_in(self._get(row)))

    def website(self, domain: str) -> Website | None:
        """What the edition makes of a site; None where it has none. It is as old as the newest of its pages."""
        doc = f"{SITE_DOC}{domain}"
        row, intake = self._rows.get(doc), self._intakes.get(doc)
        if row is None or intake is None:
            return None
        data = self._get(row).data[SITE]
        read_at = _read_at(self._get(intake), set(data["pages"]))
        values = {"crawled_at": read_at, "document": site_uuid(domain, self.account)}
        return Website.model_validate({**data["website"], **values})

    def _get(self, row: PipeDoc) -> Document:
        self.read += 1
        return self.repository.get(self.account, row.reference)

    def _pages(self, edition: str | None) -> Iterator[PipeDoc]:
        after = None
        kind: Kind | None = "intake" if edition is None else None
        while True:
            page = self.repository.documents(self.account, cluster=edition, kind=kind, after=after, limit=_ROWS)
            yield from page.items
            if (after := page.next) is None:
                return


def _read_at(visit: Document, docs: set[str]) -> datetime:
    _, pages = visit_in(visit)
    moments = [page.since for page in pages if page.doc in docs]
    at = visit.source.fetched_at
    return max(moments) if moments or at is None else at
