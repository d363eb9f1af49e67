"""The gRPC server: an event loop in a thread of its own, with the limits that the library offers.

The library closes connections that do not end their handshake, that nobody uses, or whose other side is gone; and
beyond the limit it closes new ones, where the HTTP services close old ones: it has no hook for that.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from cocli.documents.proto.generated import repository_pb2
from cocli.errors import ServiceUnavailable
from cocli.service.documents.grpc import SERVICE, GrpcService
from cocli.service.documents.health import OK
from cocli.service.listener import GRACE_SECONDS, connection_limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.models.campaign import DocumentsSection
    from cocli.service.documents.backend import ServiceBackend
    from cocli.service.listener import Tls

_SECOND = 1_000
_HEALTH_SECONDS = 1.0
_SERVING = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
_HOUR = 3_600 * _SECOND


@contextmanager
def serving_grpc(
    backend: ServiceBackend, section: DocumentsSection, address: str, tls: Tls | None, *, hint: str
) -> Iterator[int]:
    """Serve while the block runs; gives the port."""
    running = _Running(backend, _options(section), address, tls)
    try:
        port = running.started.result()
    except (RuntimeError, ValueError) as error:
        raise ServiceUnavailable(address=address, reason="it cannot be listened at", hint=hint) from error
    try:
        yield port
    finally:
        running.stop()


class _Running(threading.Thread):
    def __init__(self, backend: ServiceBackend, options: list[tuple[str, int]], address: str, tls: Tls | None) -> None:
        super().__init__(name="grpc-server", daemon=True)
        self.started: Future[int] = Future()
        self._backend = backend
        self._options = options
        self._address = address
        self._tls = tls
        self._stopping: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.start()

    def run(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception as error:  # raised again where the server is started
            if self.started.done():
                raise
            self.started.set_exception(error)

    def stop(self) -> None:
        if self._loop is not None and self._stopping is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
        self.join(GRACE_SECONDS + 5)

    async def _serve(self) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        service = GrpcService(self._backend)
        server = grpc.aio.server(interceptors=[service.doorman()], options=self._options)
        server.add_generic_rpc_handlers((service.handler(),))
        state = health.aio.HealthServicer()  # type: ignore[attr-defined]  # the stubs do not know it
        health_pb2_grpc.add_HealthServicer_to_server(state, server)
        repository_pb2.DESCRIPTOR.services_by_name  # noqa: B018  reflection reads what was loaded
        reflection.enable_server_reflection((SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
        port = _bound(server, self._address, self._tls)
        await server.start()
        await self._tell_health(state)
        self.started.set_result(port)
        telling = asyncio.create_task(self._keep_telling(state))
        await self._stopping.wait()
        telling.cancel()
        await state.enter_graceful_shutdown()
        self._loop.call_later(GRACE_SECONDS / 5, service.end_streams)
        async with service.saves:
            await server.stop(GRACE_SECONDS)

    async def _keep_telling(self, state: Any) -> None:
        while True:
            await asyncio.sleep(_HEALTH_SECONDS)
            await self._tell_health(state)

    async def _tell_health(self, state: Any) -> None:
        """Of the whole (also under the empty name), and of what it needs: `store` and `catalog`."""
        parts = self._backend.health.parts()
        well = {name: said == OK for name, said in parts.items()}
        well |= dict.fromkeys(("", SERVICE), all(well.values()))
        for name, is_well in well.items():
            await state.set(name, _SERVING if is_well else _NOT_SERVING)


def _options(section: DocumentsSection) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", section.max_message_bytes),
        ("grpc.max_send_message_length", section.max_message_bytes),
        ("grpc.max_metadata_size", 16_384),
        ("grpc.absolute_max_metadata_size", 32_768),
        ("grpc.so_reuseport", 0),  # two services on one port would share its calls by chance
        ("grpc.max_allowed_incoming_connections", connection_limits(section).total // 2),
        ("grpc.max_concurrent_streams", 100),  # of one connection
        ("grpc.server_handshake_timeout_ms", 10 * _SECOND),
        ("grpc.max_connection_idle_ms", 60 * _SECOND),
        ("grpc.max_connection_age_ms", _HOUR),
        ("grpc.max_connection_age_grace_ms", 24 * _HOUR),  # a replay may take long
        ("grpc.keepalive_time_ms", 60 * _SECOND),
        ("grpc.keepalive_timeout_ms", 20 * _SECOND),
    ]


def _bound(server: Any, address: str, tls: Tls | None) -> int:
    if tls is None:
        return int(server.add_insecure_port(address))
    return int(server.add_secure_port(address, grpc.ssl_server_credentials([(tls.key, tls.certificate)])))
