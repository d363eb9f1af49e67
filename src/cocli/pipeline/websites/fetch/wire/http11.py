"""HTTP/1.1 over a stream. What the bytes mean is h11's business; here they are only moved."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

import h11
import httpcore2

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from cocli.pipeline.websites.fetch.wire.exchange import Header, WireRequest
    from cocli.pipeline.websites.fetch.wire.streams import SocketStream

_READ_BYTES = 64 * 1024
_MOST_HEAD_BYTES = 100 * 1024


class Http11Connection:
    """Fits `exchange.WireConnection`, for a stream that stands."""

    def __init__(self, stream: SocketStream, *, keep_seconds: float) -> None:
        self._stream = stream
        self._keep_seconds = keep_seconds
        self._protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MOST_HEAD_BYTES)
        self._idle_until: float | None = None
        """None while it is in use, and when it is over."""

    async def ask(self, request: WireRequest) -> Http11Answer:
        self._idle_until = None
        try:
            self._stream.write_soon(self._written(request))
            request.sent()
            await self._receive()  # before that nothing can be known of the answer
            while True:
                event = await self.event()
                if isinstance(event, h11.Response):
                    return Http11Answer(self, event)
        except BaseException:
            self._stream.close()
            raise

    @property
    def is_usable(self) -> bool:
        return self._idle_until is not None and time.monotonic() <= self._idle_until and self._stream.is_quiet

    async def close(self) -> None:
        self._idle_until = None
        self._stream.close()

    async def event(self) -> h11.Event | type[h11.PAUSED]:
        """The next that is known of the answer."""
        while True:
            try:
                event = self._protocol.next_event()
            except h11.RemoteProtocolError as error:
                raise httpcore2.RemoteProtocolError(error) from error
            if event is not h11.NEED_DATA:
                return event  # type: ignore[return-value]  # mypy keeps NEED_DATA in the union
            await self._receive()

    async def _receive(self) -> None:
        data = await self._stream.read(_READ_BYTES)
        if not data and self._protocol.their_state is h11.SEND_RESPONSE:
            raise httpcore2.RemoteProtocolError("Server disconnected without sending a response.")
        self._protocol.receive_data(data)

    def ended(self) -> None:
        """Nobody reads this answer any more."""
        if self._is_over():
            self._protocol.start_next_cycle()
            self._idle_until = time.monotonic() + self._keep_seconds
        else:
            self._idle_until = None
            self._stream.close()

    def _is_over(self) -> bool:
        """Whether the answer came to its end, and nothing behind it: that would be taken for the next answer."""
        protocol = self._protocol
        if protocol.their_state is h11.SEND_BODY:  # one without a body (304) ends with its head: nobody read on
            with suppress(h11.RemoteProtocolError):
                protocol.next_event()
        is_done = protocol.our_state is h11.DONE and protocol.their_state is h11.DONE
        return is_done and not protocol.trailing_data[0]

    def _written(self, request: WireRequest) -> bytes:
        try:
            head = self._protocol.send(h11.Request(method="GET", target=request.target, headers=list(request.headers)))
            return (head or b"") + (self._protocol.send(h11.EndOfMessage()) or b"")
        except h11.LocalProtocolError as error:
            raise httpcore2.LocalProtocolError(error) from error


class Http11Answer:
    """Fits `exchange.WireAnswer`."""

    def __init__(self, connection: Http11Connection, head: h11.Response) -> None:
        self._connection: Http11Connection | None = connection
        self.status = head.status_code
        self.headers: Sequence[Header] = head.headers.raw_items()
        self.version = "HTTP/" + head.http_version.decode("ascii")

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        while self._connection is not None:
            event = await self._connection.event()
            if isinstance(event, h11.Data):
                yield bytes(event.data)
            elif event is h11.PAUSED or isinstance(event, h11.EndOfMessage):
                return

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.ended()
