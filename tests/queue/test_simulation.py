"""The queue under the simulator: some seeds here, 20,000 by `make soak`; and proof that it would see a bug."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.kit.effort import effort
from tests.kit.simulator import assert_caught, assert_clean

sys.path.insert(0, str(Path(__file__).parent))  # the scenario is a program's target as well, so it is no package
from queue_scenario import (  # type: ignore[import-not-found,unused-ignore]
    MUTANTS,
    Mutant,
    QueueScenario,
    TidiedQueueScenario,
    TidiesWithoutALook,
)

SHARP = tuple(seed for mutant in MUTANTS for seed in mutant.sharp)


def test_the_queue_holds_under_every_schedule() -> None:
    batch = assert_clean(QueueScenario, (*SHARP, *range(effort(70))))
    assert batch.tally["claimed"] > 300
    assert batch.tally["crashed"] > 150
    assert batch.tally["recovered"] > 3


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_each_broken_variant_is_caught(mutant: type[Mutant]) -> None:
    assert_caught(mutant, within_seeds=500, first=mutant.sharp, match=mutant.caught_by)


def test_leftovers_are_removed_beside_the_workers() -> None:
    batch = assert_clean(TidiedQueueScenario, range(effort(16)))
    assert batch.tally["tidied"] > 1


def test_a_tidier_that_does_not_look_is_caught() -> None:
    assert_caught(TidiesWithoutALook, within_seeds=500, match="claimed under token 1 after|is in")
