"""The objects of one repository: reads states whole and checked, writes new versions without losing the old ones.

Knows the store and nothing of the catalogue. What is read must lie where its own header says, or it is damaged.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from cocli.documents import codec, limits
from cocli.documents.places import DocumentPlace
from cocli.errors import AlreadyExists, DocumentDamaged, DocumentInvalid, NotFound, StoreError
from cocli.store.base import Put, StoredObject
from cocli.store.settled import create, swap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cocli.documents.document import Blob, Document
    from cocli.documents.header import DocumentState
    from cocli.store.base import Store


class DocumentObjects:
    def __init__(self, store: Store, *, prefix: str, inline_limit: int) -> None:
        self.store = store
        self.prefix = prefix
        self._inline_limit = inline_limit

    def place(self, document: Document) -> DocumentPlace:
        return DocumentPlace.of(self.prefix, document)

    # --- reading

    def current(self, place: DocumentPlace) -> tuple[DocumentState, StoredObject] | None:
        """The state at a place and its object; None if there is none."""
        try:
            stored = self.store.get(place.current)
        except NotFound:
            return None
        return self.read(place, stored), stored

    def currents(self, places: Sequence[DocumentPlace]) -> list[tuple[DocumentState, StoredObject] | None]:
        """As `current`, side by side. None also where one cannot be read: whoever asks for it alone learns why."""
        read: list[tuple[DocumentState, StoredObject] | None] = []
        for place, stored in zip(places, self.store.get_many([place.current for place in places]), strict=True):
            state = None
            if isinstance(stored, StoredObject):
                with suppress(DocumentDamaged):
                    state = self.read(place, stored)
            read.append(None if state is None or isinstance(stored, StoreError) else (state, stored))
        return read

    def version(self, place: DocumentPlace, digest: str) -> DocumentState | None:
        """An earlier version."""
        try:
            stored = self.store.get(place.version(digest))
        except NotFound:
            return None
        state = self.read(place, stored)
        if state.header.digest != digest:
            raise DocumentDamaged(doc=place.doc, reason="an earlier version does not have the digest it is named by")
        return state

    def read(self, place: DocumentPlace, stored: StoredObject) -> DocumentState:
        state = codec.decode(stored.data, doc=place.doc, etag=stored.etag)
        if DocumentPlace.of(self.prefix, state.document) != place:
            raise DocumentDamaged(doc=place.doc, reason="an object at its place is another document's")
        document = at_home(state.document, place)
        return state if document is state.document else replace(state, document=document)

    def with_blobs(self, place: DocumentPlace, document: Document) -> Document:
        """The document with the bytes of its blobs that are objects of their own."""
        absent = {name: blob for name, blob in document.blobs.items() if blob.data is None}
        if not absent:
            return document
        found = iter(self.store.get_many([place.blob(sha256) for blob in absent.values() for sha256 in blob.objects]))
        read = {
            name: replace(blob, data=_joined(place, name, blob, [next(found) for _ in blob.objects]))
            for name, blob in absent.items()
        }
        return document.with_blobs({**document.blobs, **read})

    def blob_pieces(
        self, place: DocumentPlace, name: str, blob: Blob, offset: int = 0, length: int | None = None
    ) -> Iterator[bytes]:
        """Some bytes of a blob, a part at a time. Only the parts that are needed are read, and each is checked."""
        until = blob.size if length is None else min(blob.size, offset + length)
        if blob.data is not None:
            yield blob.data[offset:until]
            return
        size = blob.part_size or blob.size
        first = offset // size if size else 0
        for number, sha256 in enumerate(blob.objects[first:], first):
            begin = number * size
            if begin >= until:
                return
            data = self._part(place, name, sha256)
            yield data[max(0, offset - begin) : until - begin]

    def _part(self, place: DocumentPlace, name: str, sha256: str) -> bytes:
        try:
            stored = self.store.get(place.blob(sha256))
        except NotFound as error:
            raise DocumentDamaged(doc=place.doc, reason=f"a part of its blob {name} is missing") from error
        return _checked(place, name, sha256, stored)

    # --- writing

    def put_part(self, place: DocumentPlace, data: bytes) -> str:
        """Write a part of a blob that no state refers to yet; its name."""
        sha256 = hashlib.sha256(data).hexdigest()
        self.store.put(place.blob(sha256), data)
        return sha256

    def encode(self, state: DocumentState) -> tuple[DocumentState, bytes]:
        """The bytes of a state, and the state with its size."""
        data = codec.encode(state, inline_limit=self._inline_limit)
        outside = sum(blob.size for blob in self._external(state.document))
        return replace(state, size=len(data) + outside), data

    def blob_puts(self, place: DocumentPlace, document: Document) -> list[Put]:
        """The writes of blobs that are objects of their own and not there yet.

        They are written even where they are there by chance: that renews their age, so that `fsck` does not take what
        a crash left behind for rubbish while somebody is about to refer to it.
        """
        puts: dict[str, Put] = {}
        for blob in self._external(document):
            if blob.home == place.folder:
                continue
            if blob.data is None:
                raise DocumentInvalid(doc=place.doc, reason="it has a blob of another document that was not read")
            pieces = [blob.data] if blob.size <= limits.PART_BYTES else codec.pieces_of(blob.data)
            for sha256, piece in zip(codec.parted(blob).objects, pieces, strict=True):
                key = place.blob(sha256)
                puts[key] = Put(key, piece)
        return list(puts.values())

    def put_blobs(self, place: DocumentPlace, document: Document) -> None:
        for put in self.blob_puts(place, document):
            self.store.put(put.key, put.data)

    def create(self, place: DocumentPlace, data: bytes) -> str | None:
        """Write the first version: its etag, or None if there is one already."""
        return create(self.store, place.current, data)

    def supersede(self, place: DocumentPlace, there: DocumentState, stored: StoredObject, data: bytes) -> str | None:
        """Keep what is there under its digest, then put the new version in its place; None if others were faster."""
        if there.header.deleted_at is None:
            create(self.store, place.version(there.header.digest), stored.data)
        return swap(self.store, place.current, data, stored.etag)

    def keep_all(self, states: Sequence[tuple[DocumentPlace, DocumentState, StoredObject]]) -> list[bool]:
        """Keep what is about to be replaced under its digest, as `supersede` does; which of them are kept."""
        puts = [Put(place.version(there.header.digest), stored.data, if_absent=True) for place, there, stored in states]
        answers = self.store.put_many(puts)
        return [isinstance(answer, str | AlreadyExists) for answer in answers]

    def overwrite(self, place: DocumentPlace, stored: StoredObject, data: bytes) -> str | None:
        """Put something in the place of a version that is not to be kept; None if others were faster."""
        return swap(self.store, place.current, data, stored.etag)

    def read_many(self, keys: Sequence[str]) -> list[DocumentState]:
        """The states at some keys; one that is gone meanwhile is left out."""
        found = []
        for stored in self.store.get_many(keys):
            if isinstance(stored, NotFound):
                continue
            if isinstance(stored, StoreError):
                raise stored
            found.append(codec.decode(stored.data, doc=stored.key, etag=stored.etag))
        return found

    def _external(self, document: Document) -> Iterable[Blob]:
        return (blob for blob in document.blobs.values() if codec.external(blob, self._inline_limit))


def at_home(document: Document, place: DocumentPlace) -> Document:
    """The document with blobs that know where they lie."""
    if all(blob.data is not None for blob in document.blobs.values()):
        return document
    home = place.folder
    return document.with_blobs(
        {name: replace(blob, home=home) if blob.data is None else blob for name, blob in document.blobs.items()}
    )


def _joined(place: DocumentPlace, name: str, blob: Blob, found: Sequence[StoredObject | StoreError]) -> bytes:
    if not blob.parts:
        return _checked(place, name, blob.sha256, found[0])
    parts = [_checked(place, name, sha256, stored) for sha256, stored in zip(blob.parts, found, strict=True)]
    data = b"".join(parts)
    if hashlib.sha256(data).hexdigest() != blob.sha256:
        raise DocumentDamaged(doc=place.doc, reason=f"the bytes of its blob {name} are not those that were saved")
    return data


def _checked(place: DocumentPlace, name: str, sha256: str, found: StoredObject | StoreError) -> bytes:
    if isinstance(found, NotFound):
        raise DocumentDamaged(doc=place.doc, reason=f"its blob {name} is missing") from found
    if isinstance(found, StoreError):
        raise found
    if hashlib.sha256(found.data).hexdigest() != sha256:
        raise DocumentDamaged(doc=place.doc, reason=f"the bytes of its blob {name} are not those that were saved")
    return found.data


def check_document(document: Document) -> None:
    """What no object and no row could hold is refused before anything is written."""
    source = document.source
    for what, text in (("uri", source.uri), ("mime type", source.mime_type), ("file name", source.filename)):
        if text is not None and ("\0" in text or len(text) > limits.MAX_TEXT):
            raise DocumentInvalid(doc=document.doc, reason=f"the {what} of its source has a NUL or is too long")
    limits.check_size(document.doc, "its number of blobs", len(document.blobs), limits.MAX_BLOBS)
    for name, blob in document.blobs.items():
        limits.check_size(document.doc, f"its blob {name[:40]}", blob.size, limits.MAX_BLOB_BYTES)
