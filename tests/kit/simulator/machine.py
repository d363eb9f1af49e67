"""The machine a client runs on: it keeps its name and its wrong wall clock when the process on it dies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.kit.simulator.timeline import as_datetime

if TYPE_CHECKING:
    from datetime import datetime
    from random import Random

    from tests.kit.simulator.process import Process
    from tests.kit.simulator.settings import Faults
    from tests.kit.simulator.timeline import Timeline


class Machine:
    def __init__(self, name: str, timeline: Timeline, faults: Faults, random: Random, restarts: int) -> None:
        self.name = name
        self.restarts_left = restarts
        self.incarnations = 0
        self.process: Process | None = None
        self._timeline = timeline
        self._wall_offset = random.uniform(-1, 1) * faults.wall_offset_seconds
        self._wall_rate = 1 + random.uniform(-1, 1) * faults.wall_drift

    def wall(self) -> datetime:
        return as_datetime(self._timeline.now * self._wall_rate + self._wall_offset)

    def set_wall_clock(self, by_seconds: float) -> None:
        self._wall_offset += by_seconds
