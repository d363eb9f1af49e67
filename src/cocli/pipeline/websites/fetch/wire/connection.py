"""Connections as they are made: over our own streams, by the library where there is a proxy or HTTP/2."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import httpcore2

from cocli.pipeline.websites.fetch.wire.http11 import Http11Connection

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncGenerator, Sequence

    from cocli.pipeline.websites.fetch.wire.exchange import Header, WireAnswer, WireConnection, WireRequest
    from cocli.pipeline.websites.fetch.wire.streams import SocketStream

ALPN = ["h2", "http/1.1"]
_DEFAULT_PORTS = {"http": 80, "https": 443}


class DirectConnection:
    """Fits `exchange.WireConnection`. The first request opens it; then its server has said which HTTP it speaks."""

    def __init__(self, network: httpcore2.AsyncNetworkBackend, tls: ssl.SSLContext, *, keep_seconds: float) -> None:
        self._network = network
        self._tls = tls
        self._keep_seconds = keep_seconds
        self._opened: WireConnection | None = None

    async def ask(self, request: WireRequest) -> WireAnswer:
        if self._opened is None:
            self._opened = await self._open(request)
        return await self._opened.ask(request)

    @property
    def is_usable(self) -> bool:
        return self._opened is not None and self._opened.is_usable

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.close()

    async def _open(self, request: WireRequest) -> WireConnection:
        stream = await self._network.connect_tcp(request.host, request.port, timeout=request.seconds)
        if request.scheme == "https":
            self._tls.set_alpn_protocols(ALPN)
            stream = await stream.start_tls(self._tls, request.host, request.seconds)
            encrypted = cast("ssl.SSLObject", stream.get_extra_info("ssl_object"))
            if encrypted.selected_alpn_protocol() == "h2":
                origin = httpcore2.Origin(b"https", request.host.encode("ascii"), request.port)
                return LibraryConnection(httpcore2.AsyncHTTP2Connection(origin, stream, self._keep_seconds))
        return Http11Connection(cast("SocketStream", stream), keep_seconds=self._keep_seconds)


class LibraryConnection:
    """Fits `exchange.WireConnection`, for one of the HTTP library."""

    def __init__(self, connection: httpcore2.AsyncConnectionInterface) -> None:
        self._connection = connection

    async def ask(self, request: WireRequest) -> LibraryAnswer:
        port = None if request.port == _DEFAULT_PORTS[request.scheme] else request.port
        asked = httpcore2.Request(
            "GET",
            httpcore2.URL(scheme=request.scheme, host=request.host, port=port, target=request.target),
            headers=list(request.headers),
            extensions={"timeout": {"connect": request.seconds, "write": request.seconds}},
        )
        return LibraryAnswer(await self._connection.handle_async_request(asked))

    @property
    def is_usable(self) -> bool:
        return self._connection.is_available() and not self._connection.has_expired()

    async def close(self) -> None:
        await self._connection.aclose()


class LibraryAnswer:
    """Fits `exchange.WireAnswer`."""

    def __init__(self, response: httpcore2.Response) -> None:
        self._response = response
        self.status = response.status
        self.headers: Sequence[Header] = response.headers
        self.version = str(response.extensions.get("http_version", b""), "latin-1")

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        async for chunk in self._response.aiter_stream():
            yield chunk

    async def close(self) -> None:
        await self._response.aclose()
