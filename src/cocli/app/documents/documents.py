"""The documents of an account, for people and services: opens the repository that is configured, finds and saves.

Deleting and checking is `documents_care`, replay and comparison `documents_jobs`, tokens `documents_tokens`. Every use
case works for one account: that of the campaign, or the one that a token names.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cocli.config.places import state_home
from cocli.documents.catalog.opening import open_catalog
from cocli.documents.document import Blob, Document, DocumentSource
from cocli.documents.graph.subscriptions import NodeSubscriptions
from cocli.documents.repository import DocumentRepository
from cocli.documents.subscriptions import NOBODY
from cocli.errors import DocumentInvalid, DocumentNotFound, InvalidKey, NotFound, UsageError
from cocli.models.campaign import DocumentsSection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cocli.app.workspace import Campaign, Workspace
    from cocli.config.resolve import Settings
    from cocli.documents.places import DocumentPlace
    from cocli.documents.receipt import Receipt
    from cocli.models.document import PipeDoc
    from cocli.store.base import Store

BODY = "body"
"""The blob that a raw file becomes."""
UPLOAD = "upload"
"""The connector of what was brought by hand."""
_MIME_TYPE = "application/octet-stream"
_REBUILD = "If another machine saved it, build this machine's catalogue with: cocli documents fsck --rebuild"


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
    campaign: Campaign | None = None

    def of(self, account: str) -> Documents:
        """The same repository for another account."""
        return replace(self, account=account)

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
def opened_documents(workspace: Workspace, campaign: str | None) -> Iterator[Documents]:
    """The documents of a campaign's account; with none named, those of the user's own account."""
    chosen = workspace.campaign(campaign) if campaign else None
    settings = chosen.settings if chosen else workspace.settings
    store = chosen.store if chosen else workspace.store
    section = documents_section(settings)
    state = os.path.join(state_home(settings.environ), "documents")
    address = section.catalog or f"sqlite://{os.path.join(state, _store_name(store), 'catalog.sqlite3')}"
    catalog = open_catalog(address)
    try:
        repository = DocumentRepository(
            store,
            catalog,
            clock=store.now,
            prefix=section.prefix,
            inline_limit=section.inline_limit,
            subscriptions=NOBODY if section.events == "none" else NodeSubscriptions(),
        )
        account = str(settings.values["campaign", "account"].value)
        edition = section.edition or str(settings.values["cluster", "id"].value)
        where = (str(settings.store.value), address, state)
        yield Documents(repository, account, edition, section, store, *where, chosen)
    finally:
        catalog.close()


def documents_section(settings: Settings) -> DocumentsSection:
    """The settings of `[documents]`, which do not need a campaign."""
    names = DocumentsSection.model_fields
    return DocumentsSection.model_validate({name: settings.values["documents", name].value for name in names})


def upload(documents: Documents, file: Upload, *, publish: Sequence[str] = ()) -> Receipt:
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
    return documents.repository.save(document.with_blob(BODY, body), publish=publish)


def save_document(documents: Documents, document: Document, publish: Sequence[str]) -> Receipt:
    """Save a document that somebody sent. Blobs that were not sent along have to lie in the document's folder."""
    if document.account != documents.account:
        raise DocumentInvalid(doc=document.doc, reason="it names another account than the token")
    unread = {name: blob for name, blob in document.blobs.items() if blob.data is None}
    if unread:
        place = documents.repository.objects.place(document)
        known = {name: _at_home(documents, place, name, blob) for name, blob in unread.items()}
        document = replace(document, blobs={**document.blobs, **known})
    return documents.repository.save(document, publish=publish)


def _at_home(documents: Documents, place: DocumentPlace, name: str, blob: Blob) -> Blob:
    try:
        size = documents.store.head(place.blob(blob.sha256)).size
    except (NotFound, InvalidKey):
        size = None
    if size != blob.size:
        reason = f"its blob {name[:80]} was not sent along, and the document has none of this SHA-256 and size"
        raise DocumentInvalid(doc=place.doc, reason=reason)
    return replace(blob, home=place.folder)


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
        raise DocumentNotFound(doc=doc, place=place, hint=_REBUILD)
    if len(rows) > 1:
        known = ", ".join(f"{row.datasource} ({row.connector})" for row in rows)
        raise UsageError(
            reason=f"Document {doc} came in from several datasources: {known}.", hint="Say which with --datasource ID."
        )
    return rows[0]


def read_state(documents: Documents, row: PipeDoc, *, digest: str | None = None, blobs: bool = False) -> Document:
    """The state of a row as it is now, or as it was when it had this digest."""
    if digest is None:
        return documents.repository.current(row.account, row.doc, row.address, row.cluster, blobs=blobs)
    return documents.repository.get(documents.account, row.reference.with_changes(digest=digest), blobs=blobs)


def read_blob(documents: Documents, document: Document, name: str) -> bytes:
    """The bytes of one blob."""
    if name not in document.blobs:
        known = ", ".join(document.blobs) or "none"
        raise UsageError(reason=f'Document {document.doc} has no blob "{name}". Its blobs: {known}.')
    only = replace(document, blobs={name: document.blobs[name]})
    return documents.repository.load(only).blobs[name].content


def states_of(documents: Documents, doc: str, *, deleted: bool = False) -> list[PipeDoc]:
    """The rows of a document; an error where there is none at all."""
    rows = documents.repository.states(documents.account, doc, deleted=True)
    if not rows:
        raise DocumentNotFound(doc=doc, place="this account", hint=_REBUILD)
    return rows if deleted else [row for row in rows if row.deleted_at is None]


def _store_name(store: Store) -> str:
    """Stores have a catalogue each: one name may stand for different documents in two of them."""
    return hashlib.sha256(store.address.encode()).hexdigest()[:16]
