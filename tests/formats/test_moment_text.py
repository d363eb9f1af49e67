"""Times as JSON, one after the other: each is written as it would be alone."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta

from cocli.formats.moment_text import moment_texts
from cocli.models.record import render_utc

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


def test_each_is_written_as_it_would_be_alone() -> None:
    text, rng = moment_texts(), random.Random(1)
    steps = [0, 1, 999_999, 1_000_000, 1_000_001, -1, -1_000_000, 60_000_000, 86_400_000_000]
    at = NOON
    for _ in range(2_000):
        at += timedelta(microseconds=rng.choice(steps))
        assert json.loads(text(at)) == render_utc(at)


def test_the_ends_of_a_second() -> None:
    text = moment_texts()
    last, first = NOON - timedelta(microseconds=1), NOON + timedelta(seconds=1)
    for at in (
        NOON,
        last,
        NOON,
        first - timedelta(microseconds=1),
        first,
        NOON.replace(year=1),
        NOON.replace(year=9999),
    ):
        assert text(at) == f'"{render_utc(at)}"'
