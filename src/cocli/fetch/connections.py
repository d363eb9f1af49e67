"""Connections that are kept: one small pool per origin, the least used ones closed when there are too many.

A pool of its own for each origin, because the library looks at every connection of a pool at each request.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpcore2

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator

_KEEP_SECONDS = 30.0

Origin = tuple[str, str, int]


@dataclass(slots=True)
class Lease:
    """A pool in use."""

    pool: httpcore2.AsyncConnectionPool
    spoiled: bool = False
    """An answer was left half-read, or something broke: what is left in the pool must not be used again."""
    users: int = 0


class Connections:
    """The pools of a client."""

    def __init__(
        self,
        network: httpcore2.AsyncNetworkBackend,
        tls: ssl.SSLContext,
        *,
        per_origin: int,
        kept: int = 128,
        proxy: httpcore2.Proxy | None = None,
    ) -> None:
        self._network = network
        self._tls = tls
        self._per_origin = per_origin
        self._kept = kept
        self._proxy = proxy
        self._leases: OrderedDict[Origin, Lease] = OrderedDict()

    @asynccontextmanager
    async def lease(self, origin: Origin) -> AsyncIterator[Lease]:
        lease = self._leases.get(origin)
        if lease is None:
            lease = self._leases[origin] = Lease(self._pool())
        self._leases.move_to_end(origin)
        lease.users += 1
        try:
            yield lease
        finally:
            lease.users -= 1
            if lease.spoiled or self._leases.get(origin) is not lease:
                await self._drop(origin, lease)
            await self._drop_surplus()

    async def close(self) -> None:
        for origin, lease in list(self._leases.items()):
            await self._drop(origin, lease)

    def _pool(self) -> httpcore2.AsyncConnectionPool:
        return httpcore2.AsyncConnectionPool(
            ssl_context=self._tls,
            proxy=self._proxy,
            max_connections=self._per_origin,
            keepalive_expiry=_KEEP_SECONDS,
            http2=True,
            network_backend=self._network,
        )

    async def _drop(self, origin: Origin, lease: Lease) -> None:
        """The next one to ask gets a new pool; this one is closed by the last who uses it."""
        if self._leases.get(origin) is lease:
            del self._leases[origin]
        if lease.users == 0:
            await lease.pool.aclose()

    async def _drop_surplus(self) -> None:
        surplus = len(self._leases) - self._kept
        if surplus > 0:
            idle = [(origin, lease) for origin, lease in self._leases.items() if lease.users == 0]
            for origin, lease in idle[:surplus]:
                await self._drop(origin, lease)
