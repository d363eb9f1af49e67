"""The seam between the HTTP library and the network: here a name becomes an address, is judged, and is connected to.

It all happens in one call, so that what was checked is what is connected to. The library asks for a connection by
name and keeps that name for the Host header and for TLS.
"""

from __future__ import annotations

import asyncio
from ipaddress import ip_address
from typing import TYPE_CHECKING

import httpcore2

from cocli.pipeline.websites.fetch.outcome import Failure
from cocli.pipeline.websites.fetch.resolver import Endpoint
from cocli.pipeline.websites.fetch.signals import Breakdown

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable, Sequence

    from cocli.pipeline.websites.fetch.guard import Guard
    from cocli.pipeline.websites.fetch.limits import FetchLimits
    from cocli.pipeline.websites.fetch.resolver import Resolve


class GuardedNetwork(httpcore2.AsyncNetworkBackend):
    """Connects to permitted addresses only. Raises `Refusal` and `Breakdown`."""

    def __init__(self, guard: Guard, resolve: Resolve, limits: FetchLimits) -> None:
        self._guard = guard
        self._resolve = resolve
        self._limits = limits
        self._sockets = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's signature; our own limits hold
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        del timeout, local_address
        permitted = self._guard.screen(host, await self._endpoints(host, port))
        wait = self._limits.connect / min(len(permitted), self._limits.addresses)
        problem: Exception | None = None
        refused = True
        for endpoint in permitted[: self._limits.addresses]:
            try:
                stream = await self._sockets.connect_tcp(*endpoint, timeout=wait, socket_options=socket_options)
                return ClosingStream(stream)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                problem = error  # the name may have another address
                refused = refused and _is_refusal(error)
        if isinstance(problem, httpcore2.ConnectTimeout):
            raise Breakdown(Failure.TIMEOUT, f"{host} did not take a connection in time")
        kind = Failure.NOBODY_LISTENS if refused else Failure.CONNECT
        raise Breakdown(kind, f"{host} does not take connections: {problem}")

    async def sleep(self, seconds: float) -> None:
        await self._sockets.sleep(seconds)

    async def _endpoints(self, host: str, port: int) -> Sequence[Endpoint]:
        if _is_address(host):
            return [Endpoint(host, port)]
        try:
            async with asyncio.timeout(self._limits.lookup):
                found = await self._resolve(host, port)
        except TimeoutError:
            raise Breakdown(Failure.DNS, f"no name server answered for {host} in time") from None
        if not found:
            raise Breakdown(Failure.NO_SUCH_HOST, f"{host} has no address")
        return [Endpoint(address, to) for address, to in found]


class ClosingStream(httpcore2.AsyncNetworkStream):
    """A stream that is closed when its handshake is cancelled: the library closes it after its own errors only."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream) -> None:
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109  the library's
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109  the library's
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  the library's
    ) -> httpcore2.AsyncNetworkStream:
        try:
            return await self._stream.start_tls(ssl_context, server_hostname, timeout)
        except asyncio.CancelledError:
            await self._stream.aclose()
            raise

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


def _is_refusal(error: BaseException | None) -> bool:
    """Whether the machine itself said no. Whoever has no network meets other errors, and knows nothing of a site."""
    while error is not None:
        if isinstance(error, BaseExceptionGroup):
            return all(map(_is_refusal, error.exceptions))
        if isinstance(error, ConnectionRefusedError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:  # that is the question
        return False
    return True
