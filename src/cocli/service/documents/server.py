"""Both servers in one process: opened on their addresses, with TLS where it is configured, until told to stop."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.errors import MissingExtra, ServiceUnavailable, UsageError
from cocli.service.listener import GRACE_SECONDS, bracketed, check_encrypted, listening, load_tls, served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from cocli.app.documents.documents import Documents
    from cocli.app.documents.tokens import Tokens
    from cocli.models.campaign import DocumentsSection
    from cocli.service.listener import Tls

_THREADS = 16
_WAITING = 64
"""Calls that may wait for a thread; more are refused at once, to be tried again."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What is to be served, beside what is configured."""

    grpc: bool = True
    http: bool = True
    insecure: bool = False
    graph: str | None = None


@dataclass(frozen=True, slots=True)
class Served:
    """Where the servers listen; None for one that was not asked for."""

    grpc: str | None
    http: str | None
    tls: bool


@contextmanager
def serving(
    documents: Documents,
    tokens: Tokens,
    settings: ServerSettings,
    *,
    clock: Callable[[], datetime],
    log: Callable[[str], None],
) -> Iterator[Served]:
    """Serve while the block runs. At its end nothing new is taken, and what is under way has ten seconds to end."""
    section = documents.section
    if not (settings.grpc or settings.http):
        raise UsageError(reason="there is nothing to serve")
    tls = load_tls(section)
    check_encrypted(section.host, tls, insecure=settings.insecure, said="[documents] host")
    with ExitStack() as stack:
        grpc_at = http_at = None
        if settings.grpc:
            grpc_at = stack.enter_context(_grpc(documents, tokens, settings, tls, clock, log))
        if settings.http:
            http_at = stack.enter_context(_http(documents, tokens, tls, clock, log))
        yield Served(grpc_at, http_at, tls is not None)


# --- gRPC


@contextmanager
def _grpc(
    documents: Documents,
    tokens: Tokens,
    settings: ServerSettings,
    tls: Tls | None,
    clock: Callable[[], datetime],
    log: Callable[[str], None],
) -> Iterator[str]:
    try:
        import grpc
        from grpc_health.v1 import health, health_pb2, health_pb2_grpc
        from grpc_reflection.v1alpha import reflection
    except ImportError as error:
        raise MissingExtra(feature="The gRPC service", package="grpcio", extra="grpc") from error
    from cocli.documents.proto.generated import repository_pb2
    from cocli.service.documents.grpc import SERVICE, GrpcService

    repository_pb2.DESCRIPTOR.services_by_name  # noqa: B018  reflection reads what was loaded
    section = documents.section
    server = grpc.server(
        ThreadPoolExecutor(_THREADS, thread_name_prefix="grpc"),
        options=_grpc_options(section),
        maximum_concurrent_rpcs=_THREADS + _WAITING,
    )
    service = GrpcService(documents, tokens, clock=clock, log=log, graph=settings.graph)
    server.add_generic_rpc_handlers((service.handler(),))
    state = health.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(state, server)
    reflection.enable_server_reflection((SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
    port = _bound(server, f"{bracketed(section.host)}:{section.grpc_port}", grpc, tls)
    server.start()
    for name in ("", SERVICE):
        state.set(name, health_pb2.HealthCheckResponse.SERVING)
    try:
        yield f"{bracketed(section.host)}:{port}"
    finally:
        state.enter_graceful_shutdown()
        server.stop(GRACE_SECONDS).wait()


def _grpc_options(section: DocumentsSection) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", section.max_message_bytes),
        ("grpc.max_send_message_length", section.max_message_bytes),
        ("grpc.max_metadata_size", 16_384),
        ("grpc.so_reuseport", 0),  # two services on one port would share its calls by chance
    ]


def _bound(server: Any, address: str, grpc: Any, tls: Tls | None) -> int:
    try:
        if tls is None:
            return int(server.add_insecure_port(address))
        return int(server.add_secure_port(address, grpc.ssl_server_credentials([(tls.key, tls.certificate)])))
    except (RuntimeError, ValueError) as error:
        raise ServiceUnavailable(address=address, reason="it cannot be listened at", hint=_BUSY) from error


_BUSY = "Something else may listen there. Set grpc_port and http_port in [documents]; 0 takes one that is free."


# --- HTTP


@contextmanager
def _http(
    documents: Documents,
    tokens: Tokens,
    tls: Tls | None,
    clock: Callable[[], datetime],
    log: Callable[[str], None],
) -> Iterator[str]:
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtra(feature="The HTTP service", package="uvicorn", extra="http") from error
    from cocli.service.documents.http import HttpService

    section = documents.section
    bound = listening(section.host, section.http_port, _BUSY)
    application = HttpService(documents, tokens, clock=clock, log=log).application()
    with served(application, bound, tls, at_once=_THREADS + _WAITING):
        yield f"{bracketed(section.host)}:{bound.getsockname()[1]}"
