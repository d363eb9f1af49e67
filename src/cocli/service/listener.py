"""Where a service listens, and with which certificate: what all services of this package share."""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

from cocli.errors import ConfigError, MissingExtra, ServiceUnavailable
from cocli.service.connections import CallerConnections, ConnectionLimits, WatchedListener

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import ASGIApp

    from cocli.models.campaign import DocumentsSection

GRACE_SECONDS = 10.0
_LOOK_SECONDS = 0.01
_BACKLOG = 128
"""CallerConnections that wait to be accepted, and how many are accepted in one go."""
_IDLE_SECONDS = 5
"""For which a connection stays open between two requests when nothing is sent."""
_MAX_HEAD = 16_384


@dataclass(frozen=True, slots=True)
class Tls:
    certificate_file: str
    key_file: str
    certificate: bytes
    key: bytes


def load_tls(section: DocumentsSection) -> Tls | None:
    """The certificate that is configured, checked together with its key; None where there is none."""
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
    return Tls(files[0], files[1], certificate, key)


def check_encrypted(host: str, tls: Tls | None, *, insecure: bool, said: str) -> None:
    """Beyond this machine nothing is served in the clear, unless somebody says that a proxy does it."""
    if tls is None and not insecure and not is_this_machine(host):
        raise ConfigError(
            reason=f"{said} is {host}, and there is no certificate: tokens would travel in the clear",
            hint="Set tls_certificate and tls_key in [documents], or say --insecure behind a proxy that has them.",
        )


def listening(host: str, port: int, hint: str) -> WatchedListener:
    """A socket that listens already: whoever is told the address can connect."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # The protocol is named: asyncio turns Nagle's algorithm off only for sockets that say they are TCP. With it,
        # the body of an answer waits forty milliseconds for the acknowledgement of its head.
        bound = WatchedListener(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind((host, port))
            bound.listen(_BACKLOG)
        except OSError:
            bound.close()
            raise
    except OSError as error:
        raise ServiceUnavailable(address=f"{host}:{port}", reason=os.strerror(error.errno or 0), hint=hint) from error
    return bound


def connection_limits(section: DocumentsSection) -> ConnectionLimits:
    """As they are set, and never more than half of the files that this process may have open."""
    import resource

    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    total = section.max_connections
    if files != resource.RLIM_INFINITY:
        total = min(total, files // 2)
    return ConnectionLimits(total, min(total, section.max_connections_per_address))


@contextmanager
def served(
    application: ASGIApp,
    bound: WatchedListener,
    tls: Tls | None,
    *,
    limits: ConnectionLimits,
    lifespan: bool = False,
) -> Iterator[None]:
    """Serve an application in a thread of its own while the block runs; then what is under way has ten seconds."""
    try:
        import uvicorn
    except ImportError as error:
        raise MissingExtra(feature="The HTTP service", package="uvicorn", extra="http") from error
    bound.connections = connections = CallerConnections(limits)
    config = uvicorn.Config(
        connections.watched(application),
        loop="asyncio",  # another one would not accept through the watched socket
        http="h11",  # another one would not limit the head
        ws="none",
        log_config=None,
        log_level="error",  # every nonsense that somebody sends would be a warning
        access_log=False,
        lifespan="on" if lifespan else "off",
        server_header=False,
        proxy_headers=False,  # a caller is who connects, not who it says
        backlog=_BACKLOG,
        timeout_keep_alive=_IDLE_SECONDS,
        h11_max_incomplete_event_size=_MAX_HEAD,
        callback_notify=connections.sweep,
        timeout_notify=1,
        timeout_graceful_shutdown=int(GRACE_SECONDS),
        ssl_certfile=tls.certificate_file if tls else None,
        ssl_keyfile=tls.key_file if tls else None,
    )
    config.load()
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, name="http", daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(_LOOK_SECONDS)
    try:
        if not server.started:
            raise ServiceUnavailable(address=str(bound.getsockname()[1]), reason="it did not start")
        yield
    finally:
        server.should_exit = True
        thread.join(GRACE_SECONDS + 5)
        bound.close()


def is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def bracketed(host: str) -> str:
    if ":" in host:
        return f"[{host}]"
    return host


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ConfigError(reason=f"{path} cannot be read: {os.strerror(error.errno or 0)}") from error
