"""The time that a run may take: when it has to stop working, so that bringing together and reporting fit into it.

What was measured in this run is expected again. What was not is guessed from how many businesses there are, and the
guess is as wrong as the others were: on a busy machine everything takes longer.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Step = Literal["pull", "look", "settle", "stock", "pages", "report", "push"]
_GUESSES: dict[Step, tuple[float, float]] = {
    "pull": (0.5, 0.001),
    "look": (0.3, 0.0005),
    "settle": (0.4, 0.001),
    "stock": (0.5, 0.003),
    "pages": (0.2, 0.003),
    "report": (0.5, 0.0005),
    "push": (0.5, 0.002),
}
"""Seconds on a quiet machine, and more of them per business."""
CLOSING: tuple[Step, ...] = ("settle", "look", "pages", "report")
"""What is done at the end, when the workers have ended."""
DRAIN_SECONDS = 2.0
"""For workers to end what they have in hand; what takes longer is given back."""
GIVE_BACK_SECONDS = 1.0


class GoalBudget:
    """Counts from when it is made. Without seconds there is always time."""

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seconds = seconds
        self._started = clock()
        self._took: dict[Step, float] = {}
        self.businesses = 0
        self.sends = False
        """Whether what was made is sent to a bucket at the very end."""

    @property
    def elapsed(self) -> float:
        return self._clock() - self._started

    @property
    def left(self) -> float:
        return float("inf") if self._seconds is None else self._seconds - self.elapsed

    @contextmanager
    def measured(self, step: Step) -> Iterator[None]:
        started = self._clock()
        try:
            yield
        finally:
            self._took[step] = self._clock() - started

    def expected(self, step: Step) -> float:
        """Seconds that a step will take."""
        if step in self._took:
            return self._took[step]
        guess = self._guess(step) * self._slowness()
        if step == "push":  # as long as fetching took, at least: it is the same way
            return max(guess, self._took.get("pull", 0.0))
        return guess

    @property
    def stops(self) -> bool:
        """It is time to let the workers end what they have in hand."""
        return self.left <= self._closing + DRAIN_SECONDS + GIVE_BACK_SECONDS

    @property
    def hurries(self) -> bool:
        """It is time for them to give it back."""
        return self.left <= self._closing + GIVE_BACK_SECONDS

    def has_time_for(self, *steps: Step) -> bool:
        return self.left >= sum(map(self.expected, steps))

    def may_settle(self) -> bool:
        """While the workers work: whether settling ends before they have to."""
        return self.left >= self.expected("settle") + self._closing + DRAIN_SECONDS + GIVE_BACK_SECONDS

    @property
    def _closing(self) -> float:
        sending: tuple[Step, ...] = ("push",) if self.sends else ()
        return sum(map(self.expected, (*CLOSING, *sending)))

    def _guess(self, step: Step) -> float:
        least, each = _GUESSES[step]
        return least + each * self.businesses

    def _slowness(self) -> float:
        """How much longer the steps of this machine took. How far away a bucket is says nothing about them."""
        own = (took / self._guess(step) for step, took in self._took.items() if step != "pull")
        return max([1.0, *own])
