"""Virtual time for synchronous code: each activity is a greenlet that gives way while it waits. Nothing here waits.

A leaner world than that of `tests.kit.simulator`: it has no faults and keeps no history, so that a million tasks fit.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from greenlet import getcurrent, greenlet

if TYPE_CHECKING:
    from collections.abc import Callable

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class World:
    def __init__(self) -> None:
        self.now = 0.0
        self._waiting: list[tuple[float, int, greenlet]] = []
        self._added = 0
        self._busy = 0
        self._main = getcurrent()
        """Decides who goes on. The world is made and run in one greenlet; activities may begin others."""

    def spawn(self, target: Callable[[], None], *, background: bool = False) -> None:
        """Begin an activity now. The world ends without waiting for those in the background."""
        self._busy += not background
        run = target if background else partial(self._run, target)
        self._at(self.now, greenlet(run, parent=self._main))

    def sleep(self, seconds: float) -> None:
        """Called by an activity: the others go on meanwhile."""
        self._at(self.now + seconds, getcurrent())
        self._main.switch()

    def run(self) -> None:
        """Go on until every activity has ended. What fails in one of them comes out here."""
        while self._busy:
            self.now, _, activity = heappop(self._waiting)
            activity.switch()

    def time(self) -> datetime:
        return EPOCH + timedelta(seconds=self.now)

    def _run(self, target: Callable[[], None]) -> None:
        target()
        self._busy -= 1

    def _at(self, moment: float, activity: greenlet) -> None:
        self._added += 1
        heappush(self._waiting, (moment, self._added, activity))


class VirtualTicker:
    def __init__(self) -> None:
        self.stopped = False

    def stop(self) -> None:
        self.stopped = True


class VirtualRuntime:
    """Fits `cocli.queue.runtime.Runtime`."""

    def __init__(self, world: World) -> None:
        self._world = world

    def monotonic(self) -> float:
        return self._world.now

    def every(self, seconds: float, action: Callable[[], bool]) -> VirtualTicker:
        ticker = VirtualTicker()

        def tick() -> None:
            self._world.sleep(seconds)
            while not ticker.stopped and action():
                self._world.sleep(seconds)

        self._world.spawn(tick, background=True)
        return ticker
