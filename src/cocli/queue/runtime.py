"""Time and background work, passed in: threads in the product, simulated ones in the simulator."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable


class Activity(Protocol):
    """Something that runs in the background."""

    def stop(self) -> None:
        """End it, and return when it has ended."""
        ...


class Runtime(Protocol):
    def monotonic(self) -> float:
        """Seconds that only ever grow."""
        ...

    def every(self, seconds: float, action: Callable[[], bool]) -> Activity:
        """Do something at intervals in the background, until it returns False or is stopped."""
        ...


class _Ticker:
    def __init__(self, seconds: float, action: Callable[[], bool]) -> None:
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(seconds, action), name="cocli-renewal", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self, seconds: float, action: Callable[[], bool]) -> None:
        while not self._stopped.wait(seconds):
            if not action():
                return


class ThreadRuntime:
    """The real thing: the machine's clock and threads."""

    monotonic = staticmethod(time.monotonic)

    def every(self, seconds: float, action: Callable[[], bool]) -> Activity:
        return _Ticker(seconds, action)
