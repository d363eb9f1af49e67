"""Both servers in one process: opened on their addresses, with TLS where it is configured, until told to stop."""

from __future__ import annotations

import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from cocli.errors import ConfigError, MissingExtra, ServiceUnavailable, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from cocli.app.documents import Documents
    from cocli.app.documents_tokens import Tokens
    from cocli.models.campaign import DocumentsSection

_THREADS = 16
_WAITING = 64
"""Calls that may wait for a thread; more are refused at once, to be tried again."""
_GRACE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Wish:
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


@dataclass(frozen=True, slots=True)
class _Tls:
    certificate_file: str
    key_file: str
    certificate: bytes
    key: bytes


@contextmanager
def serving(
    documents: Documents, tokens: Tokens, wish: Wish, *, clock: Callable[[], datetime], log: Callable[[str], None]
) -> Iterator[Served]:
    """Serve while the block runs. At its end nothing new is taken, and what is under way has ten seconds to end."""
    section = documents.section
    if not (wish.grpc or wish.http):
        raise UsageError(reason="there is nothing to serve")
    tls = _tls(section)
    if tls is None and not wish.insecure and not _is_this_machine(section.host):
        raise ConfigError(
            reason=f"[documents] host is {section.host}, and there is no certificate: tokens would travel in the clear",
            hint="Set tls_certificate and tls_key, or say --insecure behind a proxy that has them.",
        )
    with ExitStack() as stack:
        grpc_at = http_at = None
        if wish.grpc:
            grpc_at = stack.enter_context(_grpc(documents, tokens, wish, tls, clock, log))
        if wish.http:
            http_at = stack.enter_context(_http(documents, tokens, tls, clock, log))
        yield Served(grpc_at, http_at, tls is not None)


# --- gRPC


@contextmanager
def _grpc(
    documents: Documents,
    tokens: Tokens,
    wish: Wish,
    tls: _Tls | None,
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
    from cocli.service.grpc_service import SERVICE, GrpcService

    repository_pb2.DESCRIPTOR.services_by_name  # noqa: B018  reflection reads what was loaded
    section = documents.section
    server = grpc.server(
        ThreadPoolExecutor(_THREADS, thread_name_prefix="grpc"),
        options=_grpc_options(section),
        maximum_concurrent_rpcs=_THREADS + _WAITING,
    )
    service = GrpcService(documents, tokens, clock=clock, log=log, graph=wish.graph)
    server.add_generic_rpc_handlers((service.handler(),))
    state = health.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(state, server)
    reflection.enable_server_reflection((SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
    port = _bound(server, f"{_bracketed(section.host)}:{section.grpc_port}", grpc, tls)
    server.start()
    for name in ("", SERVICE):
        state.set(name, health_pb2.HealthCheckResponse.SERVING)
    try:
        yield f"{_bracketed(section.host)}:{port}"
    finally:
        state.enter_graceful_shutdown()
        server.stop(_GRACE_SECONDS).wait()


def _grpc_options(section: DocumentsSection) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", section.max_message_bytes),
        ("grpc.max_send_message_length", section.max_message_bytes),
        ("grpc.max_metadata_size", 16_384),
        ("grpc.so_reuseport", 0),  # two services on one port would share its calls by chance
    ]


def _bound(server: Any, address: str, grpc: Any, tls: _Tls | None) -> int:
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
    tls: _Tls | None,
    clock: Callable[[], datetime],
    log: Callable[[str], None],
) -> Iterator[str]:
    try:
        import starlette  # noqa: F401
        import uvicorn
    except ImportError as error:
        raise MissingExtra(feature="The HTTP service", package="uvicorn", extra="http") from error
    from cocli.service.http_service import HttpService

    section = documents.section
    bound = _listening(section.host, section.http_port)
    config = uvicorn.Config(
        HttpService(documents, tokens, clock=clock, log=log).application(),
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        limit_concurrency=_THREADS + _WAITING,
        timeout_graceful_shutdown=int(_GRACE_SECONDS),
        ssl_certfile=tls.certificate_file if tls else None,
        ssl_keyfile=tls.key_file if tls else None,
    )
    config.load()
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, name="http", daemon=True)
    thread.start()
    try:
        yield f"{_bracketed(section.host)}:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(_GRACE_SECONDS + 5)
        bound.close()


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens already: whoever is told the address can connect."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        bound = socket.socket(family, socket.SOCK_STREAM)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind((host, port))
            bound.listen(128)
        except OSError:
            bound.close()
            raise
    except OSError as error:
        raise ServiceUnavailable(address=f"{host}:{port}", reason=os.strerror(error.errno or 0), hint=_BUSY) from error
    return bound


# --- TLS


def _tls(section: DocumentsSection) -> _Tls | None:
    if section.tls_certificate is None and section.tls_key is None:
        return None
    if section.tls_certificate is None or section.tls_key is None:
        raise ConfigError(reason="[documents] has one of tls_certificate and tls_key; both are needed, or neither")
    files = [os.path.expanduser(path) for path in (section.tls_certificate, section.tls_key)]
    certificate, key = map(_read, files)
    import ssl

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(*files)
    except (ssl.SSLError, OSError) as error:
        raise ConfigError(reason=f"{files[0]} and {files[1]} are no certificate and its key: {error}") from error
    return _Tls(files[0], files[1], certificate, key)


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ConfigError(reason=f"{path} cannot be read: {os.strerror(error.errno or 0)}") from error


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
