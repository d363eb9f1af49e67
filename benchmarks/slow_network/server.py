"""The websites on their network: a server in a process of its own, with a record of every request.

One event loop, one small protocol, answers that are ready before they are asked for: 40 µs of processor time for a
request at 2,800 a second over 200 connections, and 1 % of a processor for looking at its own lateness. It listens on
every loopback address, so that a site has an address of its own, as in the world; where there is only one (macOS),
all sites share it, and nothing is said about addresses.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from urllib.parse import unquote, urlsplit

from benchmarks.slow_network.answers import AnswerTable
from benchmarks.slow_network.record import BEAT, Seen, Verdict, judge
from benchmarks.slow_network.sites import DRIP_SECONDS, NetworkSite, latency_of, network_sites, town_size
from cocli.demo.ports import free_ports
from cocli.demo.town import build_town
from cocli.demo.town.http_server import LOOPBACK

HAS_MANY_ADDRESSES = sys.platform == "linux"
_TLS_HANDSHAKE = b"\x16"
_DRIPS = 40
_LATE = 0.003
_BACKLOG = 4096


@dataclass(frozen=True, slots=True)
class Visit:
    """What the server says about one visitor."""

    verdict: Verdict
    processor: float
    """Seconds of the server's processor time."""
    connections: int
    """The most that were open at the same time."""
    most_at_an_address: int
    """The most requests that one address had to answer at the same time."""

    @property
    def microseconds(self) -> float:
        """The server's processor time for a request."""
        return 1e6 * self.processor / max(self.verdict.requests, 1)


@dataclass(slots=True)
class NetworkServer:
    """The near end: tells the server whom to expect, and asks what it saw."""

    sites: list[NetworkSite]
    port: int
    refusing_port: int
    _connection: Connection

    def expect(self, latency: float) -> None:
        """Begin a new record; answers take so many seconds from now on."""
        self._connection.send(latency)
        self._connection.recv()

    def visit(self, address_share: float) -> Visit:
        """What came since."""
        self._connection.send(("visit", address_share))
        found = self._connection.recv()
        if not isinstance(found, Visit):
            raise TypeError("the server says something else")
        return found

    def hosts(self) -> dict[str, tuple[str, int] | None]:
        """Host name → where it leads; None where there is no such name."""
        found: dict[str, tuple[str, int] | None] = {}
        for listed in self.sites:
            port = self.refusing_port if listed.manners == "refused" else self.port
            for name in listed.names:
                found[name] = None if listed.manners == "no-such-name" else (listed.address, port)
        return found


@contextmanager
def served(count: int, *, padded: bool = False, is_well: bool = False) -> Iterator[NetworkServer]:
    """Serve so many websites until the block ends; on a network that is well, all of them answer at once."""
    context = get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(count, padded, is_well, there), daemon=True)
    process.start()
    port, refusing_port = here.recv()
    try:
        yield NetworkServer(_sites(count, is_well), port, refusing_port, here)
    finally:
        here.send("end")
        process.join()


def _sites(count: int, is_well: bool) -> list[NetworkSite]:
    town = build_town(size=town_size(count))
    return network_sites(town, count, one_address=not HAS_MANY_ADDRESSES, is_well=is_well)


# --- the far end


class _Network:
    """What the connections share: the sites, their answers, and the record."""

    def __init__(self, sites: list[NetworkSite], *, padded: bool) -> None:
        self.sites = {name: listed for listed in sites for name in (*listed.names, listed.alias)}
        self.answers = AnswerTable(self.sites, padded=padded)
        self.answers.fill()
        self.base = 0.0
        self.seen = Seen()
        self.connections = self.most_connections = self.most_busy = 0
        self.busy: Counter[str] = Counter()
        """Address → requests that wait for their answer."""
        self._spent = time.process_time()

    def expect(self, latency: float) -> None:
        self.base, self.seen = latency, Seen()
        self.most_connections, self.most_busy = self.connections, 0
        self._spent = time.process_time()

    def visit(self, address_share: float) -> Visit:
        spent = time.process_time() - self._spent
        return Visit(judge(self.seen, address_share=address_share), spent, self.most_connections, self.most_busy)

    def asked(self, address: str) -> None:
        self.busy[address] += 1
        self.most_busy = max(self.most_busy, self.busy[address])

    def beat(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        """Note when the loop was late: what it read then may have lain there for as long."""
        now = loop.time()
        if now > due + _LATE:
            self.seen.late(due, now)
        loop.call_later(BEAT, self.beat, loop, now + BEAT)


class _Visitor(asyncio.Protocol):
    """One connection. A visitor asks for one page at a time."""

    def __init__(self, network: _Network, loop: asyncio.AbstractEventLoop) -> None:
        self._network = network
        self._loop = loop
        self._read = b""
        self._transport: asyncio.Transport | None = None
        self._address = ""
        self._is_asked = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("not a stream")
        self._transport = transport
        self._address = str(transport.get_extra_info("sockname")[0])
        self._network.connections += 1
        self._network.most_connections = max(self._network.most_connections, self._network.connections)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  the library's signature
        self._transport = None
        self._network.connections -= 1
        self._answered()

    def data_received(self, data: bytes) -> None:
        self._read += data
        if self._read.startswith(_TLS_HANDSHAKE):
            self._close()
            return
        head, end, rest = self._read.partition(b"\r\n\r\n")
        if end:
            self._read = rest
            self._asked(head, self._loop.time())

    def _asked(self, head: bytes, at: float) -> None:
        first, *lines = head.split(b"\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines)}
        parts = urlsplit(first.split(b" ")[1].decode("latin-1"))
        host = headers.get(b"host", b"").decode("latin-1").partition(":")[0].lower()
        path = unquote(parts.path) or "/"
        listed = self._network.sites.get(host)
        manners = listed.manners if listed else "no-such-name"
        site = listed.site.domain if listed and host == listed.alias else host.removeprefix("www.")
        status, answer = self._network.answers.answer(host, path).form(
            validator=headers.get(b"if-none-match"), takes_gzip=b"gzip" in headers.get(b"accept-encoding", b"")
        )
        is_silent = manners in ("silent", "refused", "no-such-name")
        url = f"http://{host}{path}"
        self._network.seen.add(site, self._address, url, 0 if is_silent else status, at)
        self._is_asked = True
        self._network.asked(self._address)
        if is_silent:
            return
        closes = headers.get(b"connection", b"").lower() == b"close"
        wait = latency_of(host, self._network.base, manners)
        self._loop.call_later(wait, self._drip if manners == "drip" else self._send, answer, closes)

    def _send(self, answer: bytes, closes: bool, is_last: bool = True) -> None:
        if self._transport is None:
            return  # the visitor went away
        self._transport.write(answer)
        if is_last:
            self._answered()
        if is_last and closes:
            self._close()

    def _answered(self) -> None:
        if self._is_asked:
            self._is_asked = False
            self._network.busy[self._address] -= 1

    def _drip(self, answer: bytes, closes: bool) -> None:
        """The head at once, the rest in many small pieces."""
        head, end, body = answer.partition(b"\r\n\r\n")
        self._send(head + end, closes, not body)
        size = max(1, -(-len(body) // _DRIPS))
        pieces = [body[start : start + size] for start in range(0, len(body), size)]
        for number, piece in enumerate(pieces, 1):
            wait = DRIP_SECONDS * number / len(pieces)
            self._loop.call_later(wait, self._send, piece, closes, number == len(pieces))

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.close()


def _serve(count: int, padded: bool, is_well: bool, connection: Connection) -> None:
    asyncio.run(_served(_Network(_sites(count, is_well), padded=padded), connection))


async def _served(network: _Network, connection: Connection) -> None:
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    listener = await loop.create_server(lambda: _Visitor(network, loop), sock=_listening(), backlog=_BACKLOG)
    network.beat(loop, loop.time())
    connection.send((listener.sockets[0].getsockname()[1], free_ports(1)[0]))

    def obey(order: object) -> None:
        match order:
            case float(latency):
                network.expect(latency)
                connection.send(None)
            case ("visit", float(share)):
                connection.send(network.visit(share))
            case _:
                over.set()

    def listen() -> None:
        order: object = None
        while order != "end":
            order = connection.recv()
            loop.call_soon_threadsafe(obey, order)

    threading.Thread(target=listen, daemon=True).start()
    await over.wait()
    listener.close()


def _listening() -> socket.socket:
    """All loopback addresses of this machine, and nothing that comes from elsewhere."""
    opened = socket.socket()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if HAS_MANY_ADDRESSES:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo\0")
        opened.bind(("0.0.0.0", 0))
    else:
        opened.bind((LOOPBACK, 0))
    opened.setblocking(False)
    return opened
