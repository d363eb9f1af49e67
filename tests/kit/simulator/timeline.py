"""Virtual time: what happens next, and when it is now. Nothing here waits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


def as_datetime(seconds: float) -> datetime:
    return EPOCH + timedelta(seconds=seconds)


class Timeline:
    def __init__(self) -> None:
        self.now = 0.0
        self.turns = 0
        self._queue: list[tuple[float, int, Callable[[Any], None], Any]] = []
        self._added = 0

    def at(self, moment: float, action: Callable[[Any], None], argument: Any) -> None:
        """Do `action(argument)` at that moment; of two at the same moment, the one that was added first."""
        self._added += 1
        heappush(self._queue, (moment, self._added, action, argument))

    def turn(self) -> bool:
        """Go on to what happens next and do it. False when nothing will ever happen again."""
        if not self._queue:
            return False
        moment, _, action, argument = heappop(self._queue)
        if moment > self.now:
            self.now = moment
        self.turns += 1
        action(argument)
        return True

    def store_time(self) -> datetime:
        return as_datetime(self.now)
