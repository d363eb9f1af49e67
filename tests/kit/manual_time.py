"""A clock that a test turns by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.queue.runtime import Activity

_STEP = 5.0


class ManualTime:
    """The store's clock (`now`) and a worker's runtime in one, moved together by `pass_by`."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.ticks: list[Callable[[], bool]] = []

    def now(self) -> datetime:
        return datetime(2026, 11, 15, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds

    def every(self, seconds: float, action: Callable[[], bool]) -> Activity:
        self.ticks.append(action)
        return self

    def stop(self) -> None:
        self.ticks.clear()

    def pass_by(self, seconds: float, *, renewing: bool = True) -> None:
        """Let time pass in small steps; background work runs in between, unless the process is imagined stopped."""
        end = self.seconds + seconds
        while self.seconds < end:
            self.seconds = min(self.seconds + _STEP, end)
            if renewing:
                for tick in list(self.ticks):
                    tick()
