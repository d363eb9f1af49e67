"""The clocks of one client: a wall clock that is wrong and jumps, and a count of seconds that drifts a little."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from tests.kit.simulator.process import Process


class ClientClock:
    def __init__(self, process: Process) -> None:
        self._process = process

    def wall(self) -> datetime:
        """What the machine believes the time to be (UTC)."""
        return self._process.machine.wall()

    def monotonic(self) -> float:
        """Seconds since some moment of this process's own."""
        return self._process.monotonic()

    def sleep(self, seconds: float) -> None:
        """Let the others go on. In a background activity that is asked to stop, this raises `Stopped`."""
        self._process.sleep(seconds)
