"""The time that a visit may take, without the time that it waits for others or for a busy machine.

A visit of a site has so many seconds. Where hundreds of sites lie at one address, or another process asks the site,
it waits for turns that are not its own to give; the site is not slow because of that. Whoever waits says so here.

A busy machine is no slow site either. A page that is read counts with the processor time that it takes, and not with
the time until the processor is free. And when the event loop comes late to its own appointments, everybody in it
waited for that long: a beat tells.
"""

from __future__ import annotations

import asyncio
import weakref
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_WAIT = 600.0
"""Seconds in a row that do not count. Beyond, the visit's own time runs again, and its task comes back another day."""

_BEAT = 0.25
"""Seconds between two appointments with an event loop."""
_PUNCTUAL = 0.005
"""A delay that every loop has now and then."""

_WORTH_TELLING = 0.1
"""Delays are told once they come to so much: a busy loop is a little late with every beat, and has many visits."""

_VISIT: ContextVar[VisitClock | None] = ContextVar("visit", default=None)
"""Of the visit that this task is at. It belongs to the task and its calls, like the time-outs of asyncio."""


class VisitClock:
    """Of one visit."""

    def __init__(self) -> None:
        self.waited = 0.0
        """Seconds that do not count."""
        self.gave_up_waiting = False
        """It waited for so long that its own time ran meanwhile."""
        self._limit: asyncio.Timeout | None = None
        self._began = 0.0
        self._is_standing = False
        self._stood_until = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """What is asked for in this block is asked for on behalf of this visit."""
        loop = asyncio.get_running_loop()
        token, self._began = _VISIT.set(self), loop.time()
        beat = _BEATS.get(loop)
        if beat is None:
            beat = _BEATS[loop] = _LoopBeat(loop)
        beat.add(self)
        try:
            yield
        finally:
            beat.remove(self)
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
        if self._is_standing:
            yield
            return
        loop = asyncio.get_running_loop()
        began, limit = loop.time(), self._limit
        self._is_standing = True
        ends = limit.when() if limit is not None else None
        if limit is not None and ends is not None:
            limit.reschedule(ends + LONGEST_WAIT)
        try:
            yield
        finally:
            self._is_standing, self._stood_until = False, loop.time()
            waited = min(self._stood_until - began, LONGEST_WAIT)
            self.waited += waited
            self.gave_up_waiting |= waited >= LONGEST_WAIT
            if limit is not None and ends is not None and not limit.expired():
                limit.reschedule(ends + waited)

    def spend(self, seconds: float) -> None:
        """Time that counts, though the clock stood still."""
        self.waited -= seconds

    def came_late(self, due: float, now: float) -> None:
        """The loop had something else to do, or no processor: answers may lie there that nobody has looked at."""
        late = now - max(due, self._began, self._stood_until)
        if late <= _PUNCTUAL or self._is_standing:
            return
        self.waited += late
        ends = self._limit.when() if self._limit is not None else None
        if self._limit is not None and ends is not None and not self._limit.expired():
            self._limit.reschedule(ends + late)


class _LoopBeat:
    """The appointments of an event loop, on behalf of all visits in it: hundreds of their own would cost more than the
    visits' requests. There are some only while there are visits."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = weakref.ref(loop)
        self._visits: set[VisitClock] = set()
        self._late = 0.0
        """Seconds that the visits were not told of."""
        self._timer: asyncio.TimerHandle | None = None

    def add(self, visit: VisitClock) -> None:
        self._visits.add(visit)
        if self._timer is None:
            self._arm()

    def remove(self, visit: VisitClock) -> None:
        self._visits.discard(visit)
        if not self._visits and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self) -> None:
        loop = self._loop()
        if loop is not None:
            due = loop.time() + _BEAT
            self._timer = loop.call_at(due, self._beat, due)

    def _beat(self, due: float) -> None:
        now = asyncio.get_running_loop().time()
        if now - due > _PUNCTUAL:
            self._late += now - due
        if self._late > _WORTH_TELLING:
            for visit in self._visits:
                visit.came_late(now - self._late, now)
            self._late = 0.0
        self._arm()


_BEATS: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopBeat] = weakref.WeakKeyDictionary()
"""One per event loop: a clock belongs to the loop that its visit runs in."""


@contextmanager
def waiting_for_others() -> Iterator[None]:
    """Whatever visit this is: its time stands still in this block."""
    visit = _VISIT.get()
    if visit is None:
        yield
        return
    with visit.standing():
        yield


def spend_on_visit(seconds: float) -> None:
    """Whatever visit this is: so much processor time was taken for it, while its time stood still."""
    visit = _VISIT.get()
    if visit is not None:
        visit.spend(seconds)
