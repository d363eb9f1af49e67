"""Callers of an HTTP service who behave: each asks, reads the answer, and asks again a little later."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from dataclasses import dataclass, field
from statistics import quantiles
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    from tests.kit.crowd import Target

_PATIENCE = 60.0
_AGAIN = frozenset({408, 429, 503})
"""What says that it may be tried again."""


@dataclass(slots=True)
class Figures:
    """What good callers saw."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    reconnected: int = 0
    unanswered: int = 0

    def percentile(self, percent: int) -> float:
        """In milliseconds."""
        if len(self.seconds) < 2:
            return 0.0
        return 1000 * quantiles(self.seconds, n=100, method="inclusive")[percent - 1]

    @property
    def failed(self) -> int:
        refused = (count for status, count in self.statuses.items() if status >= 300 and status not in _AGAIN)
        return self.unanswered + sum(refused)

    def line(self) -> str:
        again = sum(count for status, count in self.statuses.items() if status in _AGAIN)
        return (
            f"{len(self.seconds):,} answered, p50 {self.percentile(50):.0f} ms, p99 {self.percentile(99):.0f} ms; "
            f"{again} told to come again, {self.failed} failed"
        )


@dataclass(slots=True)
class GoodCaller:
    target: Target
    body: Callable[[], bytes]
    figures: Figures
    rng: random.Random
    pause: float
    _talk: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def run(self, until: float) -> None:
        try:
            while time.monotonic() < until:
                await asyncio.sleep(self.rng.uniform(0, 2 * self.pause))
                await self._ask()
        finally:
            self._hang_up()

    async def _ask(self) -> None:
        started = time.monotonic()
        try:
            status = await asyncio.wait_for(self._answered(self.body()), _PATIENCE)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            self.figures.unanswered += 1
            self._hang_up()
            return
        self.figures.statuses[status] += 1
        if status not in _AGAIN:
            self.figures.seconds.append(time.monotonic() - started)

    async def _answered(self, body: bytes) -> int:
        """As every client does, it asks once more where a connection that was open had been closed."""
        if self._talk is not None:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                return await self._once(self._talk, body)
            self.figures.reconnected += 1
            self._hang_up()
        self._talk = await asyncio.open_connection(self.target.host, self.target.port)
        return await self._once(self._talk, body)

    async def _once(self, talk: tuple[asyncio.StreamReader, asyncio.StreamWriter], body: bytes) -> int:
        reader, writer = talk
        writer.write(self.target.head(self.target.token, f"Content-Length: {len(body)}") + body)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(length)
        if b"connection: close" in head:
            self._hang_up()
        return int(head.split(b" ", 2)[1])

    def _hang_up(self) -> None:
        if self._talk is not None:
            self._talk[1].transport.abort()
            self._talk = None


def call_for(callers: Sequence[GoodCaller], seconds: float) -> None:
    """All of them at once, in a loop of their own."""
    until = time.monotonic() + seconds

    async def everybody() -> None:
        await asyncio.gather(*(caller.run(until) for caller in callers))

    asyncio.run(everybody())
