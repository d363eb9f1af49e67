"""Both servers in one process: opened on their addresses, with TLS where it is configured, until told to stop."""

from __future__ import annotations

import gc
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.errors import MissingExtra, UsageError
from cocli.service.documents.backend import opened_backend
from cocli.service.listener import (
    bracketed,
    check_encrypted,
    connection_limits,
    listening,
    load_tls,
    served,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from cocli.app.documents.documents import Documents
    from cocli.app.documents.tokens import Tokens
    from cocli.service.documents.backend import ServiceBackend
    from cocli.service.listener import Tls

_SWITCH_SECONDS = 0.001
"""After which a thread that computes lets another one go on: who saves asks the disk a dozen times, and would wait for
five milliseconds after each answer, beside somebody's long list."""


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
        backend = stack.enter_context(opened_backend(documents, tokens, clock=clock, log=log, graph=settings.graph))
        if settings.grpc:
            grpc_at = stack.enter_context(_grpc(backend, tls))
        if settings.http:
            http_at = stack.enter_context(_http(backend, tls))
        stack.enter_context(_prompt())
        yield Served(grpc_at, http_at, tls is not None)


@contextmanager
def _prompt() -> Iterator[None]:
    """Let no thread wait long for another: neither for one that computes, nor while rubbish is looked for among the
    modules, which stay for as long as the service runs."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        sys.setswitchinterval(before)


# --- gRPC


@contextmanager
def _grpc(backend: ServiceBackend, tls: Tls | None) -> Iterator[str]:
    try:
        from cocli.service.documents.grpc_server import serving_grpc
    except ImportError as error:
        raise MissingExtra(feature="The gRPC service", package="grpcio", extra="grpc") from error
    section = backend.documents.section
    host = bracketed(section.host)
    with serving_grpc(backend, section, f"{host}:{section.grpc_port}", tls, hint=_BUSY) as port:
        yield f"{host}:{port}"


_BUSY = "Something else may listen there. Set grpc_port and http_port in [documents]; 0 takes one that is free."


# --- HTTP


@contextmanager
def _http(backend: ServiceBackend, tls: Tls | None) -> Iterator[str]:
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtra(feature="The HTTP service", package="uvicorn", extra="http") from error
    from cocli.service.documents.http import HttpService

    section = backend.documents.section
    bound = listening(section.host, section.http_port, _BUSY)
    limits = connection_limits(section)
    with served(HttpService(backend, limits).application(), bound, tls, limits=limits):
        yield f"{bracketed(section.host)}:{bound.getsockname()[1]}"
