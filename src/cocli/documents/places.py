"""Where the objects of a document lie. The keys themselves are built by `cocli.keys.paths`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cocli.keys.parts import check_key
from cocli.keys.paths import BlobKey, DamagedKey, document_files, document_folder
from cocli.models.document import StateKey

if TYPE_CHECKING:
    from cocli.documents.document import Document
    from cocli.models.document import DocumentReference, PipeDoc


@dataclass(frozen=True)
class DocumentPlace:
    """The place of one state of one document."""

    prefix: str
    account: str
    connector: str
    datasource: str
    doc: str
    cluster: str | None
    uuid: str

    @classmethod
    def of(cls, prefix: str, what: Document | PipeDoc) -> DocumentPlace:
        return cls(prefix, what.account, what.connector, what.datasource, what.doc, what.cluster, what.uuid)

    @classmethod
    def pointed_at(cls, prefix: str, reference: DocumentReference) -> DocumentPlace:
        from cocli.documents.ids import node_uuid

        uuid = node_uuid(reference.doc, reference.address, reference.account)
        owner = (reference.account, reference.connector, reference.datasource)
        return cls(prefix, *owner, reference.doc, reference.cluster, uuid)

    @property
    def state_key(self) -> StateKey:
        return StateKey(self.uuid, self.cluster, self.connector, self.datasource)

    @cached_property
    def current(self) -> str:
        return document_files(self.folder, self.cluster, self.uuid)[0]

    def version(self, digest: str) -> str:
        key = document_files(self.folder, self.cluster, self.uuid, digest)[1]
        check_key(key)  # the longest key of the document: one that is too long is refused here
        return key

    def blob(self, sha256: str) -> str:
        return str(BlobKey(*self._owner, sha256, self.prefix))

    def damaged(self, sha256: str) -> str:
        return str(DamagedKey(*self._owner, self.cluster or "intake", self.uuid, sha256, self.prefix))

    @cached_property
    def folder(self) -> str:
        """Of the document: every state, version and blob of it in this datasource lies below."""
        return document_folder(self.prefix, *self._owner)

    @property
    def _owner(self) -> tuple[str, str, str, str]:
        return self.account, self.connector, self.datasource, self.doc
