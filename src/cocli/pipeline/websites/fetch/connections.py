"""Connections that are kept: a few per origin, those of the least used origins closed when there are too many.

The library's own pool looks at its connections before and after each request, which takes as long as the request. Here
one request has a connection to itself, so there is nothing to look for.
"""

from __future__ import annotations

import asyncio
import resource
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpcore2

from cocli.pipeline.websites.fetch.wire.connection import DirectConnection, LibraryConnection

if TYPE_CHECKING:
    import ssl

    from cocli.pipeline.websites.fetch.wire.exchange import WireConnection

_KEEP_SECONDS = 30.0
_LEAST_KEPT = 128
_SITES_PER_REQUEST = 4
"""A site pauses longer between two requests than a request takes: so many are visited for each request that runs."""
_SHARE_OF_FILES = 4

Origin = tuple[str, str, int]


@dataclass(slots=True)
class _Place:
    """The connections of one origin."""

    turns: asyncio.Semaphore
    idle: list[WireConnection] = field(default_factory=list)
    users: int = 0
    used_at: float = 0.0


@dataclass(slots=True)
class ConnectionLease:
    """A connection in use, in its own `async with`: one request has it to itself."""

    connection: WireConnection
    spoiled: bool = False
    """An answer was left half-read, or something broke: it must not be used again."""


class _Leasing:
    """A block of every request: as a class it takes half of what a generator takes."""

    __slots__ = ("_all", "_lease", "_origin", "_place")

    def __init__(self, connections: Connections, origin: Origin, place: _Place) -> None:
        self._all = connections
        self._origin = origin
        self._place = place
        self._lease: ConnectionLease | None = None

    async def __aenter__(self) -> ConnectionLease:
        place = self._place
        try:
            await place.turns.acquire()
        except BaseException:
            await self._all.leave(self._origin, place)
            raise
        try:
            self._lease = ConnectionLease(await _usable(place) or self._all.made(self._origin))
        except BaseException:
            await self._end()
            raise
        return self._lease

    async def __aexit__(self, *_: object) -> None:
        await self._end()

    async def _end(self) -> None:
        try:
            if self._lease is not None:
                await _put_back(self._place, self._lease)
        finally:
            self._place.turns.release()
            await self._all.leave(self._origin, self._place)


class Connections:
    """The connections of a client."""

    def __init__(
        self,
        network: httpcore2.AsyncNetworkBackend,
        tls: ssl.SSLContext,
        *,
        per_origin: int,
        kept: int = _LEAST_KEPT,
        proxy: httpcore2.Proxy | None = None,
    ) -> None:
        self._per_origin = per_origin
        self._kept = kept
        self._network = network
        self._tls = tls
        self._proxied: httpcore2.AsyncConnectionPool | None = None
        """Makes connections through a proxy; None where there is none."""
        if proxy is not None:
            self._proxied = httpcore2.AsyncConnectionPool(
                ssl_context=tls, proxy=proxy, keepalive_expiry=_KEEP_SECONDS, http2=True, network_backend=network
            )
        self._places: OrderedDict[Origin, _Place] = OrderedDict()

    def lease(self, origin: Origin) -> _Leasing:
        """A connection for one request."""
        place = self._places.get(origin)
        if place is None:
            place = self._places[origin] = _Place(asyncio.Semaphore(self._per_origin))
        self._places.move_to_end(origin)
        place.users += 1
        place.used_at = asyncio.get_running_loop().time()
        return _Leasing(self, origin, place)

    async def leave(self, origin: Origin, place: _Place) -> None:
        """A request is over."""
        place.users -= 1
        if self._places.get(origin) is not place:
            await _close_idle(place)  # everything was closed meanwhile
        await self._drop_surplus()

    async def close(self) -> None:
        for place in self._places.values():
            await _close_idle(place)
        self._places.clear()

    def made(self, origin: Origin) -> WireConnection:
        if self._proxied is None:
            return DirectConnection(self._network, self._tls, keep_seconds=_KEEP_SECONDS)
        scheme, host, port = origin
        asked = httpcore2.Origin(scheme.encode("ascii"), host.encode("ascii"), port)
        return LibraryConnection(self._proxied.create_connection(asked))

    async def _drop_surplus(self) -> None:
        """Close what nobody will use again, beginning with what was used first."""
        while len(self._places) > self._kept:
            unused = next((origin for origin, place in self._places.items() if place.users == 0), None)
            if unused is None:
                return
            await _close_idle(self._places.pop(unused))
        expired = asyncio.get_running_loop().time() - _KEEP_SECONDS
        while self._places:
            origin, place = next(iter(self._places.items()))
            if place.users or place.used_at > expired:
                return
            await _close_idle(self._places.pop(origin))


def kept_connections(concurrency: int) -> int:
    """So many origins that the sites of all visits keep theirs, as far as this process may open files."""
    wanted = concurrency * _SITES_PER_REQUEST
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files != resource.RLIM_INFINITY:
        wanted = min(wanted, files // _SHARE_OF_FILES)
    return max(_LEAST_KEPT, wanted)


async def _usable(place: _Place) -> WireConnection | None:
    """One that its server has not closed meanwhile."""
    while place.idle:
        connection = place.idle.pop()
        if connection.is_usable:
            return connection
        await connection.close()
    return None


async def _put_back(place: _Place, lease: ConnectionLease) -> None:
    if lease.spoiled or not lease.connection.is_usable:
        await lease.connection.close()
    else:
        place.idle.append(lease.connection)


async def _close_idle(place: _Place) -> None:
    while place.idle:
        await place.idle.pop().close()
