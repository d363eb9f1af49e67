"""What a scenario can choose: how often which fault happens, how fast the world runs, and when it must be over."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    UNAVAILABLE = "unavailable"
    """`Unavailable`, and nothing was done."""
    UNDECIDED = "undecided"
    """S3's 409 on a conditional put: nothing was decided or done, and the backend reports `Unavailable`."""
    LOST_ANSWER = "lost_answer"
    """It was done, but `Unavailable` is all that the caller hears."""
    STRAGGLER = "straggler"
    """The caller hears `Unavailable`, goes on, and the write takes effect some time later."""
    DELAY = "delay"
    """The request or its answer is long under way."""
    CRASH = "crash"
    """The process ends at some moment of this call. What it had sent may arrive or not."""
    PAUSE = "pause"
    """The process stands still (SIGSTOP, a closed lid), before the request leaves or while it is under way."""
    CLOCK_JUMP = "clock_jump"
    """The wall clock of the client's machine is set to another time."""


@dataclass(frozen=True, slots=True)
class Faults:
    """The chance of each fault per single store operation, and the size of those that have one.

    With `swarm`, each seed scales every chance by a factor of its own (often 0): some bugs only show in a world that
    has many pauses and no crashes, and a world that has a little of everything never gets there.
    """

    unavailable: float = 0.02
    undecided: float = 0.02
    lost_answer: float = 0.02
    straggler: float = 0.0
    delay: float = 0.02
    crash: float = 0.01
    pause: float = 0.01
    clock_jump: float = 0.005
    delay_seconds: float = 30.0
    pause_seconds: float = 180.0
    jump_seconds: float = 7200.0
    wall_offset_seconds: float = 3600.0
    """How far a machine's wall clock is off from the start."""
    wall_drift: float = 0.01
    monotonic_drift: float = 0.02
    """Bounds the rate of a process's monotonic clock: between 1 - drift and 1 + drift."""
    store_clock_error: float = 0.0
    """How far a client's idea of `store.now()` is off: S3 tells its time in whole seconds, some time ago."""
    swarm: bool = True

    def chance(self, fault: Fault) -> float:
        return float(getattr(self, fault.value))


NO_FAULTS = Faults(
    unavailable=0.0,
    undecided=0.0,
    lost_answer=0.0,
    delay=0.0,
    crash=0.0,
    pause=0.0,
    clock_jump=0.0,
    wall_offset_seconds=0.0,
    wall_drift=0.0,
    monotonic_drift=0.0,
)


@dataclass(frozen=True, slots=True)
class Pace:
    """How long things take, in virtual seconds."""

    latency: float = 0.02
    """The mean of each way between client and store; a process may be some times slower or faster."""
    start_seconds: float = 1.0
    restart_seconds: float = 30.0
    restarts: int = 5
    """How often a client that crashed comes back before the calm; later it stays away until then."""
    page_sizes: tuple[int, ...] = (1, 3, 1000)
    """Listings come in pages of one of these sizes; other clients act between two pages."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Where the storm ends and the calm begins, and when a run that does not end has failed."""

    storm_steps: int = 400
    storm_seconds: float = 6 * 3600.0
    max_steps: int = 20_000
    max_seconds: float = 7 * 24 * 3600.0
