"""Saving a state: the object first, then its row and its events in one transaction.

Killed in between, the object is there and the row is not: whoever saves the same again, or `fsck --repair`, finds it
and writes the row and the same events. An object that is replaced is kept under its digest before it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, NoReturn, TypeVar

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
    from cocli.documents.save_order import Precondition, SaveOrder
    from cocli.documents.subscriptions import Subscriptions
    from cocli.models.document import PipeDoc, StateKey
    from cocli.store.base import StoredObject

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
    condition: Precondition


@dataclass(frozen=True, slots=True)
class _Batch:
    """Orders that are carried out together, by their numbers."""

    orders: Sequence[SaveOrder]
    intakes: Sequence[str]
    answers: dict[int, Receipt | CocliError] = field(default_factory=dict)
    fresh: dict[int, _SaveRequest] = field(default_factory=dict)
    known: dict[int, tuple[_SaveRequest, PipeDoc]] = field(default_factory=dict)


class _Replacement(NamedTuple):
    """A state that is to take the place of another."""

    request: _SaveRequest
    there: DocumentState
    stored: StoredObject
    state: DocumentState
    data: bytes


class _Written(NamedTuple):
    """A state whose object is written, and whose row is not yet."""

    request: _SaveRequest
    state: DocumentState
    etag: str
    outcome: Outcome
    untold: Sequence[Event]
    unknown: Sequence[PipeDoc] = ()
    """The row of the version before it, where the catalogue does not know that one."""


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

    def save(self, order: SaveOrder) -> Receipt:
        document = order.document
        place, intake = self._objects.place(document), _intake(document)
        found = self._catalog.find(document.account, document.state_key, intake)
        unchanged = self._unchanged(order, found)
        if unchanged is not None:
            return unchanged
        request = self._request(order, place, intake)
        self._objects.put_blobs(place, document)
        if found.row is None and order.condition.match is None:
            etag = self._objects.create(place, request.data)
            if etag is not None:
                return self._finish(request, request.first, etag, [])
        return self._over_what_is_there(request, found.row)

    def announce(self, order: SaveOrder) -> Receipt | None:
        """Tell destinations of the newest version, if it is this one; what never was there is saved.

        None where a newer one took its place: an old message must not bring old content back over it."""
        document = order.document
        place, intake = self._objects.place(document), _intake(document)
        read = self._objects.current(place)
        if read is None or read[0].header.deleted_at is not None:
            return self.save(order)
        there = read[0]
        if there.header.digest != document.digest:
            earlier = self._objects.version(place, document.digest)
            return self.save(order) if earlier is None else None
        found = self._catalog.find(document.account, document.state_key, intake)
        if found.row is None or found.row.version < there.header.version:
            return self._adopt(self._request(order, place, intake), there, self._events(there))
        if found.row.digest != document.digest:
            return None
        return self._unchanged(order, found)

    def save_many(self, orders: Sequence[SaveOrder]) -> list[Receipt | CocliError]:
        """A batch is written side by side and committed at once; what others touch meanwhile is done one by one."""
        batch = _Batch(orders, [_intake(order.document) for order in orders])
        self._sort(batch)
        written = {**self._create_all(batch), **self._replace_all(batch)}
        self._commit_all(batch, written)
        for number, order in enumerate(orders):
            if number not in batch.answers:
                batch.answers[number] = _answer(self.save, order)
        return [batch.answers[number] for number in range(len(orders))]

    # --- steps

    def _unchanged(self, order: SaveOrder, found: CatalogState) -> Receipt | None:
        """The receipt, if there is nothing to write. Refuses what was deleted."""
        document, row = order.document, found.row
        if found.document_deleted_at is not None:
            raise DocumentDeleted(doc=document.doc, deleted_at=render_utc(found.document_deleted_at))
        if row is None:
            return None
        if row.expired_at is not None:
            return None
        if row.deleted_at is not None:
            raise DocumentDeleted(doc=document.doc, deleted_at=render_utc(row.deleted_at))
        if row.digest != document.digest or order.is_conditional:
            return None  # a condition is one of the object: the row may not know of the latest
        if order.publish:
            self._publish_more(document, row, order.publish)
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

    def _request(self, order: SaveOrder, place: DocumentPlace, intake: str, at: datetime | None = None) -> _SaveRequest:
        """`at` is the moment of a batch: asking the store's clock may cost a write."""
        document, at = order.document, at or self._clock()
        check_document(document)
        destinations = self._destinations(document, order.publish)
        if events := sum(self._subscriptions.reads(name) for name in ("", *destinations)):
            self._room.require(document.account, events)
        header = Header(1, document.digest, at, Operation.CREATED, destinations, saved_by=order.by)
        first, data = self._objects.encode(DocumentState(header, document))
        place.version(header.digest)  # the longest key that it may ever need: refused now rather than with an update
        return _SaveRequest(document, place, intake, destinations, first, data, first.row(), order.condition)

    def _over_what_is_there(self, request: _SaveRequest, row: PipeDoc | None) -> Receipt:
        for _ in range(TRIES):
            read = self._objects.current(request.place)
            request.condition.check(request.document.doc, read[0] if read else None)
            if read is None:
                etag = self._objects.create(request.place, request.data)
                if etag is not None:
                    return self._finish(request, request.first, etag, [])
                continue
            there, stored = read
            # Nobody told of this version yet, as far as we know: its writer may have died before it could.
            is_new = row is None or row.version < there.header.version
            untold_row = is_new and not there.is_expired
            untold = self._events(there) if untold_row else []
            if there.header.deleted_at is not None and not there.is_expired:
                self._catalog.commit([there.row()], untold)
                raise DocumentDeleted(doc=request.document.doc, deleted_at=render_utc(there.header.deleted_at))
            if there.header.digest == request.document.digest and not there.is_expired:
                return self._adopt(request, there, untold)
            state, data = self._successor(request, there)
            if there.is_expired:  # what it stood for is gone for good, and nothing names its digest any more
                self._catalog.forget_versions([(request.document.state_key, there.header.digest)], deletions=True)
            etag = self._objects.supersede(request.place, there, stored, data)
            if etag is None:
                _LOG.debug("somebody else saved the document first: again", extra={"doc": request.document.doc})
            if etag is not None:
                return self._finish(request, state, etag, untold, [there.row()] if untold_row else [])
        raise DocumentContested(doc=request.document.doc, tries=TRIES)

    def _successor(self, request: _SaveRequest, there: DocumentState) -> tuple[DocumentState, bytes]:
        """The state that takes the place of what is there."""
        header = replace(request.first.header, version=there.header.version + 1, operation=Operation.UPDATED)
        return self._objects.encode(replace(request.first, header=header))

    def _adopt(self, request: _SaveRequest, there: DocumentState, untold: Sequence[Event]) -> Receipt:
        """The store has this content already: another machine wrote it, or we did and died. Only the row is missing."""
        row = there.row()
        events = {event.event_id: event for event in (*untold, *self._events(there, request.publish))}
        if not self._commit(request, [row], list(events.values())):
            self._bury(request)
        return Receipt.of(row, "unchanged")

    def _finish(
        self,
        request: _SaveRequest,
        state: DocumentState,
        etag: str,
        untold: Sequence[Event],
        unknown: Sequence[PipeDoc] = (),
    ) -> Receipt:
        row = written_row(request.row, state, etag)
        if not self._commit(request, [*unknown, row], [*untold, *self._events(state)]):
            self._bury(request)
        outcome: Outcome = "created" if state.header.version == 1 else "updated"
        return Receipt.of(row, outcome)

    def _events(self, state: DocumentState, also: Sequence[str] = ()) -> list[Event]:
        return events_of(state, self._subscriptions, also=also)

    def _commit(self, request: _SaveRequest, rows: Sequence[PipeDoc], events: Sequence[Event]) -> bool:
        return self._catalog.commit(rows, events, intake=None if request.document.is_intake else request.intake)

    def _bury(self, request: _SaveRequest) -> NoReturn:
        """The document was deleted while this state of it was written: it goes the same way."""
        buried = self._tombstones.bury(request.place, by="deleted while it was saved")
        raise DocumentDeleted(doc=request.document.doc, deleted_at=render_utc(buried.header.saved_at))

    # --- many at once

    def _sort(self, batch: _Batch) -> None:
        """What is answered at once, what is new, and what may replace something."""
        places = [
            (order.document.account, order.document.state_key, intake)
            for order, intake in zip(batch.orders, batch.intakes, strict=True)
        ]
        at = self._clock()
        seen: set[StateKey] = set()
        for number, found in enumerate(self._catalog.find_many(places)):
            order = batch.orders[number]
            identity = order.document.state_key
            if identity in seen or order.is_conditional:
                continue  # in its turn, one by one
            seen.add(identity)
            made = _answer(self._sorted, order, batch.intakes[number], found, at)
            if not isinstance(made, _SaveRequest):
                batch.answers[number] = made
            elif found.row is None:
                batch.fresh[number] = made
            else:
                batch.known[number] = made, found.row

    def _sorted(self, order: SaveOrder, intake: str, found: CatalogState, at: datetime) -> Receipt | _SaveRequest:
        unchanged = self._unchanged(order, found)
        if unchanged is not None:
            return unchanged
        return self._request(order, self._objects.place(order.document), intake, at)

    def _create_all(self, batch: _Batch) -> dict[int, _Written]:
        fresh = self._with_blobs(batch.fresh)
        puts = [Put(request.place.current, request.data, if_absent=True) for request in fresh.values()]
        written: dict[int, _Written] = {}
        for (number, request), etag in zip(fresh.items(), self._objects.store.put_many(puts), strict=True):
            if isinstance(etag, str):
                written[number] = _Written(request, request.first, etag, "created", ())
        return written

    def _replace_all(self, batch: _Batch) -> dict[int, _Written]:
        """As `_over_what_is_there`, each step for all of them. Whoever meets somebody else is left for its turn."""
        if not batch.known:
            return {}
        requests = self._with_blobs({number: request for number, (request, _) in batch.known.items()})
        read = self._objects.currents([request.place for request in requests.values()])
        steps: dict[int, _Replacement] = {}
        for (number, request), found in zip(requests.items(), read, strict=True):
            if found is None or found[0].header.deleted_at is not None:
                continue
            there, stored = found
            if there.header.digest == request.document.digest:
                continue
            state, data = self._successor(request, there)
            steps[number] = _Replacement(request, there, stored, state, data)
        kept = self._objects.keep_all([(step.request.place, step.there, step.stored) for step in steps.values()])
        ready = {number: step for (number, step), is_kept in zip(steps.items(), kept, strict=True) if is_kept}
        puts = [Put(step.request.place.current, step.data, if_match=step.stored.etag) for step in ready.values()]
        written: dict[int, _Written] = {}
        for (number, step), etag in zip(ready.items(), self._objects.store.put_many(puts), strict=True):
            if isinstance(etag, str):
                known = batch.known[number][1].version
                is_new = known < step.there.header.version
                untold = self._events(step.there) if is_new else []
                unknown = [step.there.row()] if is_new else []
                written[number] = _Written(step.request, step.state, etag, "updated", untold, unknown)
        return written

    def _with_blobs(self, requests: dict[int, _SaveRequest]) -> dict[int, _SaveRequest]:
        """Those whose blobs are written; where that fails, each gets its own error in its turn."""
        puts: list[Put] = []
        for request in requests.values():
            blobs = _answer(self._objects.blob_puts, request.place, request.document)
            if isinstance(blobs, CocliError):
                return {}
            puts += blobs
        if any(isinstance(answer, StoreError) for answer in self._objects.store.put_many(puts)):
            return {}
        return requests

    def _commit_all(self, batch: _Batch, written: dict[int, _Written]) -> None:
        rows: dict[int, tuple[PipeDoc, Commit]] = {}
        for number, (request, state, etag, _, untold, unknown) in written.items():
            row = written_row(request.row, state, etag)
            intake = None if request.document.is_intake else request.intake
            rows[number] = row, Commit([*unknown, row], [*untold, *self._events(state)], intake)
        refused = self._catalog.commit_many([commit for _, commit in rows.values()]) if rows else []
        for number, (row, commit) in rows.items():
            if any(commit is other for other in refused):
                batch.answers[number] = _answer(self._bury, written[number].request)
            else:
                batch.answers[number] = Receipt.of(row, written[number].outcome)


def _intake(document: Document) -> str:
    """The uuid of the intake of a document."""
    if document.is_intake:
        return document.uuid
    return node_uuid(document.doc, document.datasource, document.account)


def written_row(row: PipeDoc, state: DocumentState, etag: str) -> PipeDoc:
    """The row of the first version, checked when it was made, with what writing has added."""
    written = {"etag": etag, "version": state.header.version, "size": state.size}
    return type(row).of_checked(row.__dict__ | written, row.model_fields_set | written.keys())


def _answer(action: Callable[..., T], *arguments: object) -> T | CocliError:
    try:
        return action(*arguments)
    except CocliError as error:
        return error
