"""An activity beside the main one, as the client that started it sees it: what a thread is to a real process."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.kit.simulator.activity import Activity
    from tests.kit.simulator.process import Process


class Background:
    """An activity that runs beside the one that started it, and dies with their process."""

    def __init__(self, process: Process, activity: Activity) -> None:
        self._process = process
        self._activity = activity

    @property
    def done(self) -> bool:
        return self._activity.done

    @property
    def error(self) -> Exception | None:
        """The expected error that ended it, if one did."""
        return self._activity.error

    @property
    def is_current(self) -> bool:
        """Whether it is the one that asks."""
        return self._process.activity is self._activity

    def stop(self) -> None:
        """Ask it to end: its sleep, the present one or the next, raises `Stopped`. A store call under way goes on."""
        if self._process.alive:
            self._activity.stop()

    def join(self) -> None:
        """Wait until it has ended."""
        self._process.current().wait_for(self._activity)
