"""What many visits want to have written within the same moment is written as one group.

A group costs one round of synchronisations and one transaction, however many are in it. Whoever comes while one is
being written is part of the next.
"""

from __future__ import annotations

import asyncio
from contextvars import Context
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")
R = TypeVar("R")
_MOST = 64
_ENOUGH = 16
"""A group of so many waits for no more: twice as many would cost hardly less for each."""
GATHER_SECONDS = 0.15
"""So long a group waits for more, while others come. A site pauses longer between two of its pages. Whoever is alone
waits for nobody."""


class Gathering(Generic[T, R]):
    """For one event loop. `write` blocks, so it runs in a thread; it answers for each, with an exception if need be."""

    def __init__(
        self,
        write: Callable[[Sequence[T]], Sequence[R | Exception]],
        *,
        seconds: float = GATHER_SECONDS,
        enough: int = _ENOUGH,
    ) -> None:
        """`seconds` are those that a group waits for more at most; one of `enough` waits for nobody."""
        self._write = write
        self._seconds = seconds
        self._plenty = enough
        self._waiting: list[tuple[T, asyncio.Future[R]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._is_busy = False
        self._enough: asyncio.Future[None] | None = None
        """Whoever waits for company."""

    async def add(self, item: T) -> R:
        """Have it written with whatever else is: what came of it, once it is safe."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[R] = loop.create_future()
        self._waiting.append((item, answer))
        if self._writing is None:
            # A context of its own: a group is nobody's visit in particular.
            self._writing = loop.create_task(self._write_all(), context=Context())
        elif self._enough is not None and len(self._waiting) >= self._plenty:
            _settle(self._enough)
        return await answer

    async def _write_all(self) -> None:
        try:
            while self._waiting:
                if self._is_busy and len(self._waiting) < self._plenty:
                    await self._company()
                group, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
                self._is_busy = len(group) > 1
                await self._write_group(group)
        finally:
            self._writing = None

    async def _company(self) -> None:
        """Until enough have come, or it took too long."""
        loop = asyncio.get_running_loop()
        self._enough = loop.create_future()
        timer = loop.call_later(self._seconds, _settle, self._enough)
        try:
            await self._enough
        finally:
            timer.cancel()
            self._enough = None

    async def _write_group(self, group: Sequence[tuple[T, asyncio.Future[R]]]) -> None:
        answers: Sequence[R | Exception]
        try:
            answers = await asyncio.to_thread(self._write, [item for item, _ in group])
        except Exception as error:  # noqa: BLE001  everybody who waits is told
            answers = [error] * len(group)
        except BaseException:  # the loop ends: nobody is kept waiting
            for _, waiting in group:
                waiting.cancel()
            raise
        for (_, waiting), answer in zip(group, answers, strict=True):
            if waiting.done():
                continue  # whoever asked has gone: its lease is lost
            if isinstance(answer, StopIteration):  # no future takes one: whoever waits would wait for ever
                waiting.set_exception(RuntimeError(f"{answer!r} while a group was written"))
            elif isinstance(answer, Exception):
                waiting.set_exception(answer)
            else:
                waiting.set_result(answer)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
