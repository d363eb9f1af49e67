"""One incarnation of a client: its activities, its monotonic clock, and whether it is still there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.kit.faulty_store import Crashed
from tests.kit.simulator.activity import Activity

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from tests.kit.simulator.machine import Machine
    from tests.kit.simulator.settings import Faults
    from tests.kit.simulator.timeline import Timeline

_SPEEDS = (0.3, 1.0, 1.0, 4.0)
_REFUSALS = 1000


class Process:
    def __init__(
        self,
        machine: Machine,
        timeline: Timeline,
        faults: Faults,
        random: Random,
        ended: Callable[[Activity], None],
    ) -> None:
        self.machine = machine
        self.name = f"{machine.name}#{machine.incarnations}"
        self.alive = True
        self.paused_until = 0.0
        self.activity: Activity | None = None
        """The one that runs just now."""
        self.slowness = random.choice(_SPEEDS)
        self.store_clock_error = random.uniform(-1, 1) * faults.store_clock_error
        self._timeline = timeline
        self._ended = ended
        self._activities: list[Activity] = []
        self._monotonic_start = random.uniform(0, 1e6)
        self._monotonic_rate = 1 + random.uniform(-1, 1) * faults.monotonic_drift
        self._random = random
        self._refusals = 0

    def start(self, target: Callable[[], None], moment: float) -> Activity:
        activity = Activity(self, target, self._timeline, self._ended)
        self._activities.append(activity)
        activity.wake_at(moment)
        return activity

    @property
    def main(self) -> Activity:
        return self._activities[0]

    def current(self) -> Activity:
        """The activity that asks for something. A process that crashed gets no further, not even in `finally:`."""
        if not self.alive:
            self._refuse()
        if self.activity is None:
            raise RuntimeError(f"the world of {self.name} is used outside of its client")
        return self.activity

    def monotonic(self) -> float:
        return self._monotonic_start + self._timeline.now * self._monotonic_rate

    def sleep(self, seconds: float) -> None:
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        self.current().sleep_until(self._timeline.now + seconds / self._monotonic_rate + self.lateness())

    def lateness(self) -> float:
        """Nobody is woken at the very moment; two that wait as long, or wake from one pause, go on in any order."""
        return 0.001 + 0.01 * self._random.random()

    def end(self) -> bool:
        """Nothing of it survives. False if some activity caught even that and went on."""
        self.alive = False
        ended = [activity.kill() for activity in self._activities if not activity.done]
        return all(ended)

    def _refuse(self) -> None:
        self._refusals += 1
        if self._refusals > _REFUSALS:
            # It catches everything and tries for ever: leave it standing here, so that the world can report it.
            self.main.give_way()
        raise Crashed(f"{self.name} has crashed: it does nothing any more")
