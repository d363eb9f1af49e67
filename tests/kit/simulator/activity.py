"""One thread of a simulated process: a greenlet that gives way to the world at every call and every sleep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenlet import getcurrent, greenlet

from tests.kit.faulty_store import Crashed
from tests.kit.simulator.stopped import Stopped

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.kit.simulator.process import Process
    from tests.kit.simulator.timeline import Timeline


class Activity:
    """`ended` is called in the world's own greenlet once the target has returned or raised."""

    def __init__(
        self, process: Process, target: Callable[[], None], timeline: Timeline, ended: Callable[[Activity], None]
    ) -> None:
        self.process = process
        self.done = False
        self.error: Exception | None = None
        self._target = target
        self._timeline = timeline
        self._ended = ended
        self._world = getcurrent() if process.activity is None else process.activity.world
        self._greenlet = greenlet(self._run, parent=self._world)
        self._ticket = 0
        self._sleeping = False
        self._stopping = False
        self._waiters: list[Activity] = []

    @property
    def world(self) -> greenlet:
        """The greenlet of the world, which decides who goes on."""
        return self._world

    def wake_at(self, moment: float) -> None:
        """Go on at that moment, and not at one that was named before."""
        self._ticket += 1
        self._timeline.at(moment, self._wake, self._ticket)

    def give_way(self) -> None:
        """Called by the activity itself: others go on until it is woken, or it crashes right here."""
        self._world.switch()

    def sleep_until(self, moment: float) -> None:
        if not self._stopping:
            self._sleeping = True
            self.wake_at(moment)
            self.give_way()
            self._sleeping = False
        if self._stopping:
            raise Stopped

    def stop(self) -> None:
        self._stopping = True
        if self._sleeping and not self.done:
            self.wake_at(self._timeline.now)

    def wait_for(self, other: Activity) -> None:
        if not other.done:
            other._waiters.append(self)
            self.give_way()

    def kill(self) -> bool:
        """End it where it stands. False if its code caught even that and went on."""
        self._ticket += 1
        self.done = True
        if self._greenlet:
            self._greenlet.throw(Crashed(f"{self.process.name} crashed"))
        return not self._greenlet

    def _run(self) -> None:
        try:
            self._target()
        except (Crashed, Stopped):
            pass  # the two ways in which the world ends an activity
        except Exception as error:  # noqa: BLE001 - whatever it is, the world judges it in `ended`
            self.error = error

    def _wake(self, ticket: int) -> None:
        if ticket != self._ticket:
            return
        process = self.process
        if process.paused_until > self._timeline.now:
            self._timeline.at(process.paused_until + process.lateness(), self._wake, ticket)
            return
        process.activity = self
        self._greenlet.switch()
        process.activity = None
        if self._greenlet.dead and not self.done:
            self.done = True
            for waiter in self._waiters:
                waiter.wake_at(self._timeline.now)
            self._ended(self)
