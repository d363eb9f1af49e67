"""Chores: what a supervisor does again and again beside its workers, each in a thread of its own.

All of it needs the store or SQS. A chore that hangs must not keep dead workers from successors, nor the other chores
from their turn.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import CocliError, HostEvicted, QueueUnusable, SupervisorRunning

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.fleet.drain import Drain

_MESSAGE_LENGTH = 500
_MISSING_SECONDS = 30.0
"""Until somebody may have created a queue that was not there."""


class Chores:
    def __init__(self, drain: Drain, note: Callable[[str], None]) -> None:
        self._drain = drain
        self._note = note
        self._stopped = threading.Event()
        self._threads: list[threading.Thread] = []
        self.fatal: CocliError | None = None
        """Why the supervisor must not go on."""

    def add(
        self, action: Callable[[], object], seconds: float, at_the_end: Callable[[], object] | None = None
    ) -> threading.Thread:
        """Do something every so many seconds, once started. The thread is for whoever waits for it in his own way."""

        def turn() -> None:
            self._repeat(action, seconds)
            if at_the_end is not None:
                at_the_end()

        thread = threading.Thread(target=logs.carried(turn), daemon=True)
        self._threads.append(thread)
        return thread

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def ask_to_stop(self) -> None:
        self._stopped.set()

    def wait(self, threads: list[threading.Thread], until: float) -> None:
        """Until they have ended, or a time of the monotonic clock."""
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _repeat(self, action: Callable[[], object], seconds: float) -> None:
        said: str | None = None
        while not self._stopped.is_set():
            wait, problem = seconds, None
            try:
                action()
            except SupervisorRunning as error:
                self.fatal = error
                self._drain.ask_once()
                return
            except HostEvicted as error:
                self.fatal = error
                self._drain.ask_now()  # nothing that is in hand can be ended any more
                return
            except QueueUnusable as error:
                problem, wait = f"{error.message} {error.hint or ''}".strip(), max(seconds, _MISSING_SECONDS)
            except CocliError as error:
                problem = error.message
            except Exception as error:  # noqa: BLE001  a mistake here must not silence the machine: its heart tells
                problem = f"{type(error).__name__}: {error}"[:_MESSAGE_LENGTH]
            if problem is not None and problem != said:
                self._note(problem)
            said = problem
            self._stopped.wait(wait)
