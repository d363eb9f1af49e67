"""The index under the simulator: some seeds here, thousands by the command line; and proof that it would see a bug."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.kit.effort import effort
from tests.kit.simulator import assert_caught, assert_clean

sys.path.insert(0, str(Path(__file__).parent))  # the scenario is a program's target as well, so it is no package
from index_mutants import MUTANTS, Mutant  # type: ignore[import-not-found,unused-ignore]
from index_scenario import (  # type: ignore[import-not-found,unused-ignore]
    DamageScenario,
    IndexScenario,
    ReturningScenario,
)

SHARP = tuple(seed for mutant in MUTANTS for seed in mutant.sharp)


def test_the_index_holds_under_every_schedule() -> None:
    batch = assert_clean(IndexScenario, (*SHARP, *range(effort(20))))
    assert batch.tally["compacted"] > 150
    assert batch.tally["raced"] > 15
    assert batch.tally["crashed"] > 60
    assert batch.tally["collected"] > 300
    assert batch.tally["removed"] > 15
    assert batch.tally["read"] > 100


def test_a_lost_pointer_and_a_damaged_shard_are_mended_under_every_schedule() -> None:
    batch = assert_clean(DamageScenario, range(effort(12)))
    assert batch.tally["destroyed"] > 3
    assert batch.tally["mended"] > 10


def test_shards_that_come_back_are_not_hit_by_late_deletions() -> None:
    batch = assert_clean(ReturningScenario, range(effort(20)))
    assert batch.tally["straggler"] > 40


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_each_broken_variant_is_caught(mutant: type[Mutant]) -> None:
    assert_caught(mutant, within_seeds=150, first=mutant.sharp, match=mutant.caught_by)
