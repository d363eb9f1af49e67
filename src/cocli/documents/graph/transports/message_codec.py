"""A reference on its way ⇄ the bytes of a message. Version 1 is protobuf; before it was JSON, which is still read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError

from cocli.documents.proto.generated import message_pb2 as pb
from cocli.errors import CocliError, FormatError
from cocli.formats import json_records
from cocli.models.document import DocumentReference

if TYPE_CHECKING:
    from cocli.documents.graph.transports.base import NodeMessage

VERSION = "1"
_OLDEST = "0"
_PARTS = {
    "account": "account_id",
    "connector": "connector_id",
    "datasource": "datasource_id",
    "doc": "doc_id",
    "address": "address",
    "digest": "digest",
}
"""Of a reference, by their names in a message; the cluster may be missing."""


def render_message(message: NodeMessage) -> bytes:
    return pb.NodeMessage(
        message_id=message.message_id,
        destination=str(message.destination),
        reference=reference_message(message.reference),
    ).SerializeToString(deterministic=True)


def read_message(value: bytes | None, version: str | None, *, topic: str) -> DocumentReference:
    """The reference of a message; `version` is None where none is said. `FormatError` where it cannot be understood."""
    said = version or _OLDEST
    if said == _OLDEST:
        return json_records.read(DocumentReference, value or b"", file=topic)
    if said != VERSION:
        reason = f"the message is of version {said[:20]}, and this program reads {_OLDEST} and {VERSION}"
        raise FormatError(file=topic, line=1, reason=reason)
    try:
        return read_reference(pb.NodeMessage.FromString(value or b"").reference)
    except DecodeError as error:
        raise FormatError(file=topic, line=1, reason=f"not a message: {error}") from error
    except CocliError as error:
        raise FormatError(file=topic, line=1, reason=error.message) from error


def reference_message(reference: DocumentReference) -> pb.StateReference:
    parts = {theirs: getattr(reference, ours) for ours, theirs in _PARTS.items()}
    return pb.StateReference(**parts, cluster=reference.cluster or "")


def read_reference(message: pb.StateReference) -> DocumentReference:
    """`RecordError` for one that points at nothing."""
    parts = {ours: getattr(message, theirs) for ours, theirs in _PARTS.items()}
    return DocumentReference.checked(parts | {"cluster": message.cluster or None})
