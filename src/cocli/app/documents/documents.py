"""The documents of an account, for people and services: opens the repository that is configured, finds and saves.

Deleting and checking is `documents_care`, replay and comparison `documents_jobs`, tokens `documents_tokens`. Every use
case works for one account: that of the campaign, or the one that a token names.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from cocli.config.places import state_home
from cocli.documents.catalog.damage import damage_of, set_aside
from cocli.documents.catalog.opening import open_catalog, sqlite_path
from cocli.documents.changes.teller import TellerLoop
from cocli.documents.document import Blob, Document, DocumentSource
from cocli.documents.graph.subscriptions import NodeSubscriptions
from cocli.documents.limits import PART_BYTES
from cocli.documents.places import DocumentPlace
from cocli.documents.receipt import Receipt
from cocli.documents.repository import DocumentRepository, several_datasources
from cocli.documents.save_order import SaveOrder
from cocli.documents.subscriptions import NOBODY
from cocli.errors import DocumentInvalid, DocumentNotFound, InvalidKey, NotFound, Unavailable, UsageError
from cocli.formats.secrets import mask
from cocli.models.campaign import DocumentsSection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cocli.app.workspace import Campaign, Workspace
    from cocli.config.resolve import Settings
    from cocli.documents.subscriptions import Subscriptions
    from cocli.models.document import PipeDoc
    from cocli.pipeline.suppression.stored import LeftAlone
    from cocli.store.base import Store

BODY = "body"
"""The blob that a raw file becomes."""
UPLOAD = "upload"
"""The connector of what was brought by hand."""
_MIME_TYPE = "application/octet-stream"
_REPAIR = "If a machine was lost right after it saved it, look for it in the store with: cocli documents fsck --repair"


class CatalogStanding(NamedTuple):
    """How much of the store the catalogue knows."""

    unseen: int = 0
    """States in the store that it does not know, as they were counted last."""
    trouble: str | None = None
    """Why what other machines saved could not be looked for."""


@dataclass(frozen=True, slots=True)
class Documents:
    """The repository, and for whom it is asked."""

    repository: DocumentRepository
    account: str
    edition: str
    """Of the parsers: under which states are kept and read."""
    section: DocumentsSection
    store: Store
    store_address: str
    catalog_address: str
    """As `open_store` and `open_catalog` take them: for other processes that open their own."""
    state_folder: str
    lists: tuple[str, ...]
    """Addresses of the stores whose do-not-contact lists hold."""
    campaign: Campaign | None = None
    standing: CatalogStanding | None = None
    """None where other machines were not asked."""
    replaced: str | None = None
    """Where the damaged catalogue is that this one took the place of."""
    left_alone: LeftAlone | None = None
    """Who asked not to be told of."""

    def of(self, account: str) -> Documents:
        """The same repository for another account."""
        return replace(self, account=account)

    @property
    def left_behind(self) -> str | None:
        """How to bring documents here that a sync left in its bucket; None where this is no copy of anything."""
        if self.campaign is None:
            return None
        from cocli.sync.state import synced_bucket

        name = self.campaign.name
        bucket = synced_bucket(os.path.dirname(self.state_folder), self.store.address, name)
        if bucket is None:
            return None
        return f"cocli sync pull -c {name} --only documents --store {bucket}"

    @property
    def options(self) -> str:
        """What a hint has to say behind the name of a document."""
        return f" -c {self.campaign.name}" if self.campaign else ""


@dataclass(frozen=True, slots=True)
class Upload:
    """A raw file, and what is known of it."""

    data: bytes
    doc: str
    connector: str = UPLOAD
    datasource: str | None = None
    uri: str | None = None
    mime_type: str | None = None
    filename: str | None = None


@contextmanager
def opened_documents(
    workspace: Workspace, campaign: str | None, *, learn: bool = True, renew: bool = False
) -> Iterator[Documents]:
    """The documents of a campaign's account; with none named, those of the user's own account.

    With `learn`, the catalogue takes over what other machines saved: for whoever asks it. Who only saves, or reads
    single documents from the store, does not need that. What was saved is told to the others at the end.
    With `renew`, a catalogue that is damaged is set aside and begun anew: for whoever builds it anyway.
    """
    chosen = workspace.campaign(campaign) if campaign else None
    settings = chosen.settings if chosen else workspace.settings
    store = chosen.store if chosen else workspace.store
    section = documents_section(settings)
    state = os.path.join(state_home(settings.environ), "documents")
    address = catalog_address(settings, store)
    replaced = _renewed(address) if renew else None
    left_alone = chosen.left_alone if chosen else workspace.left_alone()
    catalog = open_catalog(address)
    try:
        repository = DocumentRepository(
            store,
            catalog,
            clock=store.now,
            prefix=section.prefix,
            inline_limit=section.inline_limit,
            subscriptions=_subscriptions(section),
            most_waiting=section.max_waiting_events,
            redact=partial(without_forgotten, left_alone),
        )
        account = str(settings.values["campaign", "account"].value)
        edition = section.edition or str(settings.values["cluster", "id"].value)
        own, home = str(settings.store.value), str(workspace.settings.store.value)
        where = (own, address, state, tuple(dict.fromkeys((home, own))))
        standing = learn_of_others(repository) if learn else None
        untold = len(catalog.untold_places())
        try:
            opened = Documents(repository, account, edition, section, store, *where, chosen, standing, replaced)
            yield replace(opened, left_alone=left_alone)
        finally:
            if len(catalog.untold_places()) > untold:  # who only looked writes nothing into the store
                TellerLoop(repository.teller).tell()
    finally:
        catalog.close()


def _subscriptions(section: DocumentsSection) -> Subscriptions:
    if section.events == "none":
        return NOBODY
    return NodeSubscriptions(topics=section.events == "kafka")


def without_forgotten(left_alone: LeftAlone, document: Document) -> Document:
    """A capture without those whom somebody asked to forget: their page may show them still."""
    forgotten = left_alone.listed().forgotten
    if not forgotten:
        return document
    from cocli.app.left_alone.captures import redacted_document  # here: most stores have forgotten nobody
    from cocli.app.left_alone.matcher import SubjectMatcher

    return redacted_document(document, SubjectMatcher(forgotten))


def catalog_address(settings: Settings, store: Store) -> str:
    """Where the catalogue of a store is: as configured, or a file of this machine for each store."""
    configured = documents_section(settings).catalog
    if configured:
        return configured
    file = os.path.join(state_home(settings.environ), "documents", _store_name(store), "catalog.sqlite3")
    return f"sqlite://{file}"


def catalogue_addresses(workspace: Workspace) -> list[str]:
    """Where the catalogues of all campaigns are."""
    from cocli.app.campaigns.name import campaign_names

    campaigns = [workspace.campaign(name) for name in sorted(campaign_names(workspace.store))]
    return [catalog_address(campaign.settings, campaign.store) for campaign in campaigns]


def catalog_name(workspace: Workspace, campaign: str | None) -> str:
    """The catalogue of a campaign's store, for people. It is not opened."""
    chosen = workspace.campaign(campaign) if campaign else None
    settings = chosen.settings if chosen else workspace.settings
    address = catalog_address(settings, chosen.store if chosen else workspace.store)
    return sqlite_path(address) or mask(address)


def _renewed(address: str) -> str | None:
    """Set a damaged catalogue aside; its new name."""
    if damage_of(address) is None:
        return None
    return set_aside(address, datetime.now(UTC))


def learn_of_others(repository: DocumentRepository) -> CatalogStanding:
    """Take over what other machines told; once a day also look for what nobody told.

    A store that does not answer is no failure here: what is known can be shown, and who reads a document is told.
    """
    census = repository.census
    try:
        repository.learner.learn()
        if census.is_due():
            census.count()
    except Unavailable as error:
        return CatalogStanding(census.unseen, error.message)
    return CatalogStanding(census.unseen)


def standing_of(workspace: Workspace, campaign: str) -> CatalogStanding:
    """How much of the store the catalogue of a campaign knows, as it was found last."""
    with opened_documents(workspace, campaign, learn=False) as documents:
        return CatalogStanding(documents.repository.census.unseen)


def documents_section(settings: Settings) -> DocumentsSection:
    """The settings of `[documents]`, which do not need a campaign."""
    names = DocumentsSection.model_fields
    return DocumentsSection.model_validate({name: settings.values["documents", name].value for name in names})


def upload(documents: Documents, file: Upload, *, publish: Sequence[str] = (), by: str = "") -> Receipt:
    """Save a raw file as a document that came in. The same file again changes nothing."""
    source = DocumentSource(
        uri=file.uri,
        mime_type=file.mime_type,
        fetched_at=documents.store.now(),
        filename=file.filename,
    )
    document = Document.intake(
        account=documents.account,
        connector=file.connector,
        datasource=file.datasource,
        doc=file.doc,
        source=source,
    )
    body = Blob.of(file.data, file.mime_type or _MIME_TYPE, filename=file.filename)
    return saved(documents, SaveOrder(document.with_blob(BODY, body), publish, by))


def save_document(documents: Documents, document: Document, publish: Sequence[str]) -> Receipt:
    """Save a document that somebody made."""
    if document.account != documents.account:
        raise DocumentInvalid(doc=document.doc, reason="it names another account than the one that saves it")
    return saved(documents, complete_document(documents, SaveOrder(document, publish)))


def saved(documents: Documents, order: SaveOrder) -> Receipt:
    """Carry an order out."""
    (answer,) = documents.repository.carry_out([order])
    if isinstance(answer, Receipt):
        return answer
    raise answer


def complete_document(documents: Documents, order: SaveOrder) -> SaveOrder:
    """An order of somebody else's. Blobs that were not sent along have to lie in the document's folder."""
    document = order.document
    unread = {name: blob for name, blob in document.blobs.items() if blob.data is None}
    if not unread:
        return order
    place = documents.repository.objects.place(document)
    known = {name: _at_home(documents, place, name, blob) for name, blob in unread.items()}
    return replace(order, document=replace(document, blobs={**document.blobs, **known}))


def _at_home(documents: Documents, place: DocumentPlace, name: str, blob: Blob) -> Blob:
    if blob.size > PART_BYTES:
        return _large_at_home(documents, place, name, blob)
    try:
        size = documents.store.head(place.blob(blob.sha256)).size
    except (NotFound, InvalidKey):
        size = None
    if size != blob.size:
        reason = f"its blob {name[:80]} was not sent along, and the document has none of this SHA-256 and size"
        raise DocumentInvalid(doc=place.doc, reason=reason)
    return replace(blob, home=place.folder)


def _large_at_home(documents: Documents, place: DocumentPlace, name: str, blob: Blob) -> Blob:
    """Which parts it has is known to the states that have it: a caller is not believed."""
    repository = documents.repository
    for row in repository.states(documents.account, place.doc):
        read = repository.objects.current(DocumentPlace.of(repository.objects.prefix, row))
        for kept in read[0].document.blobs.values() if read else ():
            if (kept.sha256, kept.size, kept.home) == (blob.sha256, blob.size, place.folder):
                return replace(blob, home=place.folder, parts=kept.parts, part_size=kept.part_size)
    reason = f"its blob {name[:80]} was not sent along, and no state of the document has it"
    raise DocumentInvalid(doc=place.doc, reason=reason)


def find_state(
    documents: Documents,
    doc: str,
    *,
    node: str | None = None,
    edition: str | None = None,
    datasource: str | None = None,
) -> PipeDoc:
    """The row of one state: the intake, or that of a node. Where several could be meant, they are named."""
    wanted = None if node is None else edition or documents.edition
    rows = documents.repository.states(documents.account, doc, cluster=wanted, deleted=True)
    rows = [row for row in rows if node in (None, row.address) and datasource in (None, row.datasource)]
    if not rows:
        place = f"{wanted}/{node}" if node else "intake"
        raise DocumentNotFound(doc=doc, place=place, hint=_hint(documents))
    if len(rows) > 1:
        raise several_datasources(doc, rows)
    return rows[0]


def read_state(documents: Documents, row: PipeDoc, *, digest: str | None = None, blobs: bool = False) -> Document:
    """The state of a row as it is now, or as it was when it had this digest."""
    if digest is None:
        return documents.repository.current_of(row, blobs=blobs)
    return documents.repository.get(documents.account, row.reference.with_changes(digest=digest), blobs=blobs)


def read_blob(documents: Documents, document: Document, name: str) -> bytes:
    """The bytes of one blob."""
    if name not in document.blobs:
        known = ", ".join(document.blobs) or "none"
        raise UsageError(reason=f'Document {document.doc} has no blob "{name}". Its blobs: {known}.')
    only = replace(document, blobs={name: document.blobs[name]})
    return documents.repository.load(only).blobs[name].content


def _hint(documents: Documents) -> str:
    """Where a document may be that is not here."""
    command = documents.left_behind
    if command is None:
        return _REPAIR
    return f"This is a copy; what a sync left in the bucket is brought here by: {command}"


def states_of(documents: Documents, doc: str, *, deleted: bool = False) -> list[PipeDoc]:
    """The rows of a document; an error where there is none at all."""
    rows = documents.repository.states(documents.account, doc, deleted=True)
    if not rows:
        raise DocumentNotFound(doc=doc, place="this account", hint=_hint(documents))
    return rows if deleted else [row for row in rows if row.deleted_at is None]


def _store_name(store: Store) -> str:
    """Stores have a catalogue each: one name may stand for different documents in two of them."""
    return hashlib.sha256(store.address.encode()).hexdigest()[:16]
