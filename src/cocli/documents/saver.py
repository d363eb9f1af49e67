"""Saving a state: the object first, then its row and its events in one transaction.

Killed in between, the object is there and the row is not: whoever saves the same again, or `fsck --repair`, finds it
and writes the row and the same events. An object that is replaced is kept under its digest before it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn, TypeVar

from cocli import logs
from cocli.documents.catalog.job_rows import Commit
from cocli.documents.header import DocumentState, Header, Operation
from cocli.documents.ids import node_uuid
from cocli.documents.objects import check_document
from cocli.documents.outbox import events_of
from cocli.documents.receipt import Outcome, Receipt
from cocli.documents.subscriptions import MAX_DESTINATIONS, name_fault
from cocli.errors import CocliError, DocumentContested, DocumentDeleted, DocumentInvalid, StoreError
from cocli.models.record import render_utc
from cocli.store.base import Put

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from cocli.documents.care.tombstones import Tombstones
    from cocli.documents.catalog.base import Catalog, CatalogState
    from cocli.documents.document import Document
    from cocli.documents.objects import DocumentObjects
    from cocli.documents.outbox import Event
    from cocli.documents.outbox_room import OutboxRoom
    from cocli.documents.places import DocumentPlace
    from cocli.documents.subscriptions import Subscriptions
    from cocli.models.document import PipeDoc, StateKey

_LOG = logs.get_logger(__name__)

TRIES = 20
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _SaveRequest:
    """What somebody wants to be saved, checked, with its first version ready to be written."""

    document: Document
    place: DocumentPlace
    intake: str
    publish: tuple[str, ...]
    first: DocumentState
    data: bytes
    row: PipeDoc


class Saver:
    def __init__(
        self,
        objects: DocumentObjects,
        catalog: Catalog,
        tombstones: Tombstones,
        *,
        clock: Callable[[], datetime],
        subscriptions: Subscriptions,
        room: OutboxRoom,
    ) -> None:
        self._objects = objects
        self._catalog = catalog
        self._tombstones = tombstones
        self._clock = clock
        self._subscriptions = subscriptions
        self._room = room

    def save(self, document: Document, publish: Sequence[str]) -> Receipt:
        place, intake = self._objects.place(document), _intake(document)
        found = self._catalog.find(document.account, document.state_key, intake)
        unchanged = self._unchanged(document, found, publish)
        if unchanged is not None:
            return unchanged
        request = self._request(document, place, intake, publish)
        self._objects.put_blobs(place, document)
        if found.row is None:
            etag = self._objects.create(place, request.data)
            if etag is not None:
                return self._finish(request, request.first, etag, [])
        return self._over_what_is_there(request, found.row)

    def save_many(self, requests: Sequence[tuple[Document, Sequence[str]]]) -> list[Receipt | CocliError]:
        """New documents of a batch are written side by side and committed at once; whatever else one by one."""
        answers: dict[int, Receipt | CocliError] = {}
        fresh = self._fresh(requests, answers)
        self._create_all(fresh, answers)
        for number, (document, publish) in enumerate(requests):
            if number not in answers:
                answers[number] = _answer(self.save, document, publish)
        return [answers[number] for number in range(len(requests))]

    # --- steps

    def _unchanged(self, document: Document, found: CatalogState, publish: Sequence[str]) -> Receipt | None:
        """The receipt, if there is nothing to write. Refuses what was deleted."""
        row = found.row
        if found.document_deleted_at is not None:
            raise DocumentDeleted(doc=document.doc, deleted_at=render_utc(found.document_deleted_at))
        if row is None:
            return None
        if row.expired_at is not None:
            return None
        if row.deleted_at is not None:
            raise DocumentDeleted(doc=document.doc, deleted_at=render_utc(row.deleted_at))
        if row.digest != document.digest:
            return None
        if publish:
            self._publish_more(document, row, publish)
        return Receipt.of(row, "unchanged")

    def _publish_more(self, document: Document, row: PipeDoc, publish: Sequence[str]) -> None:
        """The content is known; a destination may be new."""
        operation = Operation.CREATED if row.version == 1 else Operation.UPDATED
        destinations = self._destinations(document, publish)
        header = Header(row.version, row.digest, row.saved_at, operation, destinations)
        wanted = [event for event in self._events(DocumentState(header, document)) if event.destination]
        known = self._catalog.known_events([event.event_id for event in wanted])
        missing = [event for event in wanted if event.event_id not in known]
        if missing:
            self._room.require(document.account, len(missing))
            self._catalog.commit([], missing)

    def _destinations(self, document: Document, publish: Sequence[str]) -> tuple[str, ...]:
        """Whom to tell, each once. `DocumentInvalid` for what cannot be the name of anybody."""
        destinations = tuple(dict.fromkeys(publish))
        if len(destinations) > MAX_DESTINATIONS:
            reason = f"it is to be sent to {len(destinations)} destinations; the most is {MAX_DESTINATIONS}"
            raise DocumentInvalid(doc=document.doc, reason=reason)
        for name in destinations:
            if fault := name_fault(name) or self._subscriptions.fault(name):
                raise DocumentInvalid(doc=document.doc, reason=f'it cannot be sent to "{name[:80]}": {fault}')
        return destinations

    def _request(self, document: Document, place: DocumentPlace, intake: str, publish: Sequence[str]) -> _SaveRequest:
        check_document(document)
        destinations = self._destinations(document, publish)
        if events := sum(self._subscriptions.reads(name) for name in ("", *destinations)):
            self._room.require(document.account, events)
        header = Header(1, document.digest, self._clock(), Operation.CREATED, destinations)
        first, data = self._objects.encode(DocumentState(header, document))
        place.version(header.digest)  # the longest key that it may ever need: refused now rather than with an update
        return _SaveRequest(document, place, intake, destinations, first, data, first.row())

    def _over_what_is_there(self, request: _SaveRequest, row: PipeDoc | None) -> Receipt:
        for _ in range(TRIES):
            read = self._objects.current(request.place)
            if read is None:
                etag = self._objects.create(request.place, request.data)
                if etag is not None:
                    return self._finish(request, request.first, etag, [])
                continue
            there, stored = read
            # Nobody told of this version yet, as far as we know: its writer may have died before it could.
            is_new = row is None or row.version < there.header.version
            untold = self._events(there) if is_new and not there.is_expired else []
            if there.header.deleted_at is not None and not there.is_expired:
                self._catalog.commit([there.row()], untold)
                raise DocumentDeleted(doc=request.document.doc, deleted_at=render_utc(there.header.deleted_at))
            if there.header.digest == request.document.digest and not there.is_expired:
                return self._adopt(request, there, untold)
            header = replace(request.first.header, version=there.header.version + 1, operation=Operation.UPDATED)
            state, data = self._objects.encode(replace(request.first, header=header))
            if there.is_expired:  # what it stood for is gone for good, and nothing names its digest any more
                self._catalog.forget_versions([(request.document.state_key, there.header.digest)], deletions=True)
            etag = self._objects.supersede(request.place, there, stored, data)
            if etag is None:
                _LOG.debug("somebody else saved the document first: again", extra={"doc": request.document.doc})
            if etag is not None:
                return self._finish(request, state, etag, untold)
        raise DocumentContested(doc=request.document.doc, tries=TRIES)

    def _adopt(self, request: _SaveRequest, there: DocumentState, untold: Sequence[Event]) -> Receipt:
        """The store has this content already: another machine wrote it, or we did and died. Only the row is missing."""
        row = there.row()
        events = {event.event_id: event for event in (*untold, *self._events(there, request.publish))}
        if not self._commit(request, row, list(events.values())):
            self._bury(request)
        return Receipt.of(row, "unchanged")

    def _finish(self, request: _SaveRequest, state: DocumentState, etag: str, untold: Sequence[Event]) -> Receipt:
        row = written_row(request.row, state, etag)
        if not self._commit(request, row, [*untold, *self._events(state)]):
            self._bury(request)
        outcome: Outcome = "created" if state.header.version == 1 else "updated"
        return Receipt.of(row, outcome)

    def _events(self, state: DocumentState, also: Sequence[str] = ()) -> list[Event]:
        return events_of(state, self._subscriptions, also=also)

    def _commit(self, request: _SaveRequest, row: PipeDoc, events: Sequence[Event]) -> bool:
        return self._catalog.commit([row], events, intake=None if request.document.is_intake else request.intake)

    def _bury(self, request: _SaveRequest) -> NoReturn:
        """The document was deleted while this state of it was written: it goes the same way."""
        buried = self._tombstones.bury(request.place, by="deleted while it was saved")
        raise DocumentDeleted(doc=request.document.doc, deleted_at=render_utc(buried.header.saved_at))

    # --- many at once

    def _fresh(
        self, requests: Sequence[tuple[Document, Sequence[str]]], answers: dict[int, Receipt | CocliError]
    ) -> dict[int, _SaveRequest]:
        intakes = [_intake(document) for document, _ in requests]
        found = self._catalog.find_many(
            [
                (document.account, document.state_key, intake)
                for (document, _), intake in zip(requests, intakes, strict=True)
            ]
        )
        fresh: dict[int, _SaveRequest] = {}
        seen: set[StateKey] = set()
        for number, (document, publish) in enumerate(requests):
            identity = document.state_key
            if identity in seen or found[number].row is not None or found[number].document_deleted_at is not None:
                continue  # not new: in its turn, one by one
            seen.add(identity)
            place = self._objects.place(document)
            made = _answer(self._request, document, place, intakes[number], publish)
            if isinstance(made, CocliError):
                answers[number] = made
            else:
                fresh[number] = made
        return fresh

    def _create_all(self, fresh: dict[int, _SaveRequest], answers: dict[int, Receipt | CocliError]) -> None:
        store = self._objects.store
        blobs = [put for request in fresh.values() for put in self._objects.blob_puts(request.place, request.document)]
        if any(isinstance(answer, StoreError) for answer in store.put_many(blobs)):
            return  # one by one, each gets its own error
        puts = [Put(request.place.current, request.data, if_absent=True) for request in fresh.values()]
        written: dict[int, tuple[PipeDoc, Commit]] = {}
        for (number, request), etag in zip(fresh.items(), store.put_many(puts), strict=True):
            if isinstance(etag, str):
                row = written_row(request.row, request.first, etag)
                intake = None if request.document.is_intake else request.intake
                written[number] = row, Commit([row], self._events(request.first), intake)
        refused = self._catalog.commit_many([commit for _, commit in written.values()]) if written else []
        for number, (row, commit) in written.items():
            if any(commit is other for other in refused):
                answers[number] = _answer(self._bury, fresh[number])
            else:
                answers[number] = Receipt.of(row, "created")


def _intake(document: Document) -> str:
    """The uuid of the intake of a document."""
    if document.is_intake:
        return document.uuid
    return node_uuid(document.doc, document.datasource, document.account)


def written_row(row: PipeDoc, state: DocumentState, etag: str) -> PipeDoc:
    """The row of the first version, checked when it was made, with what writing has added."""
    return row.model_copy(update={"etag": etag, "version": state.header.version, "size": state.size})


def _answer(action: Callable[..., T], *arguments: object) -> T | CocliError:
    try:
        return action(*arguments)
    except CocliError as error:
        return error
