"""A socket of the event loop as a stream, which is what the HTTP library and our own HTTP/1.1 read from and write to.

The library's own streams go through a layer that fits every event loop. That layer sets a timer for every read and
every write, which took as long as all the rest of a request. Here whoever reads sets the limits, once.
"""

from __future__ import annotations

import asyncio
import os
import select
import socket
import ssl
from typing import TYPE_CHECKING, cast

import httpcore2

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_ENOUGH = 256 * 1024
"""Bytes that wait for their reader: from then on the server has to wait as well."""


class _Buffer(asyncio.Protocol):
    """What came and was not read yet. One reader and one writer at a time."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.transport: asyncio.Transport | None = None
        self.bytes = bytearray()
        self.is_over = False
        self.error: Exception | None = None
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None
        self._is_full = self._is_paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.bytes += data
        if len(self.bytes) > _ENOUGH and not self._is_paused and self.transport is not None:
            self._is_paused = True
            self.transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        self.is_over = True
        self._wake()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_over = True
        self.error = exc
        self._wake()
        if self._writer is not None and not self._writer.done():
            self._writer.set_result(None)

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        if self._writer is not None and not self._writer.done():
            self._writer.set_result(None)

    async def filled(self) -> None:
        """Something is there, or nothing more will come."""
        while not self.bytes and not self.is_over:
            self._reader = self._loop.create_future()
            try:
                await self._reader
            finally:
                self._reader = None

    async def flushed(self) -> None:
        while self._is_full and not self.is_over:
            self._writer = self._loop.create_future()
            try:
                await self._writer
            finally:
                self._writer = None

    def take(self, most: int) -> bytes:
        taken = bytes(self.bytes[:most])
        del self.bytes[:most]
        if self._is_paused and len(self.bytes) <= _ENOUGH and self.transport is not None:
            self._is_paused = False
            if not self.transport.is_closing():
                self.transport.resume_reading()
        return taken

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)


class SocketStream(httpcore2.AsyncNetworkStream):
    """Fits the library. Limits of time are those that the caller names; None is for a caller who has one already."""

    def __init__(self, transport: asyncio.Transport, buffer: _Buffer, closing: Callable[[object], None]) -> None:
        """`closing` is told the object of TLS, or None, before the connection is closed."""
        self._transport = transport
        self._buffer = buffer
        self._closing = closing

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109  the library's
        buffer = self._buffer
        if not buffer.bytes and timeout is None:
            await buffer.filled()
        elif not buffer.bytes:
            try:
                async with asyncio.timeout(timeout):
                    await buffer.filled()
            except TimeoutError as error:
                raise httpcore2.ReadTimeout(error) from error
        if not buffer.bytes and buffer.error is not None:
            raise httpcore2.ReadError(buffer.error)
        return buffer.take(max_bytes)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109  the library's
        if self._transport.is_closing() or self._buffer.error is not None:
            raise httpcore2.WriteError("the server closed the connection")
        self._transport.write(buffer)
        try:
            async with asyncio.timeout(timeout):
                await self._buffer.flushed()
        except TimeoutError as error:
            raise httpcore2.WriteTimeout(error) from error

    def write_soon(self, data: bytes) -> None:
        """Without waiting: a request is small. What goes wrong shows when its answer is read."""
        if not self._transport.is_closing():
            self._transport.write(data)

    async def aclose(self) -> None:
        self.close()

    def close(self) -> None:
        encrypted = self._transport.get_extra_info("ssl_object")
        self._closing(encrypted)
        if encrypted is None:
            self._transport.close()
        else:
            self._transport.abort()  # without the goodbye of TLS: nobody waits for what would be said to it

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  the library's
    ) -> SocketStream:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout):
                encrypted = await loop.start_tls(
                    self._transport, self._buffer, ssl_context, server_hostname=server_hostname
                )
        except TimeoutError as error:
            self._transport.abort()
            raise httpcore2.ConnectTimeout(error) from error
        except (ssl.SSLError, OSError) as error:
            self._transport.abort()
            raise httpcore2.ConnectError(error) from error
        except BaseException:
            self._transport.abort()
            raise
        transport = cast("asyncio.Transport", encrypted)
        self._buffer.transport = transport
        return SocketStream(transport, self._buffer, self._closing)

    @property
    def is_quiet(self) -> bool:
        """Open, and the server has sent nothing: the only state in which it can be asked for something more."""
        buffer = self._buffer
        if buffer.is_over or buffer.bytes or self._transport.is_closing():
            return False
        return not _is_readable(self._transport.get_extra_info("socket"))

    def get_extra_info(self, info: str) -> object:
        if info == "is_readable":
            return not self.is_quiet
        return self._transport.get_extra_info(_NAMES.get(info, info))


_NAMES = {"client_addr": "sockname", "server_addr": "peername"}


class SocketBackend(httpcore2.AsyncNetworkBackend):
    """Connects to an address. Names are looked up by whoever calls."""

    def __init__(self, closing: Callable[[object], None] = lambda _: None) -> None:
        self._closing = closing

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  the library's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> SocketStream:
        del local_address
        try:
            async with asyncio.timeout(timeout) as limit:
                transport, buffer = await _connected(host, port, socket_options or ())
                return SocketStream(transport, buffer, self._closing)
        except OSError as error:
            if isinstance(error, TimeoutError) and limit.expired():
                raise httpcore2.ConnectTimeout(error) from error
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise httpcore2.ConnectError(OSError(reason)) from error

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


async def _connected(
    address: str, port: int, options: Iterable[httpcore2.SOCKET_OPTION]
) -> tuple[asyncio.Transport, _Buffer]:
    loop = asyncio.get_running_loop()
    opened = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        opened.setblocking(False)
        for option in options:
            opened.setsockopt(*option)
        await loop.sock_connect(opened, (address, port))
        buffer = _Buffer(loop)
        transport, _ = await loop.create_connection(lambda: buffer, sock=opened)
    except BaseException:
        opened.close()
        raise
    return transport, buffer


def _is_readable(opened: socket.socket | None) -> bool:
    """Whether there is something that the loop has not seen yet, if only the end."""
    if opened is None or opened.fileno() < 0:
        return True
    poll = select.poll()
    poll.register(opened.fileno(), select.POLLIN)
    return bool(poll.poll(0))
