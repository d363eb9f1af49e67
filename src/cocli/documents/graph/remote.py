"""A node that runs elsewhere: calls `ProcessDocument` of a module by gRPC. Needs the extra `grpc`.

Nothing is stored on the way. A document larger than `max_bytes` goes by reference: its state is saved as a messaging
edge would save it, and the module reads it from the store itself.
"""

from __future__ import annotations

import json
import os
import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cocli.documents import codec
from cocli.documents.graph.remote_address import PLAIN, SECURE, address_fault
from cocli.documents.graph.transports.message_codec import reference_message
from cocli.documents.proto.generated import module_pb2 as pb
from cocli.errors import ConfigError, MissingExtra, NodeFailed, NodeInterrupted
from cocli.retries import Backoff

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.documents.document import Document
    from cocli.documents.graph.node import NodeContext

METHOD = "/cocli.documents.v1.DocumentModule/ProcessDocument"
TOKEN = "COCLI_MODULE_TOKEN"  # noqa: S105 - the name of a variable
AUTHORITY = "COCLI_MODULE_CA"
MAX_MESSAGE = 64 * 1024 * 1024
"""Of an answer: a state may have as much."""
_PASSING = ("UNAVAILABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED", "ABORTED", "UNAUTHENTICATED", "PERMISSION_DENIED")
_BACKOFF = Backoff(first=0.2, longest=5.0)


@dataclass(frozen=True, slots=True)
class RemoteSettings:
    """Where a module is, how long it may take, how often it is asked, and how much is sent along."""

    address: str
    deadline_seconds: float = 30.0
    attempts: int = 3
    max_bytes: int = 3 * 1024 * 1024


class RemoteNode:
    """The function of a node. Safe to share between threads; the connection is made with the first document."""

    def __init__(self, settings: RemoteSettings, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self.settings = settings
        self._sleep = sleep
        self._lock = threading.Lock()
        self._ask: Any = None

    def __call__(self, document: Document, context: NodeContext) -> Document | None:
        request = self._request(document, context)
        response = self._answer(request, context)
        kind = response.WhichOneof("result")
        if kind == "filtered":
            return None
        if kind != "document":
            raise NodeFailed(node=context.node, reason="the module answered without a document")
        return _with_known_blobs(codec.from_message(response.document), document)

    def _request(self, document: Document, context: NodeContext) -> pb.ProcessDocumentRequest:
        request = pb.ProcessDocumentRequest(
            node=context.node,
            version=context.version,
            config_json=json.dumps(dict(context.config), sort_keys=True),
            cluster=context.edition,
            input_digest=context.input_digest,
        )
        message = codec.to_message(document)
        if message.ByteSize() <= self.settings.max_bytes or context.given is None:
            request.document.CopyFrom(message)
        else:
            kept = context.repository.save(context.given)
            request.reference.CopyFrom(reference_message(kept.reference))
        return request

    def _answer(self, request: pb.ProcessDocumentRequest, context: NodeContext) -> pb.ProcessDocumentResponse:
        import grpc

        for attempt in range(1, self.settings.attempts + 1):
            context.check()
            try:
                answer: pb.ProcessDocumentResponse = self._connected()(
                    request, timeout=self.settings.deadline_seconds, metadata=_metadata()
                )
                return answer
            except grpc.RpcError as error:
                status, said = error.code().name, error.details() or ""
                reason = f"the module at {self.settings.address} answered {status}: {said[:500]}"
                if status not in _PASSING:
                    raise NodeFailed(node=context.node, reason=reason) from error
                if attempt == self.settings.attempts:
                    raise NodeInterrupted(node=context.node, reason=reason) from error
            self._sleep(_BACKOFF.ceiling(attempt))
        raise NodeInterrupted(node=context.node, reason="it was not asked at all")

    def _connected(self) -> Any:
        with self._lock:
            if self._ask is None:
                self._ask = _channel(self.settings).unary_unary(
                    METHOD,
                    request_serializer=pb.ProcessDocumentRequest.SerializeToString,
                    response_deserializer=pb.ProcessDocumentResponse.FromString,
                )
            return self._ask


def _channel(settings: RemoteSettings) -> Any:
    try:
        import grpc
    except ImportError as error:
        raise MissingExtra(feature="A node that runs elsewhere", package="grpcio", extra="grpc") from error
    if fault := address_fault(settings.address):
        raise ConfigError(reason=fault)
    options = [
        ("grpc.max_receive_message_length", MAX_MESSAGE),
        ("grpc.max_send_message_length", MAX_MESSAGE),
        ("grpc.initial_reconnect_backoff_ms", 200),
        ("grpc.max_reconnect_backoff_ms", 2000),
        ("grpc.enable_http_proxy", 0),
    ]
    bare = settings.address.removeprefix(SECURE).removeprefix(PLAIN)
    if not settings.address.startswith(SECURE):
        return grpc.insecure_channel(bare, options)
    roots = None
    if authority := os.environ.get(AUTHORITY):
        with open(authority, "rb") as file:
            roots = file.read()
    return grpc.secure_channel(bare, grpc.ssl_channel_credentials(roots), options)


def _metadata() -> list[tuple[str, str]]:
    token = os.environ.get(TOKEN)
    return [("authorization", f"Bearer {token}")] if token else []


def _with_known_blobs(output: Document, given: Document) -> Document:
    """A module need not send back what it was sent."""
    known = {blob.sha256: blob for blob in given.blobs.values()}
    blobs = {
        name: known[blob.sha256] if blob.data is None and blob.sha256 in known else blob
        for name, blob in output.blobs.items()
    }
    return replace(output, blobs=blobs)
