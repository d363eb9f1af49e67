"""Time for coroutines, in which waiting takes none: it jumps to the next sleeper as soon as nobody has work left.

time = AsyncTime()
time.run(main(time))        # like asyncio.run; `await time.sleep(3600)` returns at once, an hour later
"""

from __future__ import annotations

import asyncio
import heapq
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

T = TypeVar("T")

_ROUNDS = 50
"""Turns of the event loop after which everybody who has work that needs no waiting has done it."""


class AsyncTime:
    """A clock for `cocli.pipeline.websites.fetch`, and the loop that drives it."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = count()

    def now(self) -> datetime:
        return datetime(2026, 11, 15, tzinfo=UTC) + timedelta(seconds=self._seconds)

    def monotonic(self) -> float:
        return self._seconds

    async def sleep(self, seconds: float) -> None:
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._seconds + seconds, next(self._order), future))
        await future

    def run(self, main: Coroutine[object, object, T]) -> T:
        return asyncio.run(self._drive(main))

    async def _drive(self, main: Coroutine[object, object, T]) -> T:
        task = asyncio.ensure_future(main)
        while not task.done():
            for _ in range(_ROUNDS):
                await asyncio.sleep(0)
            if self._sleepers and not task.done():
                at, _, future = heapq.heappop(self._sleepers)
                self._seconds = max(self._seconds, at)
                if not future.done():
                    future.set_result(None)
        return await task


class HastyTime:
    """Real time, in which waiting is a hundred times shorter: for tests with real servers."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time() * 100

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        await asyncio.sleep(seconds / 100)


class SleptTime(HastyTime):
    """Time that passes only while somebody sleeps, one at a time: how slow the machine is does not matter."""

    def monotonic(self) -> float:
        return sum(self.waits)
