"""Some seeds in a row, in whichever process: what a worker of `explore` does and hands back."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.kit.simulator.failure import SimulationFailure
from tests.kit.simulator.simulation import simulate
from tests.kit.simulator.target import load_factory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.kit.simulator.scenario import Scenario


@dataclass(frozen=True, slots=True)
class FailedSeed:
    failure: SimulationFailure
    repeatable: bool
    """Whether a second run of the seed failed in the same way."""

    @property
    def seed(self) -> int:
        return self.failure.seed


@dataclass(slots=True)
class Batch:
    seeds: int = 0
    steps: int = 0
    virtual_seconds: float = 0.0
    tally: Counter[str] = field(default_factory=Counter)
    failed: list[FailedSeed] = field(default_factory=list)

    def add(self, other: Batch) -> None:
        self.seeds += other.seeds
        self.steps += other.steps
        self.virtual_seconds += other.virtual_seconds
        self.tally.update(other.tally)
        self.failed.extend(other.failed)


def run_batch(factory: Callable[[], Scenario] | str, seeds: Iterable[int], stop_after: int) -> Batch:
    make = load_factory(factory) if isinstance(factory, str) else factory
    batch = Batch()
    for seed in seeds:
        batch.seeds += 1
        try:
            outcome = simulate(make(), seed)
        except SimulationFailure as failure:
            batch.steps += failure.step
            batch.failed.append(FailedSeed(failure, repeatable=_fails_alike(make, failure)))
            if len(batch.failed) >= stop_after:
                break
        else:
            batch.steps += outcome.steps
            batch.virtual_seconds += outcome.virtual_seconds
            batch.tally.update(outcome.history.tally)
    return batch


def _fails_alike(make: Callable[[], Scenario], failure: SimulationFailure) -> bool:
    try:
        simulate(make(), failure.seed)
    except SimulationFailure as again:
        return again.trail == failure.trail
    return False
