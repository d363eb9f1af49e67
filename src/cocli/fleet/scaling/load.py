"""What the work of a process costs at a moment, and the word for what holds it up."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Limit(StrEnum):
    """What limits how much is done now: one word, for people."""

    NETWORK = "network"
    """Answers are waited for."""
    POLITENESS = "politeness"
    """Turns are waited for: sites are not asked faster than agreed."""
    PROCESSOR = "processor"
    MEMORY = "memory"
    SOCKETS = "sockets"
    STORE = "store"
    NOTHING_WAITS = "nothing waits"
    """There is no more work than is being done."""


@dataclass(frozen=True, slots=True)
class MachineLoad:
    """What the processes of a worker use. Shares are of what they may use, 1.0 is all of it."""

    processor: float = 0.0
    memory: float = 0.0
    sockets: float = 0.0


@dataclass(frozen=True, slots=True)
class Load:
    """What was measured since the last look."""

    in_flight: int
    machine: MachineLoad = MachineLoad()
    lag: float = 0.0
    """Seconds by which the event loop is late, on average."""
    store: float = 0.0
    """Seconds that work for the store waits for a thread: those who write are all busy."""
    timeouts: float = 0.0
    """The share of requests that got no answer in time."""
    fetching: int = 0
    """Visits that asked for a page; `under_way` of them wait for its server, the others for their turn."""
    under_way: int = 0
    is_empty: bool = False
    """The queue had no more to give when it was asked last."""
