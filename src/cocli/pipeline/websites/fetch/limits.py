"""How much of a site we take, and how long we wait for it. What a site does beyond that ends in a typed verdict."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.pipeline.websites.fetch.outcome import Failure
from cocli.pipeline.websites.fetch.signals import Breakdown

if TYPE_CHECKING:
    from types import TracebackType

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

    def spending(self) -> _Spending:
        """What is done in this block takes of it, and is broken off when nothing is left."""
        return _Spending(self)

    @property
    def left(self) -> float:
        return self._left

    def spend(self, seconds: float) -> None:
        self._left -= seconds


class _Spending:
    """A block of every request: as a class it takes half of what a generator takes."""

    __slots__ = ("_began", "_budget", "_limit")

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._limit = asyncio.timeout(max(0.0, budget.left))
        self._began = 0.0

    async def __aenter__(self) -> None:
        self._began = asyncio.get_running_loop().time()
        await self._limit.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._budget.spend(asyncio.get_running_loop().time() - self._began)
        try:
            await self._limit.__aexit__(kind, error, trace)
        except TimeoutError as late:
            error = late
        if isinstance(error, TimeoutError):
            raise Breakdown(Failure.TIMEOUT, "the way to the page took too long") from None
