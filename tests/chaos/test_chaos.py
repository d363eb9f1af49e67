"""The main job with its processes killed at random: the result is that of a run that nobody disturbed.

A small one. `make chaos` runs those that take minutes (`soak.py`).
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.kit.effort import effort
from tests.kit.town_records import TownOutcome

PATIENCE = 700.0
KILLS = effort(5)
"""After so many the job comes to its end: each makes several processes start again."""


@pytest.mark.timeout(1200)
def test_killed_at_random_on_a_folder(field_of: Any, undisturbed: TownOutcome) -> None:
    field_of.workers = 3
    home = field_of.machine("home")
    storm = field_of.storm(field_of.goal(home))
    storm.most = KILLS
    assert storm.rage(PATIENCE), storm.log_of("goal")
    assert len(storm.kills) >= 2
    after = field_of.outcome(home)
    assert after.differences(undisturbed) == []
    assert after.leftovers == ()
    assert all(state.in_hand == 0 for state in after.states.values())
