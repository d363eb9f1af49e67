"""One request and its answer, within bounds. Redirects, robots.txt, politeness and retries are the fetcher's."""

from __future__ import annotations

import asyncio
import math
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import h2.exceptions
import httpcore2

from cocli.pipeline.websites.fetch.decoder import ACCEPTED, Unpacking
from cocli.pipeline.websites.fetch.outcome import Failure
from cocli.pipeline.websites.fetch.signals import Breakdown
from cocli.pipeline.websites.fetch.wire.exchange import WireRequest

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

    from cocli.pipeline.websites.fetch.connections import ConnectionLease, Connections
    from cocli.pipeline.websites.fetch.limits import FetchLimits
    from cocli.pipeline.websites.fetch.urls import Target
    from cocli.pipeline.websites.fetch.wire.exchange import WireAnswer

_MAX_VALUE = 8192
_SIP = 4096
_BODYLESS = frozenset({204, 205, 304})


@dataclass(frozen=True, slots=True)
class Head:
    """An answer, before its body is read."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case. Of several with one name the first."""
    http_version: str


@dataclass(frozen=True, slots=True)
class HttpAnswer(Head):
    """An answer with its body, as far as it was wanted."""

    body: bytes = b""
    truncated: bool = False


class HttpClient:
    """Asks. Raises `Refusal` and `Breakdown`, and nothing else for what a server does."""

    def __init__(self, connections: Connections, limits: FetchLimits, *, user_agent: str) -> None:
        self._connections = connections
        self._limits = limits
        self._headers = {
            "user-agent": user_agent,
            "accept": "text/html,application/xhtml+xml,application/xml;q=0.9,text/*;q=0.8,*/*;q=0.1",
            "accept-encoding": ACCEPTED,
        }

    async def get(
        self,
        target: Target,
        appetite: Callable[[Head], int | None],
        headers: Mapping[str, str] | None = None,
        *,
        sent: Callable[[], None] = lambda: None,
        answered: Callable[[], None] = lambda: None,
        patience: float | None = None,
    ) -> HttpAnswer:
        """`appetite` says how many bytes of the body are wanted, given the head; None leaves it unread.

        `sent` is called when the request is on its way, where that can be told; `answered` when the head is there: then
        the server is known to have had the request. `patience` are the seconds until then, where less than usual.
        """
        async with self._connections.lease(target.origin) as lease:
            try:
                response = await self._answer(lease, target, headers or {}, sent, patience)
                answered()
                try:
                    head = Head(response.status, _headers(response), response.version)
                    body, whole = await self._body(response, head, appetite)
                finally:
                    await response.close()
            except BaseException as error:  # whatever broke spoils the connection
                lease.spoiled = True
                breakdown = _breakdown(error)
                if breakdown is None:
                    raise
                raise breakdown from error
            lease.spoiled |= not whole
            return HttpAnswer(head.status, head.headers, head.http_version, body, truncated=not whole)

    async def _answer(
        self,
        lease: ConnectionLease,
        target: Target,
        headers: Mapping[str, str],
        sent: Callable[[], None],
        patience: float | None,
    ) -> WireAnswer:
        try:
            async with asyncio.timeout(min(patience or math.inf, self._limits.first_byte)):
                return await self._send(lease, target, headers, sent)
        except TimeoutError:
            raise Breakdown(Failure.TIMEOUT, "no answer in time") from None

    async def _send(
        self, lease: ConnectionLease, target: Target, headers: Mapping[str, str], sent: Callable[[], None]
    ) -> WireAnswer:
        named = [("Host", target.netloc), *self._headers.items(), *headers.items()]
        request = WireRequest(target.scheme, target.host, target.port, target.path, named, self._limits.connect, sent)
        return await lease.connection.ask(request)

    async def _body(
        self, response: WireAnswer, head: Head, appetite: Callable[[Head], int | None]
    ) -> tuple[bytes, bool]:
        """The body, and whether that is all of it."""
        wanted = appetite(head)
        if head.status in _BODYLESS:
            return b"", True
        if wanted is None:
            return b"", False
        declared = head.headers.get("content-length", "")
        if declared.isdigit() and int(declared[:20]) > self._limits.hopeless_bytes:
            raise Breakdown(Failure.TOO_LARGE, f"{declared[:20]} bytes are declared")
        try:
            async with asyncio.timeout(self._limits.body):
                return await self._read(response, head, wanted)
        except TimeoutError:
            raise Breakdown(Failure.TIMEOUT, "the body did not come in time") from None

    async def _read(self, response: WireAnswer, head: Head, wanted: int) -> tuple[bytes, bool]:
        unpacking = Unpacking(head.headers.get("content-encoding", ""))
        body, taken = bytearray(), 0
        try:
            async with aclosing(_chunks(response)) as chunks:
                async for sip in chunks:
                    taken += len(sip)
                    for piece in unpacking.pieces(sip):
                        body += piece
                        if len(body) > wanted:
                            self._check_ratio(len(body), taken)
                            return bytes(body[:wanted]), False
        except (httpcore2.RemoteProtocolError, httpcore2.ReadError):
            if not body:
                raise
            return bytes(body), False  # browsers show what came before the server broke off, and so do we
        return bytes(body), True

    def _check_ratio(self, unpacked: int, packed: int) -> None:
        if unpacked > self._limits.bomb_ratio * packed:
            raise Breakdown(Failure.TOO_LARGE, f"{packed} bytes unpack to more than {unpacked}")


async def _chunks(response: WireAnswer) -> AsyncGenerator[bytes, None]:
    """In sips, so that a ratio of packed to unpacked can be told from the first few of them."""
    async with aclosing(response.chunks()) as chunks:
        async for chunk in chunks:
            for start in range(0, len(chunk), _SIP):
                yield chunk[start : start + _SIP]


def _headers(response: WireAnswer) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in response.headers:
        if len(value) <= _MAX_VALUE:
            found.setdefault(name.decode("latin-1").lower(), _text(value))
    return found


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:  # headers are Latin-1 by the book, whatever else they hold
        return value.decode("latin-1")


def _breakdown(error: BaseException) -> Breakdown | None:
    """What the libraries say of a fault, in our words."""
    detail = str(error)[:200] or type(error).__name__
    if isinstance(error, (httpcore2.TimeoutException, TimeoutError)):
        return Breakdown(Failure.TIMEOUT, f"{type(error).__name__} {detail}".strip())
    if isinstance(error, httpcore2.ConnectError):
        # Our network reports a connection that did not come about itself; a proxy's it does not open.
        kind = Failure.CONNECT if error.args and type(error.args[0]) is OSError else Failure.TLS
        return Breakdown(kind, detail)
    if isinstance(error, (httpcore2.ProtocolError, httpcore2.UnsupportedProtocol, httpcore2.ConnectionNotAvailable)):
        return Breakdown(Failure.PROTOCOL, detail)
    if isinstance(error, h2.exceptions.H2Error):
        return Breakdown(Failure.PROTOCOL, detail)
    if isinstance(error, (httpcore2.NetworkError, httpcore2.ProxyError, OSError)):
        return Breakdown(Failure.CONNECT, detail)
    return None
