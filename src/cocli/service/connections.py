"""The connections of an HTTP service: who may have one, for how long it waits for a request, and who makes room.

A connection is watched from the moment it is accepted, so one that never ends its TLS handshake counts like one that
never ends a request's head. A new connection is always let in. Where there are too many, another one is closed: first
one that showed no valid token, of the address that has most of them, the longest waiting first. A request with a token
that is under way is never closed; `RequestPlaces` lets fewer of them in than there are connections, so there is always
one that can be closed, and a new caller (a neighbour, or whoever asks for the health) is always heard.

The server library has no time-out for a head, and its own limit answers 503 to everybody once it is reached.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_AT_ONCE = 20
_CONNECTION = "cocli.connection"
"""Of an ASGI scope."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    total: int = 512
    of_address: int = 256
    wait_seconds: float = 10.0
    """For the handshake and the head of a request, however many bytes trickle in."""
    send_seconds: float = 30.0
    """For a caller to take a part of the answer."""
    stranger_seconds: float = 0.5
    """Between two requests of a connection that showed no valid token, after the first twenty."""


@dataclass(slots=True, eq=False)
class _Connection:
    socket: socket.socket
    address: str
    since: float
    """When it began to wait for a request."""
    requests: int = 0
    """Under way: more than one where a caller does not wait for answers."""
    known: bool = False
    """Its last request had a valid token."""
    paid_until: float = 0.0
    """Requests without a token cost time; who asks faster than that is answered later."""

    @property
    def is_open(self) -> bool:
        return self.socket.fileno() != -1

    @property
    def is_protected(self) -> bool:
        return self.known and self.requests > 0

    def cut(self) -> None:
        """The event loop sees the end and closes it, whatever it was doing: a handshake, reading or writing."""
        with suppress(OSError):  # it is closed already
            self.socket.shutdown(socket.SHUT_RDWR)


class CallerConnections:
    """Those of one server. Everything here runs in the server's event loop."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._open: dict[tuple[str, int], _Connection] = {}

    def admit(self, accepted: socket.socket, peer: tuple[Any, ...]) -> None:
        connection = _Connection(accepted, network_of(peer[0]), time.monotonic())
        self._open[peer[0], peer[1]] = connection
        if len(self._open) > min(self._limits.total, self._limits.of_address):
            self._forget_closed()
            self._make_room(connection)

    async def sweep(self) -> None:
        """Close those that waited too long. Called every second or two."""
        self._forget_closed()
        until = time.monotonic() - self._limits.wait_seconds
        for connection in self._open.values():
            if not connection.requests and connection.since < until:
                connection.cut()

    def watched(self, application: ASGIApp) -> ASGIApp:
        """Notes the requests of each connection, and leaves callers who do not take their answer."""

        async def watching(scope: Scope, receive: Receive, send: Send) -> None:
            connection = self._open.get(scope.get("client") or ("", 0))
            if scope["type"] != "http" or connection is None:
                await application(scope, receive, send)
                return
            connection.known = False
            connection.requests += 1
            scope[_CONNECTION] = connection
            try:
                await self._pace(connection)
                await application(scope, receive, _bounded(send, connection, self._limits.send_seconds))
            finally:
                connection.requests -= 1
                connection.since = time.monotonic()
                if not connection.known:
                    connection.paid_until = max(connection.since, connection.paid_until) + self._limits.stranger_seconds

        return watching

    async def _pace(self, connection: _Connection) -> None:
        """Strangers who ask without end leave the event loop to others."""
        early = connection.paid_until - time.monotonic() - _AT_ONCE * self._limits.stranger_seconds
        if early > 0:
            await asyncio.sleep(early)

    def _forget_closed(self) -> None:
        self._open = {peer: connection for peer, connection in self._open.items() if connection.is_open}

    def _make_room(self, newest: _Connection) -> None:
        counts = Counter(connection.address for connection in self._open.values())
        candidates = [connection for connection in self._open.values() if not connection.is_protected]
        if counts[newest.address] > self._limits.of_address:
            candidates = [connection for connection in candidates if connection.address == newest.address]
        elif len(self._open) <= self._limits.total:
            return
        leaving = min(
            (connection for connection in candidates if connection is not newest),
            key=lambda connection: (connection.known, -counts[connection.address], connection.since),
            default=newest,
        )
        leaving.cut()
        self._open = {peer: connection for peer, connection in self._open.items() if connection is not leaving}


def note_caller(scope: Scope) -> None:
    """The request has a valid token: from now on nobody closes its connection to make room."""
    connection = scope.get(_CONNECTION)
    if connection is not None:
        connection.known = True


def _bounded(send: Send, connection: _Connection, seconds: float) -> Send:
    async def sending(message: Message) -> None:
        try:
            async with asyncio.timeout(seconds):
                await send(message)
        except TimeoutError:
            connection.cut()
            await send(message)  # returns once the loop has seen the end: nobody is there any more

    return sending


class WatchedListener(socket.socket):
    """A listening socket whose connections are noted when they are accepted, before any handshake."""

    connections: CallerConnections | None = None

    def accept(self) -> tuple[socket.socket, Any]:
        accepted, peer = super().accept()
        if self.connections is not None:
            self.connections.admit(accepted, peer)
        return accepted, peer


def network_of(host: str) -> str:
    """Whom an address belongs to: a caller with IPv6 has a whole network of 64 bits."""
    address = ip_address(host.partition("%")[0])
    if address.version == 4:
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return address.exploded[:19]
