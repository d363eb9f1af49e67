"""Names that were looked up, kept for a while: a visit asks the name server once, and knows the address beforehand."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.pipeline.websites.fetch.outcome import Failure
from cocli.pipeline.websites.fetch.resolver import Endpoint, lookup_failed, no_such_host
from cocli.pipeline.websites.fetch.signals import Breakdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.pipeline.websites.fetch.clock import Time
    from cocli.pipeline.websites.fetch.resolver import Resolve

FRESH_SECONDS = 300.0
"""The machine's resolver does not say how long an answer holds. A visit takes a minute at most."""
GONE_SECONDS = 60.0
"""For a name that does not exist: it may have been registered meanwhile."""
_REMEMBERED = 20_000
_GRACE = 1.1
"""A resolver that has the same limit itself, and counts what passes it, is to notice first."""


@dataclass(frozen=True, slots=True)
class _Answer:
    until: float
    endpoints: tuple[Endpoint, ...]
    """None: there is no such name."""


class Lookups:
    """Fits `cocli.pipeline.websites.fetch.resolver.Resolve`. What could not be looked up is asked for again."""

    def __init__(self, resolve: Resolve, time: Time, *, seconds: float) -> None:
        self._resolve = resolve
        self._time = time
        self._seconds = seconds
        self._known: OrderedDict[tuple[str, int], _Answer] = OrderedDict()
        self._asking: dict[tuple[str, int], asyncio.Lock] = {}

    async def __call__(self, host: str, port: int) -> Sequence[Endpoint]:
        answer = self._fresh(host, port)
        if answer is None:
            async with self._asking.setdefault((host, port), asyncio.Lock()):
                try:
                    answer = self._fresh(host, port) or await self._asked(host, port)
                finally:
                    self._asking.pop((host, port), None)
        if not answer.endpoints:
            raise no_such_host(host)
        return answer.endpoints

    def known(self, host: str, port: int) -> Sequence[Endpoint]:
        """What was looked up a while ago, without waiting; nothing where it was not, or where there is no such name."""
        answer = self._fresh(host, port)
        return answer.endpoints if answer is not None else ()

    def forget(self, host: str, port: int) -> None:
        """Nobody is there any more: it may have moved."""
        self._known.pop((host, port), None)

    def _fresh(self, host: str, port: int) -> _Answer | None:
        answer = self._known.get((host, port))
        if answer is not None and answer.until > self._time.monotonic():
            return answer
        return None

    async def _asked(self, host: str, port: int) -> _Answer:
        try:
            async with asyncio.timeout(self._seconds * _GRACE):
                found = await self._resolve(host, port)
        except TimeoutError:
            raise lookup_failed(host, "no name server answered in time", settled=True) from None
        except Breakdown as breakdown:
            if breakdown.kind is not Failure.NO_SUCH_HOST:
                raise
            found = ()
        lifetime = FRESH_SECONDS if found else GONE_SECONDS
        answer = _Answer(self._time.monotonic() + lifetime, tuple(Endpoint(*endpoint) for endpoint in found))
        self._known[host, port] = answer
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return answer
