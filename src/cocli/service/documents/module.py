"""Serves nodes of a graph to others: `ProcessDocument` by gRPC. The caller saves and routes what comes back."""

from __future__ import annotations

import hmac
import json
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cocli import logs
from cocli.documents import codec
from cocli.documents.graph.node import NodeContext
from cocli.documents.graph.remote import MAX_MESSAGE, METHOD, TOKEN
from cocli.documents.graph.remote_address import is_loopback
from cocli.documents.graph.transports.message_codec import read_reference
from cocli.documents.proto.generated import module_pb2 as pb
from cocli.errors import CocliError, ConfigError, MissingExtra, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from datetime import datetime

    from cocli.documents.document import Document
    from cocli.documents.graph.graph import Graph
    from cocli.documents.repository import DocumentRepository
    from cocli.service.listener import Tls

_LOG = logs.get_logger(__name__)
_GRACE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class ModuleSettings:
    host: str
    port: int
    nodes: Collection[str]
    workers: int = 4
    token: str | None = None
    """What callers have to know; beyond this machine there has to be one."""
    tls: Tls | None = None


@contextmanager
def serving_module(
    graph: Graph, repository: DocumentRepository, settings: ModuleSettings, clock: Callable[[], datetime]
) -> Iterator[str]:
    """Serve until the block ends; where."""
    try:
        import grpc
    except ImportError as error:
        raise MissingExtra(feature="A module", package="grpcio", extra="grpc") from error
    from concurrent.futures import ThreadPoolExecutor

    _check(settings)
    handler = ModuleHandler(graph, repository, settings, clock)
    served = grpc.method_handlers_generic_handler(
        METHOD.split("/")[1],
        {
            METHOD.split("/")[2]: grpc.unary_unary_rpc_method_handler(
                handler.process,
                request_deserializer=pb.ProcessDocumentRequest.FromString,
                response_serializer=pb.ProcessDocumentResponse.SerializeToString,
            )
        },
    )
    server = grpc.server(
        ThreadPoolExecutor(settings.workers, thread_name_prefix="module"),
        [served],
        options=[("grpc.max_receive_message_length", MAX_MESSAGE), ("grpc.max_send_message_length", MAX_MESSAGE)],
        maximum_concurrent_rpcs=settings.workers * 4,
    )
    address = f"{settings.host}:{settings.port}"
    if settings.tls is None:
        port = server.add_insecure_port(address)
    else:
        credentials = grpc.ssl_server_credentials([(settings.tls.key, settings.tls.certificate)])
        port = server.add_secure_port(address, credentials)
    server.start()
    try:
        yield f"{settings.host}:{port}"
    finally:
        server.stop(_GRACE_SECONDS).wait()


def _check(settings: ModuleSettings) -> None:
    if is_loopback(settings.host):
        return
    if settings.tls is None:
        hint = "Set tls_certificate and tls_key under [documents]."
        raise ConfigError(reason=f"{settings.host} is seen by other machines, and there is no certificate", hint=hint)
    if not settings.token:
        hint = f"Set {TOKEN} here and for those who call: a secret of 32 characters or more."
        raise ConfigError(reason=f"{settings.host} is seen by other machines, and callers need no token", hint=hint)


class ModuleHandler:
    def __init__(
        self,
        graph: Graph,
        repository: DocumentRepository,
        settings: ModuleSettings,
        clock: Callable[[], datetime],
    ) -> None:
        for node in settings.nodes:
            graph.node(node)
        self._graph = graph
        self._repository = repository
        self._settings = settings
        self._clock = clock

    def process(self, request: pb.ProcessDocumentRequest, call: Any) -> pb.ProcessDocumentResponse:
        import grpc

        codes = grpc.StatusCode
        if not self._is_allowed(call):
            call.abort(codes.UNAUTHENTICATED, f"the token is not that of {TOKEN} here")
        if request.node not in self._settings.nodes:
            call.abort(codes.NOT_FOUND, f"there is no node {request.node[:60]} here")
        try:
            output = self._output(request)
        except CocliError as error:
            call.abort(codes.UNAVAILABLE if error.retryable else codes.INVALID_ARGUMENT, error.message)
        except (TimeoutError, ConnectionError) as error:
            call.abort(codes.UNAVAILABLE, f"{type(error).__name__}: {error}")
        except Exception as error:  # noqa: BLE001  somebody else's code: whatever it raises is told to the caller
            _LOG.warning("node %s failed", request.node, exc_info=error)
            call.abort(codes.INVALID_ARGUMENT, f"{type(error).__name__}: {error}")
        if output is None:
            return pb.ProcessDocumentResponse(filtered=True)
        response = pb.ProcessDocumentResponse(document=codec.to_message(output))
        if response.ByteSize() > MAX_MESSAGE:
            call.abort(codes.FAILED_PRECONDITION, f"the answer has more than {MAX_MESSAGE:,} bytes")
        return response

    def _is_allowed(self, call: Any) -> bool:
        if not self._settings.token:
            return True
        said = dict(call.invocation_metadata()).get("authorization", "")
        return hmac.compare_digest(str(said).encode(), f"Bearer {self._settings.token}".encode())

    def _output(self, request: pb.ProcessDocumentRequest) -> Document | None:
        node = self._graph.node(request.node)
        config = json.loads(request.config_json or "{}")
        if not isinstance(config, dict):
            raise UsageError(reason="the configuration is no JSON object")
        given = self._given(request)
        context = NodeContext(
            node=node.name,
            version=request.version,
            config=config,
            edition=request.cluster,
            now=self._clock(),
            input_digest=request.input_digest,
            repository=self._repository,
        )
        output = node.function(given, context)
        if output is None:
            return None
        sent = {blob.sha256 for blob in given.blobs.values()}
        spared = {name: replace(blob, data=None) for name, blob in output.blobs.items() if blob.sha256 in sent}
        return replace(output, blobs={**output.blobs, **spared})

    def _given(self, request: pb.ProcessDocumentRequest) -> Document:
        kind = request.WhichOneof("input")
        if kind == "reference":
            reference = read_reference(request.reference)
            kept = self._repository.get(reference.account, reference, blobs=True)
            return kept.at(request.node, request.cluster)
        if kind != "document":
            raise UsageError(reason="the request has no document")
        return codec.from_message(request.document)
