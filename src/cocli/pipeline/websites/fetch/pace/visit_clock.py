"""The time that a visit may take, without the time that it waits for others.

A visit of a site has so many seconds. Where hundreds of sites lie at one address, or another process asks the site,
it waits for turns that are not its own to give; the site is not slow because of that. Whoever waits says so here.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_WAIT = 600.0
"""Seconds in a row that do not count. Beyond, the visit's own time runs again, and its task comes back another day."""

_VISIT: ContextVar[VisitClock | None] = ContextVar("visit", default=None)
"""Of the visit that this task is at. It belongs to the task and its calls, like the time-outs of asyncio."""


class VisitClock:
    """Of one visit."""

    def __init__(self) -> None:
        self.waited = 0.0
        """Seconds that do not count."""
        self._limit: asyncio.Timeout | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """What is asked for in this block is asked for on behalf of this visit."""
        token = _VISIT.set(self)
        try:
            yield
        finally:
            _VISIT.reset(token)

    @contextmanager
    def limiting(self, limit: asyncio.Timeout) -> Iterator[None]:
        """A time-out that is put off by what does not count."""
        self._limit = limit
        try:
            yield
        finally:
            self._limit = None

    @contextmanager
    def standing(self) -> Iterator[None]:
        """The visit's time stands still."""
        loop = asyncio.get_running_loop()
        began, limit = loop.time(), self._limit
        ends = limit.when() if limit is not None else None
        if limit is not None and ends is not None:
            limit.reschedule(ends + LONGEST_WAIT)
        try:
            yield
        finally:
            waited = min(loop.time() - began, LONGEST_WAIT)
            self.waited += waited
            if limit is not None and ends is not None and not limit.expired():
                limit.reschedule(ends + waited)


@contextmanager
def waiting_for_others() -> Iterator[None]:
    """Whatever visit this is: its time stands still in this block."""
    visit = _VISIT.get()
    if visit is None:
        yield
        return
    with visit.standing():
        yield
