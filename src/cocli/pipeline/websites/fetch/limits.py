"""How much of a site we take, and how long we wait for it. What a site does beyond that ends in a typed verdict."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.pipeline.websites.fetch.outcome import Failure
from cocli.pipeline.websites.fetch.signals import Breakdown

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Seconds and bytes."""

    lookup: float = 10.0
    """Until the name server answered."""
    connect: float = 10.0
    """Until a connection stands; once more for its encryption."""
    first_byte: float = 30.0
    """Until the head of the answer is there, with connecting."""
    robots_answer: float = 12.0
    """The same for robots.txt, the first thing that a site is asked for: who says nothing to that is silent."""
    body: float = 30.0
    """For the whole body, however steadily it drips."""
    journey: float = 120.0
    """For all requests that one page takes, with its redirects and repetitions. Waiting for our turn does not count."""
    page_bytes: int = 5 * MIB
    """Of a page, decompressed. What is longer is cut off."""
    error_bytes: int = 256 * KIB
    """Of a page that comes with an error."""
    hopeless_bytes: int = 64 * MIB
    """A body that is declared longer than this is not even begun."""
    bomb_ratio: int = 100
    """A body that goes beyond the limit and was packed more tightly than this is a bomb, not a page."""
    redirects: int = 10
    robots_bytes: int = 512 * KIB
    robots_redirects: int = 5
    addresses: int = 4
    """Of a name that has many: as many are tried."""

    def of_page(self, status: int) -> int:
        if status < 400:
            return self.page_bytes
        return min(self.error_bytes, self.page_bytes)


class Budget:
    """The time that is left for a page."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    @asynccontextmanager
    async def spending(self) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            async with asyncio.timeout(max(0.0, self._left)):
                yield
        except TimeoutError:
            raise Breakdown(Failure.TIMEOUT, "the way to the page took too long") from None
        finally:
            self._left -= loop.time() - started
