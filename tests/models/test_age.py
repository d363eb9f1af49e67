"""Ages as people write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.models.retention.age import days_of, longer, moment_before

NOON = datetime(2024, 3, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        ("1d", datetime(2024, 3, 30, 12, tzinfo=UTC)),
        ("2w", datetime(2024, 3, 17, 12, tzinfo=UTC)),
        ("1mo", datetime(2024, 2, 29, 12, tzinfo=UTC)),
        ("13mo", datetime(2023, 2, 28, 12, tzinfo=UTC)),
        ("2y", datetime(2022, 3, 31, 12, tzinfo=UTC)),
        ("9999y", datetime(1, 1, 31, 12, tzinfo=UTC)),
    ],
)
def test_a_moment_so_long_ago(age: str, expected: datetime) -> None:
    assert moment_before(NOON, age) == expected


@given(st.integers(1, 500), st.sampled_from(["d", "w", "mo"]))
def test_more_is_longer(number: int, unit: str) -> None:
    shorter, more = f"{number}{unit}", f"{number + 1}{unit}"
    assert longer(shorter, more) == longer(more, shorter) == more
    assert days_of(shorter) < days_of(more)


def test_units_are_compared() -> None:
    assert longer("12mo", "364d") == "12mo"
    assert longer("60d", "1mo") == "60d"
    assert longer("1y", "12mo") in ("1y", "12mo")
