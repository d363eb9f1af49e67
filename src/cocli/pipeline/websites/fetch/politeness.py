"""When it is a request's turn: one at a time to a host, not faster than agreed, and not too many over all.

Turns of one host are given in the order in which they were asked for. A request waits for its host first and takes a
place under the ceiling only when it may really start, so that slow hosts do not hold up the others.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from cocli.pipeline.websites.fetch.clock import Time

_REMEMBERED = 10_000


@dataclass(slots=True)
class _Host:
    turn: asyncio.Semaphore
    pace: asyncio.Lock
    next_at: float = 0.0
    waiting: int = 0


class Politeness:
    """The turns of a fetcher."""

    def __init__(self, time: Time, *, rate: float, per_host: int, total: int, longest_delay: float) -> None:
        self._time = time
        self._interval = 1.0 / rate
        self._per_host = per_host
        self._longest_delay = longest_delay
        self._ceiling = asyncio.Semaphore(total)
        self._hosts: OrderedDict[str, _Host] = OrderedDict()
        self.under_way = 0
        """Requests whose turn it is."""

    @asynccontextmanager
    async def turn(self, host: str, delay: float | None = None) -> AsyncIterator[None]:
        """A turn at a host; `delay` are the seconds between two requests that its robots.txt asks for."""
        state = self._state(host)
        state.waiting += 1
        try:
            async with state.turn:
                async with state.pace:
                    await self._wait_until(state)
                    await self._ceiling.acquire()
                    state.next_at = self._time.monotonic() + self._between(delay)
                self.under_way += 1
                try:
                    yield
                finally:
                    self.under_way -= 1
                    self._ceiling.release()
        finally:
            state.waiting -= 1

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Under the ceiling alone: for what a browser needs to show a page whose turn it was."""
        async with self._ceiling:
            yield

    def _between(self, delay: float | None) -> float:
        return max(self._interval, min(delay or 0.0, self._longest_delay))

    async def _wait_until(self, state: _Host) -> None:
        wait = state.next_at - self._time.monotonic()
        if wait > 0:
            await self._time.sleep(wait)

    def _state(self, host: str) -> _Host:
        state = self._hosts.get(host)
        if state is None:
            self._forget_some()
            state = self._hosts[host] = _Host(asyncio.Semaphore(self._per_host), asyncio.Lock())
        self._hosts.move_to_end(host)
        return state

    def _forget_some(self) -> None:
        """Hosts that nobody waits for, and whose time of rest is over, are as good as unknown ones."""
        if len(self._hosts) < _REMEMBERED:
            return
        now = self._time.monotonic()
        for host in [name for name, state in self._hosts.items() if not state.waiting and state.next_at <= now]:
            del self._hosts[host]
