"""Calling the roll: who is new, who is missing, and which readings say nothing of that."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.effort import effort

from cocli.keys.tile import Tile
from cocli.models.campaign import RefreshSection
from cocli.models.freshness.roll import TileRoll
from cocli.pipeline.freshness.intervals import age_of, search_age, search_interval, website_age
from cocli.pipeline.freshness.rolls import Reading, called, is_arrival

DAY = timedelta(days=1)
BEGIN = datetime(2026, 10, 1, tzinfo=UTC)
DOCUMENT = "00000000-0000-0000-0000-00000000000{}"


def reading(day: int, ids: str, **changes: Any) -> Reading:
    """`ids` are letters: each is a business."""
    values: dict[str, Any] = {
        "tile": Tile(38_400, -101_200),
        "phrase": "plumber",
        "source": "google-maps",
        "campaign": "plumbers",
        "read_at": BEGIN + day * DAY,
        "complete": True,
        "ids": frozenset(ids),
        "document": DOCUMENT.format(day % 10),
    }
    return Reading(**(values | changes))


def after(*readings: Reading) -> TileRoll:
    roll = None
    for each in readings:
        roll = called(roll, each)
    assert roll is not None
    return roll


def test_who_is_not_shown_by_a_complete_reading_is_missing_since_then() -> None:
    roll = after(reading(0, "ab"), reading(1, "a"), reading(2, "a"))
    gone = roll.places["b"]
    assert (gone.missed, gone.since, gone.last) == (2, BEGIN + DAY, BEGIN)
    assert (gone.document, gone.absent) == (DOCUMENT.format(0), DOCUMENT.format(1))
    assert roll.places["a"].missed == 0
    back = after(reading(0, "ab"), reading(1, "a"), reading(2, "ab")).places["b"]
    assert (back.missed, back.since, back.first) == (0, None, BEGIN)


def test_a_reading_that_was_cut_short_misses_nobody() -> None:
    roll = after(reading(0, "ab"), reading(1, "c", complete=False))
    assert [roll.places[name].missed for name in "abc"] == [0, 0, 0]
    assert roll.readings == 1
    first = after(reading(0, "a", complete=False), reading(1, "ab"))
    assert not any(is_arrival(first, place) for place in first.places.values()), "nobody knows who was there before"


def test_only_who_comes_after_a_complete_reading_is_new() -> None:
    roll = after(reading(0, "a"), reading(1, "ab"))
    assert (is_arrival(roll, roll.places["a"]), is_arrival(roll, roll.places["b"])) == (False, True)


def test_an_edition_counts_once_and_an_older_one_not_at_all() -> None:
    newer = {"as_of": BEGIN + DAY}
    roll = after(reading(0, "ab", as_of=BEGIN), reading(1, "a", **newer), reading(2, "a", **newer))
    assert roll.places["b"].missed == 1, "the same edition twice is one reading"
    assert called(roll, reading(3, "ab", as_of=BEGIN)) == roll
    assert after(roll_input := reading(0, "ab"), reading(0, "a")) == after(roll_input), "an earlier reading is no news"


def test_another_meaning_of_the_phrase_is_another_search() -> None:
    roll = after(reading(0, "ab", meaning="a" * 16), reading(1, "bc", meaning="b" * 16))
    assert sorted(roll.places) == ["b", "c"]
    assert not is_arrival(roll, roll.places["c"])


@settings(max_examples=effort(60))
@given(st.lists(st.tuples(st.text("abcd", max_size=4), st.booleans()), min_size=1, max_size=6))
def test_who_is_shown_last_is_never_missing(passes: list[tuple[str, bool]]) -> None:
    roll = after(*(reading(day, ids, complete=complete) for day, (ids, complete) in enumerate(passes)))
    ever = {letter for ids, _ in passes for letter in ids}
    assert set(roll.places) == ever, "nobody is forgotten"
    for letter, place in roll.places.items():
        seen = [day for day, (ids, _) in enumerate(passes) if letter in ids]
        complete_since = sum(complete for day, (_, complete) in enumerate(passes) if day > seen[-1])
        assert place.missed == complete_since
        assert (place.first, place.last) == (BEGIN + seen[0] * DAY, BEGIN + seen[-1] * DAY)


@pytest.mark.parametrize(
    ("readings", "factor"),
    [
        (["abcdefghij"], 1.0),
        (["abcdefghij", "abcdefghij"], 1.0),
        (["abcdefghij", "abcdefghij", "abcdefghij"], 2.0),
        (["abcdefghij", "abcdefghi"], 0.5),
        (["abcdefghij", "abcdefgh"], 0.25),
        (["abcdefghij", "abcdefghijkl"], 0.5),
    ],
)
def test_a_tile_is_due_by_how_much_changes_there(readings: list[str], factor: float) -> None:
    roll = after(*(reading(day, ids) for day, ids in enumerate(readings)))
    assert search_interval(30 * DAY, roll) == 30 * DAY * factor


def test_the_age_of_a_source_stands_before_that_of_a_stage_and_of_all() -> None:
    wanted = RefreshSection(every="30d", sources={"google-maps": "2w"}, stages={"enrichment": "12h"})
    assert search_age(wanted, "google-maps") == 14 * DAY
    assert search_age(wanted, "other") == 30 * DAY
    assert website_age(wanted) == age_of("12h") == DAY / 2
    assert search_age(RefreshSection(), "google-maps") is website_age(RefreshSection()) is None
