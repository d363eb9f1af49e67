"""What a simulated client is given: its store, its clocks, its randomness. It must use no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from tests.kit.simulator.background import Background
from tests.kit.simulator.client_clock import ClientClock
from tests.kit.simulator.client_runtime import ClientRuntime
from tests.kit.simulator.client_store import ClientStore
from tests.kit.simulator.history import Event

if TYPE_CHECKING:
    from random import Random

    from tests.kit.simulator.history import History
    from tests.kit.simulator.network import Network
    from tests.kit.simulator.process import Process
    from tests.kit.simulator.timeline import Timeline


class ClientWorld:
    def __init__(
        self, process: Process, network: Network, timeline: Timeline, history: History, random: Random, *, calm: bool
    ) -> None:
        self.name = process.machine.name
        self.incarnation = process.machine.incarnations
        self.calm = calm
        """Whether the faults are over. For the scenario's own driver; real code cannot know."""
        self.random = random
        self.clock = ClientClock(process)
        self.store = ClientStore(process, network)
        self.runtime = ClientRuntime(self.clock, self.spawn)
        self._process = process
        self._timeline = timeline
        self._history = history

    def spawn(self, target: Callable[[], None]) -> Background:
        """Run something beside this, as a thread would."""
        self._process.current()
        activity = self._process.start(target, self._timeline.now + self._process.lateness())
        return Background(self._process, activity)

    def record(self, kind: str, **details: object) -> None:
        """Write an event into the history, for the scenario's checks and for people."""
        self._process.current()
        self._history.record(Event(self._history.step, self._timeline.now, self._process.name, kind, details))


Client: TypeAlias = Callable[[ClientWorld], None]
