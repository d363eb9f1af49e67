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


def test_the_repository_holds_under_every_schedule() -> None:
    batch = assert_clean(SharedCatalog, range(effort(20)))
    assert batch.tally["saved"] > 100
    assert batch.tally["crashed"] > 40


def test_machines_with_catalogues_of_their_own_agree_in_the_end() -> None:
    assert_clean(OwnCatalogs, range(1000, 1000 + effort(10)))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_each_broken_variant_is_caught(mutant: type[Mutant]) -> None:
    assert_caught(mutant, within_seeds=200, match=mutant.caught_by)
