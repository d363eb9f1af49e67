"""A state of a document ⇄ the bytes of its object. The same state gives the same bytes.

Reading checks everything: what does not parse, or whose content does not have the digest of its header, is
`DocumentDamaged`. Whether an object lies where it should is checked by who knows where it was found.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError

from cocli.documents import limits
from cocli.documents.digest import content_digest
from cocli.documents.document import Blob, Document, DocumentSource, Fault
from cocli.documents.header import DocumentState, Header, Operation, PurgeProof, RemovedObject
from cocli.documents.proto.generated import document_pb2 as pb
from cocli.errors import CocliError, DocumentDamaged, DocumentInvalid
from cocli.models.document import Step

if TYPE_CHECKING:
    from google.protobuf.timestamp_pb2 import Timestamp

_EVERYTHING = 1 << 62
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_OPERATIONS = {operation: pb.Operation.Value(f"OPERATION_{operation.name}") for operation in Operation}
_NAMES = {number: operation for operation, number in _OPERATIONS.items()}


def encode(state: DocumentState, *, inline_limit: int = limits.INLINE_LIMIT) -> bytes:
    document = state.document
    try:
        data = _message(state, inline_limit).SerializeToString(deterministic=True)
    except (ValueError, TypeError) as error:
        raise DocumentInvalid(doc=document.doc, reason=str(error)) from error
    limits.check_size(document.doc, "it", len(data), limits.MAX_STATE_BYTES)
    return data


def decode(data: bytes, *, doc: str = "?", etag: str | None = None) -> DocumentState:
    """`doc` is what the document is called in an error, where its own bytes cannot be trusted."""
    try:
        message = pb.PipeDoc.FromString(data)
        state = _state(message, data, etag)
    except (DecodeError, ValueError, TypeError, KeyError, RecursionError, OverflowError) as error:
        raise DocumentDamaged(doc=doc, reason=f"its object is no document: {error}") from error
    except DocumentDamaged:
        raise
    except CocliError as error:
        raise DocumentDamaged(doc=doc, reason=f"its object is no document: {error.message}") from error
    if state.header.deleted_at is None:
        _check_digest(state, doc)
    return state


def to_message(document: Document) -> pb.PipeDoc:
    """A document for somebody else: with the bytes of every blob that was read, and its place for a header."""
    header = pb.StateHeader(
        uuid=document.uuid,
        address=document.address,
        cluster=document.cluster or "",
        digest=document.digest,
        parent_digest=document.parent_digest or "",
    )
    return _content(document, header, _EVERYTHING)


def from_message(message: pb.PipeDoc) -> Document:
    """A document that somebody else made. What it says of its own digests is checked, or made anew."""
    for what, names in (
        ("blobs", [blob.name for blob in message.blobs]),
        ("results of nodes", [part.node for part in message.data]),
    ):
        if len(set(names)) < len(names):
            raise DocumentInvalid(doc=message.doc_id[:80] or "?", reason=f"two of its {what} have one name")
    try:
        return _document(message, trusted=False)
    except (ValueError, TypeError, RecursionError, OverflowError) as error:
        doc = message.doc_id[:80] or "?"
        raise DocumentInvalid(doc=doc, reason=f"its message is no document: {error}") from error


def external(blob: Blob, inline_limit: int) -> bool:
    """Whether the bytes of a blob are an object of their own."""
    return blob.data is None or blob.size > inline_limit


def parted(blob: Blob) -> Blob:
    """The blob with its parts, where it is so large that it has some."""
    if blob.data is None or blob.size <= limits.PART_BYTES:
        return blob
    parts = tuple(hashlib.sha256(piece).hexdigest() for piece in pieces_of(blob.data))
    return replace(blob, parts=parts, part_size=limits.PART_BYTES)


def pieces_of(data: bytes) -> list[bytes]:
    """The bytes of each part."""
    return [data[begin : begin + limits.PART_BYTES] for begin in range(0, len(data), limits.PART_BYTES)]


def _check_digest(state: DocumentState, doc: str) -> None:
    document = state.document
    for name, blob in document.blobs.items():
        if blob.data is not None and hashlib.sha256(blob.data).hexdigest() != blob.sha256:
            raise DocumentDamaged(doc=doc, reason=f"the bytes of its blob {name} are not those that were saved")
    if document.digest != state.header.digest:
        raise DocumentDamaged(doc=doc, reason="its content does not have the digest that its header names")


# --- to a message


def _message(state: DocumentState, inline_limit: int) -> pb.PipeDoc:
    message = _content(state.document, _header(state), inline_limit)
    if state.purge is not None:
        message.purge.CopyFrom(_proof(state.purge))
    return message


def _content(document: Document, header: pb.StateHeader, inline_limit: int) -> pb.PipeDoc:
    return pb.PipeDoc(
        doc_id=document.doc,
        ownership=pb.Ownership(
            account_id=document.account, datasource_id=document.datasource, connector_id=document.connector
        ),
        state=header,
        source=_source(document.source),
        blobs=[_blob(name, document.blobs[name], inline_limit) for name in sorted(document.blobs)],
        data=[pb.NodeData(node=node, json=text) for node, text in sorted(document.canonical_data.items())],
        steps=[
            pb.Step(node=step.node, code_digest=step.code_digest, input_digest=step.input_digest, at=_time(step.at))
            for step in document.steps
        ],
        errors=[
            pb.Fault(
                node=fault.node, code=fault.code, message=fault.message, retryable=fault.retryable, at=_time(fault.at)
            )
            for fault in document.errors
        ],
    )


def _header(state: DocumentState) -> pb.StateHeader:
    document, header = state.document, state.header
    return pb.StateHeader(
        uuid=document.uuid,
        address=document.address,
        cluster=document.cluster or "",
        version=header.version,
        digest=header.digest,
        parent_digest=document.parent_digest or "",
        saved_at=_time(header.saved_at),
        deleted_at=_time(header.deleted_at),
        deleted_by=header.deleted_by,
        saved_by=header.saved_by,
        operation=_OPERATIONS[header.operation],
        destinations=header.destinations,
    )


def _source(source: DocumentSource) -> pb.Source:
    return pb.Source(
        uri=source.uri or "",
        mime_type=source.mime_type or "",
        fetched_at=_time(source.fetched_at),
        http_status=source.http_status or 0,
        headers=[pb.HttpHeader(name=name, value=source.headers[name]) for name in sorted(source.headers)],
        filename=source.filename or "",
    )


def _blob(name: str, blob: Blob, inline_limit: int) -> pb.Blob:
    blob = parted(blob) if external(blob, inline_limit) else blob
    return pb.Blob(
        name=name,
        parts=[bytes.fromhex(part) for part in blob.parts],
        part_size=blob.part_size,
        mime_type=blob.mime_type,
        filename=blob.filename or "",
        size=blob.size,
        sha256=blob.sha256,
        data=None if external(blob, inline_limit) else blob.data,
    )


def _proof(proof: PurgeProof) -> pb.PurgeProof:
    return pb.PurgeProof(
        begun_at=_time(proof.begun_at),
        purged_at=_time(proof.purged_at),
        purged_by=proof.purged_by,
        reason=proof.reason,
        removed=[
            pb.RemovedObject(
                kind=removed.kind,
                cluster=removed.cluster or "",
                uuid=removed.uuid,
                digest=removed.digest,
                size=removed.size,
            )
            for removed in proof.removed
        ],
    )


def _time(moment: datetime | None) -> Timestamp | None:
    if moment is None:
        return None
    from google.protobuf.timestamp_pb2 import Timestamp

    since = moment - _EPOCH
    return Timestamp(seconds=since.days * 86_400 + since.seconds, nanos=since.microseconds * 1000)


# --- from a message


def _state(message: pb.PipeDoc, data: bytes, etag: str | None) -> DocumentState:
    head = message.state
    header = Header(
        version=head.version,
        digest=head.digest,
        saved_at=_needed(head, "saved_at"),
        operation=_NAMES[head.operation],
        destinations=tuple(head.destinations),
        deleted_at=_moment(head, "deleted_at"),
        deleted_by=head.deleted_by,
        saved_by=head.saved_by,
    )
    document = _document(message)
    if document.uuid != head.uuid:
        raise ValueError("its uuid does not follow from its identity")
    if len(header.digest) != 64 or header.version < 1:
        raise ValueError("its header is incomplete")
    outside = sum(blob.size for blob in document.blobs.values() if blob.data is None)
    purge = _purge(message.purge) if message.HasField("purge") else None
    return DocumentState(header, document, purge, len(data) + outside, etag)


def _document(message: pb.PipeDoc, *, trusted: bool = True) -> Document:
    owner, head = message.ownership, message.state
    texts = {part.node: part.json for part in message.data}
    document = Document(
        account=owner.account_id,
        connector=owner.connector_id,
        datasource=owner.datasource_id,
        doc=message.doc_id,
        address=head.address,
        cluster=head.cluster or None,
        source=_read_source(message.source),
        blobs={blob.name: _read_blob(blob) if trusted else _checked_blob(blob) for blob in message.blobs},
        data={node: json.loads(text) for node, text in texts.items()},
        steps=tuple(
            Step(node=step.node, code_digest=step.code_digest, input_digest=step.input_digest, at=_needed(step, "at"))
            for step in message.steps
        ),
        errors=tuple(
            Fault(fault.node, fault.code, fault.message, fault.retryable, _moment(fault, "at"))
            for fault in message.errors
        ),
        parent_digest=head.parent_digest or None,
    )
    if not trusted:
        return document
    # The texts as they were read: checking the digest costs no second rendering, and sees every byte.
    document.__dict__["canonical_data"] = texts
    document.__dict__["digest"] = content_digest(document.source, document.blobs, texts, document.errors)
    return document


def _read_source(source: pb.Source) -> DocumentSource:
    return DocumentSource(
        uri=source.uri or None,
        mime_type=source.mime_type or None,
        fetched_at=_moment(source, "fetched_at"),
        http_status=source.http_status or None,
        headers={header.name: header.value for header in source.headers},
        filename=source.filename or None,
    )


def _read_blob(blob: pb.Blob) -> Blob:
    data = blob.data if blob.HasField("data") else None
    parts = tuple(part.hex() for part in blob.parts)
    return Blob(
        blob.sha256,
        blob.size,
        blob.mime_type,
        blob.filename or None,
        data,
        parts=parts,
        part_size=blob.part_size,
    )


def _checked_blob(blob: pb.Blob) -> Blob:
    if not blob.HasField("data"):
        return replace(_read_blob(blob), parts=(), part_size=0)  # which parts it has is known where it lies
    made = Blob.of(blob.data, blob.mime_type or "application/octet-stream", filename=blob.filename or None)
    if blob.sha256 not in ("", made.sha256):
        raise ValueError(f"the bytes of its blob {blob.name[:80]} do not have the SHA-256 that it names")
    return made


def _purge(proof: pb.PurgeProof) -> PurgeProof:
    removed = tuple(
        RemovedObject(
            removed_object.kind,
            removed_object.cluster or None,
            removed_object.uuid,
            removed_object.digest,
            removed_object.size,
        )
        for removed_object in proof.removed
    )
    return PurgeProof(_needed(proof, "begun_at"), proof.purged_by, proof.reason, removed, _moment(proof, "purged_at"))


def _needed(message: pb.StateHeader | pb.Step | pb.PurgeProof, name: str) -> datetime:
    moment = _moment(message, name)
    if moment is None:
        raise ValueError(f"{name} is missing")
    return moment


def _moment(message: pb.StateHeader | pb.Step | pb.Source | pb.Fault | pb.PurgeProof, name: str) -> datetime | None:
    if not message.HasField(name):  # type: ignore[arg-type]
        return None
    stamp: Timestamp = getattr(message, name)
    return _EPOCH + timedelta(seconds=stamp.seconds, microseconds=stamp.nanos // 1000)
