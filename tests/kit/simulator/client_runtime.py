"""Time and background work in the form that the product's structures take them: what threads are to a real process."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.kit.simulator.background import Background
    from tests.kit.simulator.client_clock import ClientClock


class Ticker:
    """Something done at intervals. `stop` returns when it has ended, unless it is called by what it would wait for."""

    def __init__(self, background: Background) -> None:
        self._background = background

    def stop(self) -> None:
        self._background.stop()
        if not self._background.is_current:
            self._background.join()


class ClientRuntime:
    """Fits `cocli.queue.runtime.Runtime`."""

    def __init__(self, clock: ClientClock, spawn: Callable[[Callable[[], None]], Background]) -> None:
        self._clock = clock
        self._spawn = spawn

    def monotonic(self) -> float:
        return self._clock.monotonic()

    def every(self, seconds: float, action: Callable[[], bool]) -> Ticker:
        """Do something at intervals in the background, until it returns False or is stopped."""

        def tick() -> None:
            self._clock.sleep(seconds)
            while action():
                self._clock.sleep(seconds)

        return Ticker(self._spawn(tick))
