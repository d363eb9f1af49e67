"""What an object says of itself beside its content: enough to build the catalogue's row and its events anew."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from cocli.models.document import PipeDoc

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.documents.document import Document


class Operation(StrEnum):
    """What made a version."""

    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"
    RESTORED = "restored"
    PURGED = "purged"


@dataclass(frozen=True, slots=True)
class Header:
    version: int
    digest: str
    """A tombstone keeps the digest of the content it stands for."""
    saved_at: datetime
    operation: Operation
    destinations: tuple[str, ...] = ()
    deleted_at: datetime | None = None
    deleted_by: str = ""
    saved_by: str = ""
    """Who saved it, by the token that they had; empty where there was none."""


@dataclass(frozen=True, slots=True)
class RemovedObject:
    """One object that a purge removed. `kind` is `state`, `version`, `blob` or `damaged`."""

    kind: str
    cluster: str | None
    uuid: str
    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class PurgeProof:
    """What was removed for good, when and by whom. `purged_at` is None while the removal goes on."""

    begun_at: datetime
    purged_by: str
    reason: str
    removed: tuple[RemovedObject, ...] = ()
    purged_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class DocumentState:
    """An object of the store, read: its header and its content. A tombstone's document has nothing but its identity."""

    header: Header
    document: Document
    purge: PurgeProof | None = None
    size: int = 0
    """Bytes in the store: of the object, and of the blobs that are objects of their own."""
    etag: str | None = field(default=None, compare=False)

    @property
    def is_expired(self) -> bool:
        """Whether its content went because it was old: it is hidden like a tombstone, and may come again."""
        return self.header.operation is Operation.DELETED and self.purge is not None

    def row(self) -> PipeDoc:
        """What the catalogue says of it."""
        document, header, source = self.document, self.header, self.document.source
        return PipeDoc.checked(
            {
                "uuid": document.uuid,
                "account": document.account,
                "connector": document.connector,
                "datasource": document.datasource,
                "doc": document.doc,
                "address": document.address,
                "cluster": document.cluster,
                "digest": header.digest,
                "size": self.size,
                "version": header.version,
                "kind": "intake" if document.is_intake else "state",
                "content_type": source.mime_type,
                "filename": source.filename,
                "source_uri": source.uri,
                "http_status": source.http_status,
                "etag": self.etag,
                "parent_digest": document.parent_digest,
                "steps": document.steps,
                "saved_at": header.saved_at,
                "deleted_at": header.deleted_at,
                "purged_at": self.purge.purged_at if self.purge else None,
                "expired_at": header.deleted_at if self.is_expired else None,
            }
        )
