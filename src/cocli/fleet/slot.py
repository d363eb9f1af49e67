"""One place for one worker: started, watched, started again with patience when it dies, and let go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.retries import Backoff

if TYPE_CHECKING:
    import random

    from cocli.fleet.process import SpawnedWorker


@dataclass(frozen=True, slots=True)
class RestartSettings:
    """How workers are looked after. Seconds and bytes."""

    backoff_first: float = 1.0
    backoff_longest: float = 300.0
    healthy: float = 60.0
    """A worker that ran so long was well: the next one starts at once when it dies."""
    memory: int = 2 << 30
    """More than this, with its children, and a worker is drained; 0 is no limit."""
    drain: float = 75.0
    """Between asking a worker to stop and killing it: longer than a worker takes to give everything back."""
    look: float = 3.0
    """Between two looks at the configuration."""


@dataclass(slots=True)
class Slot:
    queue: str
    number: int
    worker: SpawnedWorker | None = None
    fingerprint: str = ""
    """Of the configuration that the worker was started with."""
    started_at: float = 0.0
    start_at: float = 0.0
    """Not before."""
    failures: int = 0
    inherited: bool = False
    """Its worker is of the release before: it goes when its turn comes."""

    @property
    def is_getting_ready(self) -> bool:
        """A worker of this release is to work here, and has not told yet that it does."""
        return not self.inherited and (self.worker is None or self.worker.report is None)

    @property
    def name(self) -> str:
        return f"{self.queue}#{self.number}"

    def started(self, worker: SpawnedWorker, fingerprint: str, now: float) -> None:
        self.worker, self.fingerprint, self.started_at = worker, fingerprint, now

    def inherits(self, worker: SpawnedWorker, now: float) -> None:
        self.worker, self.inherited, self.started_at = worker, True, now

    def emptied(self) -> None:
        self.worker, self.inherited = None, False

    def failed(self, now: float, settings: RestartSettings, rng: random.Random) -> float:
        """It ended though nobody asked it to. How long the next one waits: longer each time."""
        self.failures = 1 if now - self.started_at >= settings.healthy else self.failures + 1
        wait = Backoff(settings.backoff_first, settings.backoff_longest).seconds(self.failures, rng)
        self.emptied()
        self.start_at = now + wait
        return wait


@dataclass(frozen=True, slots=True)
class Leaving:
    """A worker that was asked to go."""

    name: str
    queue: str
    worker: SpawnedWorker
    kill_at: float
    number: int = 0
    inherited: bool = False
