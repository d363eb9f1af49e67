"""The repository under the simulator: some schedules here, thousands by hand; and proof that it sees a bug."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.kit.effort import effort
from tests.kit.simulator import assert_caught, assert_clean

sys.path.insert(0, str(Path(__file__).parent))  # the scenario is a program's target as well, so it is no package
from documents_scenario import (  # type: ignore[import-not-found,unused-ignore]
    MUTANTS,
    Mutant,
    OwnCatalogs,
    SharedCatalog,
)
from motion_scenario import (  # type: ignore[import-not-found,unused-ignore]
    MOTION_MUTANTS,
    Motion,
    MotionMutant,
)


def test_the_repository_holds_under_every_schedule() -> None:
    batch = assert_clean(SharedCatalog, range(effort(20)))
    assert batch.tally["saved"] > 100
    assert batch.tally["crashed"] > 40


def test_machines_with_catalogues_of_their_own_agree_in_the_end() -> None:
    assert_clean(OwnCatalogs, range(1000, 1000 + effort(10)))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_each_broken_variant_is_caught(mutant: type[Mutant]) -> None:
    assert_caught(mutant, within_seeds=200, match=mutant.caught_by)


def test_documents_in_motion_lose_nothing_under_any_schedule() -> None:
    """Relays, subscriptions, workers and a module, dying at any step: none lost, none under two ids, in order."""
    batch = assert_clean(Motion, range(effort(8)))
    assert batch.tally["saved"] > 60
    assert batch.tally["crashed"] > 20


@pytest.mark.parametrize("mutant", MOTION_MUTANTS, ids=lambda mutant: mutant.__name__)
def test_each_broken_way_of_motion_is_caught(mutant: type[MotionMutant]) -> None:
    assert_caught(mutant, within_seeds=100, first=[mutant.known], match=mutant.caught_by)
