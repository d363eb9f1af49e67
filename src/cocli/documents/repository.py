"""The repository of documents: the one door to store and catalogue. Every method names the account it acts for."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cocli.documents.care.expiry import Expiry
from cocli.documents.care.purge import Purger
from cocli.documents.care.tombstones import Tombstones
from cocli.documents.catalog.base import EVERY, CatalogPage, Cursor, MemoQuestion, Selection
from cocli.documents.changes.census import Census
from cocli.documents.changes.learner import ChangeLearner
from cocli.documents.changes.teller import ChangeTeller
from cocli.documents.ids import check_parts, node_uuid
from cocli.documents.limits import INLINE_LIMIT
from cocli.documents.objects import DocumentObjects
from cocli.documents.outbox_room import MOST_WAITING, OutboxRoom
from cocli.documents.places import DocumentPlace
from cocli.documents.save_order import UNCONDITIONAL, SaveOrder
from cocli.documents.saver import Saver
from cocli.documents.subscriptions import NOBODY
from cocli.errors import (
    DocumentDamaged,
    DocumentDeleted,
    DocumentError,
    DocumentNotFound,
    NotFound,
    StoreError,
    UsageError,
)
from cocli.keys.paths import account_prefix
from cocli.models.record import render_utc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from cocli.documents.catalog.base import Catalog, Kind, Memo
    from cocli.documents.document import Document
    from cocli.documents.header import DocumentState, PurgeProof
    from cocli.documents.receipt import Receipt
    from cocli.documents.save_order import Precondition
    from cocli.documents.subscriptions import Subscriptions
    from cocli.errors import CocliError
    from cocli.models.document import DocumentReference, PipeDoc
    from cocli.store.base import Store

MAX_PAGE = 10_000
DEFAULT_PREFIX = "uploads"
PREFIX = "prefix"
"""The fact of a catalogue that is the folder of its documents in the store."""


class DocumentRepository:
    """`prefix` is the folder in the store, `inline_limit` the size from which a blob is an object of its own.

    `subscriptions` says who reads events: what nobody reads is not written. `most_waiting` is how many events of an
    account may wait: beyond it a save that needs one is refused with `OutboxFull`.
    """

    def __init__(
        self,
        store: Store,
        catalog: Catalog,
        *,
        clock: Callable[[], datetime],
        prefix: str = DEFAULT_PREFIX,
        inline_limit: int = INLINE_LIMIT,
        subscriptions: Subscriptions = NOBODY,
        most_waiting: int = MOST_WAITING,
        redact: Callable[[Document], Document] | None = None,
    ) -> None:
        """`redact` is what every document passes before it is saved: without whom was forgotten."""
        self.objects = DocumentObjects(store, prefix=prefix, inline_limit=inline_limit)
        self.catalog = catalog
        if prefix != DEFAULT_PREFIX:
            self._note_prefix(prefix)
        self.subscriptions = subscriptions
        self._build = partial(
            type(self),
            store,
            clock=clock,
            prefix=prefix,
            inline_limit=inline_limit,
            subscriptions=subscriptions,
            most_waiting=most_waiting,
            redact=redact,
        )
        self._redact = redact or _as_it_is
        self.tombstones = Tombstones(self.objects, catalog, clock=clock, subscriptions=subscriptions)
        self.purger = Purger(self.objects, catalog, self.tombstones, clock=clock, subscriptions=subscriptions)
        self.expiry = Expiry(self.objects, catalog, clock=clock, subscriptions=subscriptions)
        self.teller = ChangeTeller(store, catalog)
        self.learner = ChangeLearner(store, catalog)
        self.census = Census(self.objects, catalog, clock=clock)
        room = OutboxRoom(catalog, most_waiting)
        self._saver = Saver(self.objects, catalog, self.tombstones, clock=clock, subscriptions=subscriptions, room=room)

    def _note_prefix(self, prefix: str) -> None:
        """For those who read the tables themselves: what keys begin with."""
        spelled = account_prefix(prefix).rstrip("/")
        if self.catalog.fact(PREFIX) != spelled:
            self.catalog.set_fact(PREFIX, spelled)

    def with_catalog(self, catalog: Catalog) -> DocumentRepository:
        """The same documents, seen through another catalogue."""
        return self._build(catalog)

    # --- saving

    def save(self, document: Document, *, publish: Sequence[str] = ()) -> Receipt:
        """Save a state. The same content again writes nothing; other content is a new version, and the old one stays.

        `publish` names destinations. Each gets one event, beside the plain one of every version, where it is read.
        """
        return self._saver.save(SaveOrder(self._redact(document), publish))

    def announce(self, document: Document, *, publish: Sequence[str] = ()) -> Receipt | None:
        """Tell destinations of a document as it is there, or save it where it never was. None where a newer version
        took its place: whoever reads that one is told of it."""
        return self._saver.announce(SaveOrder(self._redact(document), publish))

    def carry_out(self, orders: Sequence[SaveOrder]) -> list[Receipt | CocliError]:
        """Save many, side by side and in one transaction, each on its own condition. One failure does not stop the
        others. Each is on the disk when this returns, and the disk was synchronised for all of them together."""
        if self._redact is not _as_it_is:
            orders = [self._redacted(order) for order in orders]
        return self._saver.save_many(orders)

    def _redacted(self, order: SaveOrder) -> SaveOrder:
        document = self._redact(order.document)
        return order if document is order.document else replace(order, document=document)

    def save_many(self, requests: Sequence[tuple[Document, Sequence[str]]]) -> list[Receipt | CocliError]:
        """As `carry_out`, without conditions."""
        return self.carry_out([SaveOrder(document, publish) for document, publish in requests])

    # --- reading

    def get(self, account: str, reference: DocumentReference, *, blobs: bool = False) -> Document:
        """Exactly the state that a reference points at, also after it was replaced."""
        if account != reference.account:
            raise _not_found(reference)
        place = DocumentPlace.pointed_at(self.objects.prefix, reference)
        state = self._alive(place, reference)
        if state.header.digest != reference.digest:
            earlier = self.objects.version(place, reference.digest)
            if earlier is None:
                self._alive(place, reference)  # purged since it was looked at? Then it says so
                raise _not_found(reference)
            state = earlier
        return self._loaded(place, state, reference, blobs)

    def find(
        self, account: str, doc: str, address: str, cluster: str | None, *, datasource: str | None = None
    ) -> PipeDoc:
        """The row of the state at an address. Several datasources may have a document of this id: then one is named."""
        rows = self.catalog.named(account, [node_uuid(doc, address, account)], cluster)
        rows = [row for row in rows if datasource in (None, row.datasource)]
        if not rows:
            raise DocumentNotFound(doc=doc, place=f"{cluster or 'intake'}/{address}")
        if len(rows) > 1:
            raise several_datasources(doc, rows)
        return rows[0]

    def current(
        self,
        account: str,
        doc: str,
        address: str,
        cluster: str | None,
        *,
        datasource: str | None = None,
        blobs: bool = False,
    ) -> Document:
        """The newest state at an address."""
        return self.current_of(self.find(account, doc, address, cluster, datasource=datasource), blobs=blobs)

    def current_of(self, row: PipeDoc, *, blobs: bool = False) -> Document:
        """The newest state at the place of a row."""
        place = DocumentPlace.of(self.objects.prefix, row)
        return self._loaded(place, self._alive(place, row.reference), row.reference, blobs)

    def stored(self, place: Document, *, blobs: bool = False) -> Document | None:
        """The state at the place of a document as the store has it, also if this machine's catalogue never saw it.

        One request, however many machines write. None where there is nothing, or nothing any more.
        """
        where = self.objects.place(place)
        read = self.objects.current(where)
        if read is None or read[0].header.deleted_at is not None:
            return None
        return self._loaded(where, read[0], place.reference, blobs)

    def stored_many(self, places: Sequence[Document]) -> list[Document | DocumentError | None]:
        """The same for many at a time, without blobs. One that is damaged says so where it would stand."""
        where = [self.objects.place(place) for place in places]
        found: list[Document | DocumentError | None] = []
        for place, answer in zip(where, self.objects.store.get_many([spot.current for spot in where]), strict=True):
            if isinstance(answer, StoreError):
                if not isinstance(answer, NotFound):
                    raise answer
                found.append(None)
                continue
            try:
                state = self.objects.read(place, answer)
            except DocumentError as error:  # told to whoever asked, in its place
                found.append(error)
                continue
            found.append(None if state.header.deleted_at is not None else state.document)
        return found

    def load(self, document: Document) -> Document:
        """The same document with the bytes of all its blobs."""
        return self.objects.with_blobs(self.objects.place(document), document)

    def states(self, account: str, doc: str, *, cluster: Selection = EVERY, deleted: bool = False) -> list[PipeDoc]:
        """The rows of a document: of EVERY state, of those in CLUSTERS, of the intake (None) or of one cluster."""
        check_parts(account=account, doc=doc)
        return self.catalog.states(account, doc, cluster, deleted=deleted)

    def documents(
        self,
        account: str,
        *,
        datasource: str | None = None,
        cluster: str | None = None,
        kind: Kind | None = None,
        after: Cursor | None = None,
        limit: int = 100,
        deleted: bool = False,
    ) -> CatalogPage[PipeDoc]:
        """Rows of an account, page by page in the order of document, cluster, address."""
        check_parts(account=account)
        if not 1 <= limit <= MAX_PAGE:
            raise UsageError(reason=f"a page has 1 to {MAX_PAGE} rows, not {limit}")
        if kind == "intake" and cluster is not None:
            raise UsageError(reason="an intake document has no edition")
        rows = self.catalog.page(
            account,
            datasource=datasource,
            cluster=cluster,
            kind=kind,
            after=after,
            limit=limit + 1,
            deleted=deleted,
        )
        if len(rows) <= limit:
            return CatalogPage(rows)
        return CatalogPage(rows[:limit], Cursor.behind(rows[limit - 1]))

    # --- deleting

    def delete(
        self,
        account: str,
        doc: str,
        *,
        cluster: Selection = EVERY,
        by: str = "",
        condition: Precondition = UNCONDITIONAL,
    ) -> list[Receipt]:
        """Leave tombstones: of the whole document, or of its states in one cluster. Late events bring nothing back.

        A condition is one of the intake, which is buried first: it holds for the whole document."""
        check_parts(account=account, doc=doc)
        return self.tombstones.delete(account, doc, cluster, by, condition)

    def restore(self, account: str, doc: str, *, cluster: Selection = EVERY, by: str = "") -> list[Receipt]:
        """Bring back what was deleted, as it was."""
        check_parts(account=account, doc=doc)
        return self.tombstones.restore(account, doc, cluster, by)

    def purge(self, account: str, doc: str, *, by: str = "", reason: str = "") -> list[PurgeProof]:
        """Remove every version and blob for good; one proof per datasource that had the document."""
        check_parts(account=account, doc=doc)
        return self.purger.purge(account, doc, by, reason)

    # --- steps that need not be done again

    def remember(self, memo: Memo) -> None:
        self.catalog.remember(memo)

    def remember_many(self, memos: Sequence[Memo]) -> None:
        """Many, in one transaction."""
        if memos:
            self.catalog.commit_many((), memos)

    def recall(
        self, account: str, doc: str, node: str, cluster: str, *, input_digest: str, code_digest: str, origin: str
    ) -> Memo | None:
        """What a node made of this input with this code, if it was done before."""
        return self.recall_many([MemoQuestion(account, doc, node, cluster, input_digest, code_digest, origin)])[0]

    def recall_many(self, questions: Sequence[MemoQuestion]) -> list[Memo | None]:
        """The same for many steps, looked up together."""
        return self.catalog.recall_many(questions)

    # --- plumbing

    def _alive(self, place: DocumentPlace, reference: DocumentReference) -> DocumentState:
        read = self.objects.current(place)
        if read is None:
            raise _not_found(reference)
        state = read[0]
        if state.header.deleted_at is not None:
            raise DocumentDeleted(doc=place.doc, deleted_at=render_utc(state.header.deleted_at))
        return state

    def _loaded(
        self, place: DocumentPlace, state: DocumentState, reference: DocumentReference, blobs: bool
    ) -> Document:
        if not blobs:
            return state.document
        try:
            return self.objects.with_blobs(place, state.document)
        except DocumentDamaged:
            self._alive(place, reference)  # purged since it was looked at? Then it says so
            raise


def several_datasources(doc: str, rows: Sequence[PipeDoc]) -> UsageError:
    """Which of them is meant has to be said."""
    known = ", ".join(f"{row.datasource} ({row.connector})" for row in rows)
    return UsageError(
        reason=f"Document {doc} came in from several datasources: {known}.",
        hint="Say which: datasource in a request, --datasource ID on the command line.",
    )


def _not_found(reference: DocumentReference) -> DocumentNotFound:
    return DocumentNotFound(doc=reference.doc, place=f"{reference.cluster or 'intake'}/{reference.address}")


def _as_it_is(document: Document) -> Document:
    return document
