"""How a simulation fails: always with the seed, the step and what happened last.

SimulationFailure
├── InvariantViolation      the scenario's check said no
├── ClientFailed            a client ended with an error that the scenario does not expect
└── NoProgress              livelock or deadlock: the run did not end within its limits
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.kit.simulator.history import preview

if TYPE_CHECKING:
    from tests.kit.simulator.history import History
    from tests.kit.simulator.observed_store import ObservedStore

_LAST_ENTRIES = 40
_SHOWN_OBJECTS = 40


class SimulationFailure(AssertionError):
    def __init__(self, reason: str, *, seed: int, step: int, scenario: str, trail: str) -> None:
        self.reason = reason
        self.seed = seed
        self.step = step
        self.scenario = scenario
        self.trail = trail
        super().__init__(f"{reason}\nscenario {scenario}, seed {seed}, step {step}\n{trail}")

    def __reduce__(self) -> tuple[Any, ...]:
        # It crosses process borders in pools; the arguments are keyword-only, so say how to build it again.
        return _rebuild, (type(self), self.reason, self.seed, self.step, self.scenario, self.trail)


class InvariantViolation(SimulationFailure):
    """The scenario's check said no."""


class ClientFailed(SimulationFailure):
    """A client ended with an error that the scenario does not expect."""


class NoProgress(SimulationFailure):
    """The run did not end within its limits, or everyone waits for something that will never happen."""


def _rebuild(
    kind: type[SimulationFailure], reason: str, seed: int, step: int, scenario: str, trail: str
) -> SimulationFailure:
    return kind(reason, seed=seed, step=step, scenario=scenario, trail=trail)


def trail_of(history: History, store: ObservedStore) -> str:
    """The last entries of the history and the objects as they are, for people."""
    objects = store.below("")
    shown = [f"  {there.key} = {preview(there.data)}" for there in objects[:_SHOWN_OBJECTS]]
    if len(objects) > _SHOWN_OBJECTS:
        shown.append(f"  … and {len(objects) - _SHOWN_OBJECTS} more")
    return "\n".join([f"last {_LAST_ENTRIES} entries:", history.text(last=_LAST_ENTRIES), "objects now:", *shown])
