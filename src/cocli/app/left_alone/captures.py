"""Captured pages and what was made of them, without somebody: redacted where the rest stays usable, else emptied.

Redacting is the same on every machine: the same capture without the same values is the same bytes, so that copies that
are redacted apart from each other still agree. The capture says that it was redacted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cocli.documents import codec
from cocli.documents.document import Blob
from cocli.errors import CocliError, DocumentDamaged
from cocli.keys.paths import BlobKey, ClusterVersionKey, DamagedKey, IntakeVersionKey, parse
from cocli.pipeline.websites.facts.emails.find import find_emails
from cocli.pipeline.websites.page.charset import decode as decode_page
from cocli.pipeline.websites.page.walk import parse_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.app.left_alone.changes import StoreChanges
    from cocli.app.left_alone.matcher import SubjectMatcher
    from cocli.documents.document import Document
    from cocli.documents.header import DocumentState
    from cocli.store.base import StoredObject

REDACTED = "x-cocli-redacted"
"""The header under which a capture says it."""
_SAID = "values of somebody who asked to be forgotten were taken out"
_INLINE = 1 << 40
"""What lay in a document stays in it, what was an object of its own stays one."""
_PAGES = ("text/html", "application/xhtml+xml")


def redacted_document(document: Document, matcher: SubjectMatcher, blobs: dict[str, Blob] | None = None) -> Document:
    """The document without them; itself where it has nothing of them. `blobs` are new ones, by the old SHA-256."""
    key, changed = _name(document), document
    for node, values in document.data.items():
        pruned = matcher.pruned(values) if matcher.finds(key, _text(values)) else values
        if pruned != values:
            changed = changed.with_data(node, pruned)
    for name, blob in document.blobs.items():
        new = _new_blob(key, blob, matcher, blobs or {})
        if new != blob:
            changed = changed.with_blob(name, new)
    scrub = matcher.full.text
    faults = tuple(replace(fault, message=scrub(fault.message)) for fault in document.errors)
    if faults != document.errors:
        changed = replace(changed, errors=faults)
    source = document.source
    headers = {name: scrub(value) for name, value in source.headers.items()}
    filename = scrub(source.filename) if source.filename else source.filename
    if changed is document and headers == dict(source.headers) and filename == source.filename:
        return document
    return changed.with_source(replace(source, headers={**headers, REDACTED: _SAID}, filename=filename))


def names_somebody(mime_type: str, data: bytes, matcher: SubjectMatcher) -> bool:
    """Whether the bytes of a blob name them, also where a page hides an address from programs."""
    try:
        found = matcher.finds_in("", data)
    except (ValueError, OSError):
        found = matcher.strong.finds(data.decode("utf-8", "replace"))
    if found or not is_page(mime_type):
        return found
    has_addresses = matcher.listed.names("email") or matcher.listed.names("domain")
    return has_addresses and _still_shown(data, matcher)


def is_page(mime_type: str) -> bool:
    return mime_type.partition(";")[0].strip().lower() in _PAGES


def _name(document: Document) -> str:
    return f"{document.doc} {document.source.uri or ''}"


def _text(values: Any) -> str:
    import json

    return json.dumps(values, ensure_ascii=False)


def _new_blob(key: str, blob: Blob, matcher: SubjectMatcher, known: dict[str, Blob]) -> Blob:
    if blob.data is None:
        new = known.get(blob.sha256)
        return blob if new is None else replace(blob, sha256=new.sha256, size=new.size)
    data = redacted_blob(key, blob.mime_type, blob.data, matcher)
    return blob if data == blob.data else Blob.of(data, blob.mime_type, filename=blob.filename)


def redacted_blob(key: str, mime_type: str, data: bytes, matcher: SubjectMatcher) -> bytes:
    """Bytes without them. A page that still shows an address to whoever reads it (in a script, say) is emptied."""
    try:
        found = matcher.finds_in(key, data)
    except (ValueError, OSError):
        found = matcher.strong.finds(data.decode("utf-8", "replace"))
    kept = matcher.redacted(key, data) if found else data
    if found and (matcher.finds_in(key, kept) or data[:4] == b"PAR1"):
        return b""
    if (
        is_page(mime_type)
        and matcher.listed.names("email")
        and (found or matcher.is_near(key))
        and _still_shown(kept, matcher)
    ):
        return b""
    return kept


def _still_shown(data: bytes, matcher: SubjectMatcher) -> bool:
    try:
        page = parse_page(decode_page(data, None), "http://page.invalid/")
        shown = find_emails(page)
        values = [*(finding.value for finding in shown.found), *(finding.value for finding in shown.rejected)]
        return any(map(matcher.listed.email, values))
    except (CocliError, ValueError, RecursionError):
        return False  # no page that can be read: nothing is read from it


class CaptureSweep:
    """One document of a datasource: its states, their versions, and its blobs."""

    def __init__(self, changes: StoreChanges, matcher: SubjectMatcher) -> None:
        self._changes = changes
        self._matcher = matcher
        self.states: list[DocumentState] = []
        """States that are redacted: what a catalogue says of them is not so any more."""

    def sweep(self, objects: Sequence[StoredObject]) -> None:
        if any(self._matcher.is_theirs(stored.key) for stored in objects[:1]):
            for stored in objects:
                self._changes.remove("capture", stored)
            return
        proved = [stored for stored in objects if self._matcher.is_proved(stored.data)]
        for stored in proved:
            self._changes.drop("capture", stored)
        objects = [stored for stored in objects if stored not in proved]
        blobs = {stored.key: stored for stored in objects if BlobKey.fits(stored.key)}
        rest = [stored for stored in objects if stored.key not in blobs]
        folder = self._folder_name(rest)
        new = {key: self._blob(folder, stored, rest) for key, stored in blobs.items()}
        by_sha = {str(BlobKey.parse(key).sha256): blob for key, blob in new.items() if blob is not None}
        for key, blob in new.items():
            if blob is not None and not self._changes.dry_run:
                path = key.rpartition("/")[0]
                self._changes.store.put(f"{path}/{blob.sha256}.bin", blob.content)
        for stored in rest:
            self._state(stored, by_sha)
        for key, blob in new.items():  # last: until then the states that are there have their blobs
            if blob is not None:
                self._changes.remove("capture", blobs[key])

    def sweep_alone(self, stored: StoredObject) -> None:
        """An object without those that lie beside it. What a blob was is not known then: it may have been a page."""
        if not BlobKey.fits(stored.key):
            self._state(stored, {})
        elif redacted_blob(stored.key, _PAGES[0], stored.data, self._matcher) != stored.data:
            self._changes.remove("capture", stored)

    def _folder_name(self, states: Sequence[StoredObject]) -> str:
        for stored in states:
            state = _read(stored)
            if state is not None:
                return _name(state.document)
        return states[0].key if states else ""

    def _blob(self, key: str, stored: StoredObject, states: Sequence[StoredObject]) -> Blob | None:
        sha256 = str(BlobKey.parse(stored.key).sha256)
        documents = [state.document for object_ in states if (state := _read(object_))]
        kinds = [blob.mime_type for doc in documents for blob in doc.blobs.values() if blob.sha256 == sha256]
        mime_type = kinds[0] if kinds else "application/octet-stream"
        data = redacted_blob(key, mime_type, stored.data, self._matcher)
        return None if data == stored.data else Blob.of(data, mime_type)

    def _state(self, stored: StoredObject, blobs: dict[str, Blob]) -> None:
        state = None if DamagedKey.fits(stored.key) else _read(stored)
        if state is None:
            if self._matcher.finds_in(stored.key, stored.data):
                self._changes.remove("damaged capture", stored)
            return
        document = redacted_document(state.document, self._matcher, blobs)
        if document is state.document:
            return
        header = replace(state.header, digest=document.digest)
        new = replace(state, header=header, document=document)
        data = codec.encode(new, inline_limit=_INLINE)
        kind = parse(stored.key)
        if isinstance(kind, (IntakeVersionKey, ClusterVersionKey)):
            path = stored.key.rpartition("/")[0]
            self._changes.rename("capture", stored, f"{path}/{document.digest}.pb", data)
        else:
            etag = self._changes.replace("capture", stored, data)
            outside = sum(blob.size for blob in document.blobs.values() if blob.data is None)
            self.states.append(replace(new, size=len(data) + outside, etag=etag))


def _read(stored: StoredObject) -> DocumentState | None:
    try:
        return codec.decode(stored.data, etag=stored.etag)
    except DocumentDamaged:
        return None
