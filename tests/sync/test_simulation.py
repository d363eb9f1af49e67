"""Sync under the simulator: some seeds here, thousands by the command line; and proof that it would see a bug."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.kit.simulator import assert_caught, assert_clean

sys.path.insert(0, str(Path(__file__).parent))  # the scenario is a program's target as well, so it is no package
from sync_mutants import MUTANTS, Mutant  # type: ignore[import-not-found,unused-ignore]
from sync_scenario import IndexScenario, SyncScenario  # type: ignore[import-not-found,unused-ignore]


def test_nobodys_edit_is_lost_under_any_schedule() -> None:
    batch = assert_clean(SyncScenario, range(40))
    assert batch.tally["crashed"] > 100
    assert batch.tally["kept_both"] > 50
    assert batch.tally["deleted_there"] > 100
    assert batch.tally["changed_while_read"] > 3
    assert batch.tally["lost_answer"] > 200


def test_no_record_is_lost_where_two_publish() -> None:
    batch = assert_clean(IndexScenario, range(8))
    assert batch.tally["merged"] > 5
    assert batch.tally["pulled"] > 5
    assert batch.tally["pushed"] > 5


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_each_broken_variant_is_caught(mutant: type[Mutant]) -> None:
    assert_caught(mutant, within_seeds=150, match=mutant.caught_by)
