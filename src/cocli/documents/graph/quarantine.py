"""Quarantine: documents that failed for good, kept with the reason and the place, until a person lets them go on.

An entry is a state like any other, in an edition of its own (`prod~quarantine`), at the address of the node that
failed: the document as the node was given it, and the error. So it is listed by account, deleted and purged with its
document, and found again by `fsck`. Messages that could not be understood are not here: there is no document to keep.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cocli.documents.catalog.base import CatalogPage
from cocli.documents.document import Document, DocumentSource, Fault
from cocli.documents.graph.destination import quarantine_of
from cocli.documents.graph.node import QUARANTINE
from cocli.documents.graph.trouble import FAULTS_OF_THE_DOCUMENT
from cocli.errors import DocumentDamaged, DocumentDeleted, DocumentNotFound, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from cocli.documents.catalog.base import Cursor
    from cocli.documents.receipt import Receipt
    from cocli.documents.repository import DocumentRepository
    from cocli.errors import CocliError
    from cocli.models.document import DocumentReference, PipeDoc

_PAGE = 100
_LONGEST_MESSAGE = 4000


def _safe(message: str) -> str:
    """Other people's words, as far as a file can hold them."""
    return message[:_LONGEST_MESSAGE].encode("utf-8", "backslashreplace").decode("utf-8")


@dataclass(frozen=True, slots=True)
class QuarantineQuery:
    """Which entries: those of some documents, of a node, of a datasource. What is not said is every one."""

    docs: Sequence[str] = ()
    node: str | None = None
    datasource: str | None = None
    released: bool = False
    """Also what was let go before."""


ALL_THAT_WAIT = QuarantineQuery()


@dataclass(frozen=True, slots=True)
class QuarantineEntry:
    """`document` is what the node was given, and will be given again; `reference` points at the entry itself."""

    node: str
    code: str
    message: str
    retryable: bool
    released: bool
    whole: bool
    """False where the document itself could not be kept, but for its identity: it was what was wrong."""
    since: datetime
    reference: DocumentReference
    document: Document
    released_by: str | None = None
    """Who let it go, where that is known."""


class Quarantine:
    """Of one edition."""

    def __init__(self, repository: DocumentRepository, edition: str) -> None:
        self._repository = repository
        self._edition = edition
        self._kept_in = quarantine_of(edition)

    def add(self, document: Document, node: str, error: CocliError, at: datetime) -> Receipt:
        """Keep what a node was given, and why it failed. The same failure twice is one entry."""
        fault = Fault(node=node, code=error.code, message=_safe(error.message), retryable=error.retryable, at=at)
        try:
            return self._repository.save(_entry(document, node, self._kept_in, fault))
        except FAULTS_OF_THE_DOCUMENT as unfit:
            message = _safe(f"{error.message}; the document could not be kept whole: {unfit.message}")
            bare = replace(document, source=DocumentSource(), blobs={}, data={}, errors=())
            return self._repository.save(
                _entry(bare, node, self._kept_in, replace(fault, message=message), whole=False)
            )

    def entries(self, account: str, which: QuarantineQuery = ALL_THAT_WAIT) -> Iterator[QuarantineEntry]:
        """What waits for a person, in the order of the documents; with `released`, also what was let go before."""
        if which.docs:
            for doc in sorted(set(which.docs)):
                yield from self._chosen(account, which, self._repository.states(account, doc, cluster=self._kept_in))
            return
        after: Cursor | None = None
        while True:
            page = self.page(account, which, after, _PAGE)
            yield from page.items
            if (after := page.next) is None:
                return

    def page(
        self, account: str, which: QuarantineQuery, after: Cursor | None, limit: int
    ) -> CatalogPage[QuarantineEntry]:
        """Of so many rows behind `after`, those that are meant: fewer than `limit`, or none, need not be the end."""
        found = self._repository.documents(
            account, datasource=which.datasource, cluster=self._kept_in, after=after, limit=limit
        )
        return CatalogPage(list(self._chosen(account, which, found.items)), found.next)

    def _chosen(self, account: str, which: QuarantineQuery, rows: Iterable[PipeDoc]) -> Iterator[QuarantineEntry]:
        for row in rows:
            if which.node not in (None, row.address) or which.datasource not in (None, row.datasource):
                continue
            try:
                entry = self._read(account, row)
            except (DocumentDeleted, DocumentNotFound):
                continue  # gone since its row was read
            if which.released or not entry.released:
                yield entry

    def entry(self, account: str, doc: str, node: str, *, datasource: str | None = None) -> QuarantineEntry:
        """The one of a document at a node. `DocumentNotFound` if there is none."""
        row = self._repository.find(account, doc, node, self._kept_in, datasource=datasource)
        return self._read(account, row)

    def mark_released(self, entry: QuarantineEntry, by: str | None = None) -> None:
        fault = Fault(node=entry.node, code=entry.code, message=entry.message, retryable=entry.retryable)
        kept = _entry(entry.document, entry.node, self._kept_in, fault, whole=entry.whole)
        self._repository.save(kept.with_data(QUARANTINE, {**kept.data[QUARANTINE], "released": True, "by": by}))

    def _read(self, account: str, row: PipeDoc) -> QuarantineEntry:
        return _read_entry(self._repository.get(account, row.reference), row)


def _entry(document: Document, node: str, edition: str, fault: Fault, *, whole: bool = True) -> Document:
    if QUARANTINE in document.data:
        raise UsageError(reason=f"document {document.doc} is an entry of the quarantine already")
    note: dict[str, Any] = {
        "released": False,
        "whole": whole,
        "address": document.address,
        "cluster": document.cluster,
        "parent_digest": document.parent_digest,
    }
    return document.at(node, edition).with_fault(fault).with_data(QUARANTINE, note)


def _read_entry(kept: Document, row: PipeDoc) -> QuarantineEntry:
    """The entry, and the document as it was before it became one."""
    note = kept.data.get(QUARANTINE)
    if note is None or not kept.errors:
        raise DocumentDamaged(doc=kept.doc, reason="it lies in quarantine, but does not say why")
    *earlier, fault = kept.errors
    document = replace(
        kept,
        address=note["address"],
        cluster=note["cluster"],
        parent_digest=note["parent_digest"],
        errors=tuple(earlier),
        data={node: values for node, values in kept.data.items() if node != QUARANTINE},
    )
    return QuarantineEntry(
        node=fault.node,
        code=fault.code,
        message=fault.message,
        retryable=fault.retryable,
        released=bool(note["released"]),
        whole=bool(note["whole"]),
        since=row.saved_at,
        reference=row.reference,
        document=document,
        released_by=note.get("by"),
    )
