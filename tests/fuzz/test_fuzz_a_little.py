"""A little of what `make fuzz` does for as long as one likes. The seed is printed where something is found."""

from __future__ import annotations

import random
import secrets
from itertools import islice

import pytest

from tests.fuzz import growth, mutation
from tests.fuzz.places import PLACES, try_place
from tests.kit.effort import effort

CASES, PAGES, SHORT = effort(50), effort(250), effort(1000)

FOUND = (
    growth.Shape("script text", ("\\",)),
    growth.Shape("footer", ("<span itemprop='email'>", "*")),
    growth.Shape("maps card", (" ",)),
    growth.Shape("maps card", ("<!--",)),
    growth.Shape("csv cells", ("info",)),
    growth.Shape("csv header", ("(",)),
    growth.Shape("vcard lines", ("= ",)),
    growth.Shape("vcard value", ("\\;",)),
    growth.Shape("kml escaped", ("&lt;",)),
    growth.Shape("kml", ("<Placemark>",)),
    growth.Shape("json", ('{"a":1},',)),
)
"""Each was slow once, or stands for a step that was found by reading to grow faster than its input."""


@pytest.mark.parametrize("shape", FOUND, ids=str)
def test_what_was_slow_once_is_not(shape: growth.Shape) -> None:
    assert growth.judge(shape) is None


def test_nothing_grows_faster_than_its_input() -> None:
    seed = secrets.randbits(32)
    shapes = islice(growth.shapes(random.Random(seed)), CASES)
    suspects = [suspect for shape in shapes if (suspect := growth.judge(shape))]
    assert not suspects, f"seed {seed}: {', '.join(map(str, suspects))}"


def test_no_parser_of_foreign_text_raises_an_exception() -> None:
    """Other than those of ours: short texts, of which many are tried."""
    seed = secrets.randbits(32)
    for shape in islice(growth.shapes(random.Random(seed)), SHORT):
        try:
            try_place(PLACES[shape.place], shape.text(60))
        except Exception as error:
            raise AssertionError(f"seed {seed}: {shape}") from error


@pytest.mark.parametrize(
    ("place", "text"),
    [("maps state", "]"), ("csv cells", "9" * 400), ("json", "9" * 5_000), ("json lines", "[" * 50_000)],
)
def test_what_broke_a_parser_once_does_not(place: str, text: str) -> None:
    try_place(PLACES[place], text)


@pytest.mark.parametrize(("power", "found"), [(1, False), (2, True)])
def test_the_search_for_growth_tells_a_quadratic_step_from_a_linear_one(power: int, found: bool) -> None:
    """The check can fail. A clock of its own: what a busy machine does to the real one is no part of the question."""
    now = 0.0

    def step(text: str) -> None:
        nonlocal now
        now += (len(text) / growth.CHARS) ** power

    suspect = growth.judge(growth.Shape("made up", ("a",)), places={"made up": step}, clock=lambda: now)
    assert (suspect is not None) == found


def test_damaged_pages_break_no_extractor() -> None:
    seed = secrets.randbits(32)
    damaged = islice(mutation.mutants(mutation.pages(), random.Random(seed)), PAGES)
    assert [reason for request in damaged if (reason := mutation.crash_of(request))] == [], f"seed {seed}"
