"""Proof that a scenario sees: what is right passes, and each broken variant is caught soon and for its own reason."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from tests.kit.simulator.batch import run_batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.kit.simulator.batch import Batch
    from tests.kit.simulator.failure import SimulationFailure
    from tests.kit.simulator.scenario import Scenario


def assert_caught(
    scenario_factory: Callable[[], Scenario] | str,
    *,
    within_seeds: int = 500,
    first: Iterable[int] = (),
    match: str | None = None,
) -> SimulationFailure:
    """One of the first seeds must fail, repeatably, for a reason that matches. Returns the failure.

    Seeds of which it is known are named to be tried `first`: that only saves time.
    """
    batch = run_batch(scenario_factory, chain(first, range(within_seeds)), stop_after=1)
    if not batch.failed:
        raise AssertionError(f"not caught within {batch.seeds} seeds; what happened: {dict(batch.tally)}")
    caught = batch.failed[0]
    if not caught.repeatable:
        raise AssertionError(f"seed {caught.seed} does not fail the same way twice") from caught.failure
    if match is not None and not re.search(match, caught.failure.reason):
        raise AssertionError(f"caught for another reason than {match!r}") from caught.failure
    return caught.failure


def assert_clean(scenario_factory: Callable[[], Scenario] | str, seeds: Iterable[int] = range(500)) -> Batch:
    """Every seed must pass; the first failure is raised. Returns what happened, to assert that enough did."""
    batch = run_batch(scenario_factory, seeds, stop_after=1)
    if batch.failed:
        raise batch.failed[0].failure
    return batch
