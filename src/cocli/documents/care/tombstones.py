"""Deleting and bringing back. A tombstone is a version without content, so that it survives a rebuild of the catalogue.

The intake's tombstone comes first and stands for the whole document: nothing of it is saved any more. There is one even
where the document never had an intake. Restoring goes the same way: the intake first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cocli.documents.catalog.base import EVERY
from cocli.documents.document import Document
from cocli.documents.header import DocumentState, Header, Operation
from cocli.documents.outbox import events_of
from cocli.documents.places import DocumentPlace
from cocli.documents.receipt import Receipt
from cocli.documents.save_order import UNCONDITIONAL
from cocli.errors import DocumentContested, DocumentDamaged, DocumentInvalid, DocumentNotFound, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from cocli.documents.catalog.base import Catalog, Selection
    from cocli.documents.objects import DocumentObjects
    from cocli.documents.save_order import Precondition
    from cocli.documents.subscriptions import Subscriptions
    from cocli.models.document import PipeDoc

_TRIES = 20
EMPTY_DIGEST = "0" * 64
"""The digest that the tombstone of an intake names where there never was one."""


class Tombstones:
    def __init__(
        self,
        objects: DocumentObjects,
        catalog: Catalog,
        *,
        clock: Callable[[], datetime],
        subscriptions: Subscriptions,
    ) -> None:
        self._objects = objects
        self._catalog = catalog
        self._clock = clock
        self._subscriptions = subscriptions

    def delete(
        self, account: str, doc: str, cluster: Selection, by: str, condition: Precondition = UNCONDITIONAL
    ) -> list[Receipt]:
        if condition != UNCONDITIONAL and cluster not in (EVERY, None):
            raise UsageError(reason="a condition is one of the intake: it cannot be had for the states of an edition")
        rows = self._catalog.states(account, doc, EVERY, deleted=True)
        if not rows:
            raise DocumentNotFound(doc=doc, place="this account")
        if cluster is EVERY:
            for place in self.intakes(rows):
                self.bury(place, by=by, even_if_absent=True, condition=condition)
        answers = []
        for row in self._catalog.states(account, doc, cluster, deleted=True):
            held = condition if cluster is None else UNCONDITIONAL
            buried = self.bury(DocumentPlace.of(self._objects.prefix, row), by=by, condition=held)
            answers.append(Receipt.of(buried.row(), "deleted"))
        if not answers:
            raise DocumentNotFound(doc=doc, place=f"the edition {cluster}" if cluster else "intake")
        return answers

    def restore(self, account: str, doc: str, cluster: Selection, by: str) -> list[Receipt]:
        rows = [row for row in self._catalog.states(account, doc, cluster, deleted=True) if row.deleted_at is not None]
        if not rows:
            raise DocumentNotFound(doc=doc, place="the tombstones of this account")
        expired = next((row.expired_at for row in rows if row.expired_at is not None), None)
        if expired is not None and all(row.expired_at is not None for row in rows):
            raise _expired(doc, expired)
        rows = [row for row in rows if row.expired_at is None]
        purged = next((row.purged_at for row in rows if row.purged_at is not None), None)
        if purged is not None:
            raise _purged(doc, purged)
        brought = [self._raise(DocumentPlace.of(self._objects.prefix, row), by) for row in rows]
        return [Receipt.of(state.row(), "restored") for state in brought if state is not None]

    def intakes(self, rows: Iterable[PipeDoc]) -> list[DocumentPlace]:
        """The place of the intake in every datasource that has the document."""
        places = [
            DocumentPlace.of(
                self._objects.prefix,
                Document(row.account, row.connector, row.datasource, row.doc, row.datasource),
            )
            for row in rows
        ]
        return list(dict.fromkeys(places))

    def bury(
        self,
        place: DocumentPlace,
        *,
        by: str,
        even_if_absent: bool = False,
        condition: Precondition = UNCONDITIONAL,
    ) -> DocumentState:
        """Put a tombstone in the place of a state, and tell of it. Done twice is done once."""
        for _ in range(_TRIES):
            read = self._objects.current(place)
            condition.check(place.doc, read[0] if read else None)
            if read is None:
                if not even_if_absent:
                    self._drop(place)
                    raise DocumentNotFound(doc=place.doc, place=place.cluster or "intake")
                stone, data = self._objects.encode(self._stone(_identity(place), None, by))
                etag = self._objects.create(place, data)
                if etag is not None:
                    return self._tell(stone, etag, None)
                continue
            there, stored = read
            if there.header.deleted_at is not None and not there.is_expired:
                return self._tell(there, stored.etag, None)
            stone, data = self._objects.encode(self._stone(there.document, there.header, by))
            etag = self._objects.supersede(place, there, stored, data)
            if etag is not None:
                return self._tell(stone, etag, there)
        raise DocumentContested(doc=place.doc, tries=_TRIES)

    def _drop(self, place: DocumentPlace) -> None:
        """A row without an object: there is nothing to bury, and nothing that the row stands for."""
        row = self._catalog.find(place.account, place.state_key, place.uuid).row
        if row is not None:
            self._catalog.replace([], [], remove=[row])

    def _raise(self, place: DocumentPlace, by: str) -> DocumentState | None:
        """Bring back what a tombstone stands for; None where there never was anything."""
        for _ in range(_TRIES):
            read = self._objects.current(place)
            if read is None:
                self._drop(place)
                return None
            stone, stored = read
            if stone.header.deleted_at is None:
                return self._tell(stone, stored.etag, None)
            if stone.purge is not None:
                self._tell(stone, stored.etag, None)
                raise _purged(place.doc, stone.header.saved_at)
            if stone.header.digest == EMPTY_DIGEST:
                self._objects.store.delete(place.current, if_match=stored.etag)
                self._catalog.replace([], [], remove=[stone.row()])
                return None
            kept = self._objects.version(place, stone.header.digest)
            if kept is None:
                if self._moved(place, stored.etag):
                    continue
                raise DocumentDamaged(doc=place.doc, reason="the version that its tombstone stands for is missing")
            # For whoever listens to everything, not for the destinations of then: what they made of it comes back too.
            version, digest = stone.header.version + 1, stone.header.digest
            header = Header(version, digest, self._clock(), Operation.RESTORED, saved_by=by)
            state, data = self._objects.encode(replace(kept, header=header))
            etag = self._objects.supersede(place, stone, stored, data)
            if etag is not None:
                return self._tell(state, etag, stone)
        raise DocumentContested(doc=place.doc, tries=_TRIES)

    def _moved(self, place: DocumentPlace, etag: str) -> bool:
        """Whether somebody has replaced the object since it was read."""
        read = self._objects.current(place)
        return read is None or read[1].etag != etag

    def _stone(self, document: Document, last: Header | None, by: str) -> DocumentState:
        now = self._clock()
        version = last.version + 1 if last else 1
        digest = last.digest if last else EMPTY_DIGEST
        header = Header(version, digest, now, Operation.DELETED, (), now, by)
        return DocumentState(header, without_content(document))

    def _tell(self, state: DocumentState, etag: str, before: DocumentState | None) -> DocumentState:
        """Row and events. Those of the version before as well: its writer may have died before it could."""
        written = replace(state, etag=etag)
        states = [written] if before is None else [before, written]
        events = [event for told in states for event in events_of(told, self._subscriptions)]
        self._catalog.commit([written.row()], events)
        return written


def _purged(doc: str, at: datetime) -> DocumentInvalid:
    return DocumentInvalid(doc=doc, reason=f"it was purged on {at:%Y-%m-%d}: there is nothing to bring back")


def _expired(doc: str, at: datetime) -> DocumentInvalid:
    reason = f"its content was removed on {at:%Y-%m-%d} by a rule of retention: there is nothing to bring back"
    return DocumentInvalid(doc=doc, reason=reason)


def _identity(place: DocumentPlace) -> Document:
    return Document(place.account, place.connector, place.datasource, place.doc, place.datasource)


def without_content(document: Document) -> Document:
    """Its identity alone."""
    owner = (document.account, document.connector, document.datasource)
    return Document(*owner, document.doc, document.address, document.cluster)
