"""Uploads of large blobs: in pieces, resumable, never whole in memory.

The bytes go to the store part by part, into the folder of the document that they will belong to. What arrived is noted
in the catalogue after it is on the disk, so that an upload goes on behind it whatever ends in between: the caller, the
connection, the service. In the end the document is saved with a blob that lists its parts. An upload ends after 20
hours: `fsck --repair` takes parts that nothing refers to for rubbish after a day.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, cast

from cocli.app.documents.documents import BODY, saved
from cocli.documents.catalog.uploads import UploadPart, UploadRow, UploadTable
from cocli.documents.document import Blob
from cocli.documents.limits import MAX_BLOB_BYTES, PART_BYTES, check_size
from cocli.errors import DocumentInvalid, QuotaExceeded, UnknownUpload, UploadOffset

if TYPE_CHECKING:
    from cocli.app.documents.documents import Documents
    from cocli.documents.catalog.sql import SqlCatalog
    from cocli.documents.places import DocumentPlace
    from cocli.documents.receipt import Receipt
    from cocli.documents.save_order import SaveOrder

LIFE = timedelta(hours=20)
OF_ACCOUNT = 100
_HASHES = 1_000
ANY_TYPE = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class LargeBlob:
    """What an upload will be in its document."""

    name: str = BODY
    mime_type: str = ANY_TYPE
    filename: str | None = None
    sha256: str = ""
    """What the bytes must have; empty where it is not known."""


class Uploads:
    """Of all accounts. Safe to share between threads; those who add to one upload at the same time are told so."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._table = UploadTable(cast("SqlCatalog", documents.repository.catalog))
        self._lock = threading.Lock()
        # The hash of what arrived, by upload, as long as this process has seen all of it.
        self._hashes: OrderedDict[str, tuple[int, hashlib._Hash]] = OrderedDict()

    def begin(self, account: str, request: bytes, order: SaveOrder) -> UploadRow:
        """`request` is what is to be saved, kept for later; `order` the same, to be checked now."""
        now = self._documents.store.now()
        self._table.end_expired(now)
        if self._table.count(account, now) >= OF_ACCOUNT:
            raise QuotaExceeded(what="uploads under way", limit=OF_ACCOUNT, wait=60)
        self._place(order).version("0" * 64)  # a key that is too long is refused before the bytes are sent
        row = UploadRow(secrets.token_hex(16), account, request, 0, now + LIFE)
        self._table.begin(row)
        return row

    def find(self, account: str, upload: str) -> UploadRow:
        row = self._table.find(account, upload, self._documents.store.now())
        if row is None:
            raise UnknownUpload(upload=upload[:40])
        return row

    def cancel(self, account: str, upload: str) -> UploadRow:
        row = self.find(account, upload)
        self._table.end(account, upload)
        return row

    def append(self, row: UploadRow, order: SaveOrder, data: bytes) -> UploadRow:
        """Put bytes behind what is there; they are on the disk when this returns. Whole parts are the cheapest."""
        if not data:
            return row
        check_size(order.document.doc, "its blob", row.received + len(data), MAX_BLOB_BYTES)
        place, objects = self._place(order), self._documents.repository.objects
        last, fresh = self._table.last_part(row.upload), data
        number = 0 if last is None else last.number + 1
        if last is not None and last.size < PART_BYTES:
            # The part at the end is not full: it is written again with what comes behind it.
            fresh = b"".join(objects.blob_pieces(place, BODY, Blob(last.sha256, last.size))) + data
            number = last.number
        parts: list[UploadPart] = []
        for begin in range(0, len(fresh), PART_BYTES):
            piece = fresh[begin : begin + PART_BYTES]
            parts.append(UploadPart(number + len(parts), objects.put_part(place, piece), len(piece)))
        grown = replace(row, received=row.received + len(data))
        if not self._table.grow(row, parts, grown.received):
            found = self.find(row.account, row.upload)
            raise UploadOffset(upload=row.upload, offset=found.received, given=row.received)
        self._hash(row, data)
        return grown

    def finish(self, row: UploadRow, order: SaveOrder, blob: LargeBlob) -> Receipt:
        """Save the document with what was uploaded. The upload is over then."""
        document, place = order.document, self._place(order)
        parts = self._table.parts(row.upload)
        made = self._blob(row, place, blob, parts)
        if blob.sha256 not in ("", made.sha256):
            raise DocumentInvalid(doc=document.doc, reason="the bytes that arrived do not have the SHA-256 it names")
        receipt = saved(self._documents, replace(order, document=document.with_blob(blob.name, made)))
        self._table.end(row.account, row.upload)
        with self._lock:
            self._hashes.pop(row.upload, None)
        return receipt

    def _blob(self, row: UploadRow, place: DocumentPlace, blob: LargeBlob, parts: list[UploadPart]) -> Blob:
        objects, names = self._documents.repository.objects, tuple(part.sha256 for part in parts)
        kept = Blob("", row.received, parts=names, part_size=PART_BYTES)
        if row.received <= PART_BYTES:  # no larger than others: as others are
            data = b"".join(objects.blob_pieces(place, blob.name, kept)) if parts else b""
            return Blob.of(data, blob.mime_type, filename=blob.filename)
        with self._lock:
            hashed, found = self._hashes.get(row.upload, (0, None))
        if found is None or hashed != row.received:
            found = hashlib.sha256()
            for piece in objects.blob_pieces(place, blob.name, kept):
                found.update(piece)
        return replace(
            kept,
            sha256=found.hexdigest(),
            mime_type=blob.mime_type,
            filename=blob.filename,
            home=place.folder,
        )

    def _hash(self, row: UploadRow, data: bytes) -> None:
        """Go on with the hash of what arrived. After a restart it is made from the parts, in the end."""
        with self._lock:
            hashed, found = self._hashes.pop(row.upload, (0, hashlib.sha256()))
            if hashed != row.received:
                return  # another process has received some of it
            found.update(data)
            self._hashes[row.upload] = hashed + len(data), found
            if len(self._hashes) > _HASHES:
                self._hashes.popitem(last=False)

    def _place(self, order: SaveOrder) -> DocumentPlace:
        return self._documents.repository.objects.place(order.document)
