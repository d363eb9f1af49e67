"""The simulator proves itself: protocols that are right pass, and each way of doing them wrong is caught."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit.simulator import InvariantViolation, assert_caught, assert_clean

HERE = Path(__file__).parent


@pytest.mark.parametrize(
    ("target", "seeds", "proof"),
    [("counter.py:Counter", 300, "added"), ("lock.py:LockScenario", 40, "acquired"), ("inbox.py:Inbox", 120, "wrote")],
)
def test_what_is_right_passes(target: str, seeds: int, proof: str) -> None:
    done = assert_clean(f"{HERE}/{target}", range(seeds))
    assert done.seeds == seeds
    assert done.tally[proof] > 5 * seeds
    happened = {"unavailable", "undecided", "lost_answer", "delay", "crashed", "restarted", "pause", "clock_jump"}
    assert happened <= set(done.tally)


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("counter.py:BlindCounter", "were lost"),
        ("counter.py:LostAnswerCounter", "counted twice"),
        ("lock.py:DeletedLockScenario", "token went back"),
        ("lock.py:WallClockLockScenario", "living lock was taken"),
        ("lock.py:CarelessLockScenario", "living lock was taken|token went back"),
        ("inbox.py:CarelessInbox", "before it was collected"),
    ],
)
def test_what_is_wrong_is_caught(target: str, reason: str) -> None:
    failure = assert_caught(f"{HERE}/{target}", within_seeds=100, match=reason)
    assert isinstance(failure, InvariantViolation)
    assert f"seed {failure.seed}, step {failure.step}" in str(failure)
    assert "last 40 entries" in str(failure)


def test_a_scenario_that_sees_nothing_is_told_so() -> None:
    with pytest.raises(AssertionError, match="not caught within 5 seeds"):
        assert_caught(f"{HERE}/counter.py:Counter", within_seeds=5)
    with pytest.raises(AssertionError, match="another reason"):
        assert_caught(f"{HERE}/counter.py:BlindCounter", match="the moon")
