"""The table of categories: what is packaged, what a person may put above it, and what happens to a mistake."""

from __future__ import annotations

import csv
import re
from importlib import resources

import pytest

from cocli.errors import FormatError
from cocli.pipeline.sources.categories import CategoryTable, like_pattern, open_categories
from cocli.pipeline.sources.open_places.tags import MAIN_KEYS
from cocli.pipeline.sources.phrase_words import words_of
from cocli.pipeline.sources.registry import category_schemes

HEADER = "phrase,scheme,category\n"


def test_the_packaged_table_knows_the_common_trades() -> None:
    categories = open_categories(category_schemes())
    main = {phrase for phrase, _ in categories.layers[-1].rows}
    assert len(main) >= 150
    for phrase in main:
        for scheme in category_schemes():
            assert categories.meaning(phrase, scheme).by == "categories", (phrase, scheme)
    for phrase in categories.phrases():
        assert categories.meaning(phrase, "overture").categories, f"{phrase} leads nowhere"


def test_the_packaged_table_is_in_the_words_of_the_sources() -> None:
    text = resources.files("cocli.pipeline.sources").joinpath("categories.csv").read_text("utf-8")
    for row in csv.DictReader(text.splitlines()):
        if row["scheme"] == "overture":
            assert re.fullmatch(r"[a-z0-9_*/]+", row["category"]), row
        if row["scheme"] == "openstreetmap":
            for tag in row["category"].split("&"):
                key, equals, value = tag.partition("=")
                assert key in MAIN_KEYS, row
                assert equals, row
                assert value, row


@pytest.mark.parametrize(
    ("phrase", "overture", "tag"),
    [
        ("Plumbers", "plumbing", "craft=plumber"),
        ("Klempner", "plumbing", "craft=plumber"),
        ("boulangerie", "bakery", "shop=bakery"),
        ("  TANDARTS ", "dentist", "amenity=dentist"),
        ("coffee shop", "coffee_shop", "amenity=cafe"),
    ],
)
def test_phrases_in_other_spellings_and_languages(phrase: str, overture: str, tag: str) -> None:
    categories = open_categories(category_schemes())
    assert overture in categories.meaning(phrase, "overture").categories
    assert tag in categories.meaning(phrase, "openstreetmap").categories
    assert tag in categories.meaning(phrase, "alltheplaces").categories


def test_a_table_above_decides_for_its_phrase_and_scheme_alone() -> None:
    above = (
        HEADER
        + "plumber,overture,Pipe_Fitter\n# a comment,,\n\nRohrprofi,same-as,Plumbers\nplumber,alltheplaces,shop=pipes\n"
    )
    categories = open_categories(category_schemes(), [(above, "mine.csv")])
    assert categories.meaning("plumber", "overture").categories == ("pipe_fitter",)
    assert categories.meaning("Rohrprofi", "overture").categories == ("pipe_fitter",)
    assert categories.meaning("plumber", "openstreetmap").categories == ("craft=plumber",)
    assert categories.meaning("plumber", "alltheplaces").categories == ("shop=pipes",)
    assert categories.meaning("dentist", "overture") == open_categories(category_schemes()).meaning(
        "dentist", "overture"
    )


def test_phrases_that_point_at_each_other_end() -> None:
    categories = open_categories(
        category_schemes(), [(HEADER + "a thing,same-as,b thing\nb thing,same-as,a thing\n", "loop.csv")]
    )
    meaning = categories.meaning("a thing", "overture")
    assert (meaning.by, meaning.words) == ("words", frozenset({"a", "thing"}))


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("phrase,category\n", 1, "the columns must be"),
        ("", 1, "the columns must be"),
        (HEADER + "plumber,overture\n", 2, "a row has a phrase"),
        (HEADER + "plumber,overture,\n", 2, "a row has a phrase"),
        (HEADER + "a,overture,b\nplumber,osm,craft=plumber\n", 3, 'there is no scheme "osm"'),
        (HEADER + "!!,overture,b\n", 2, "no letter and no digit"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(FormatError) as caught:
        CategoryTable.parse(text, "mine.csv", category_schemes())
    assert reason in caught.value.message
    assert f"mine.csv, line {line}" in caught.value.message


def test_words_and_patterns() -> None:
    assert words_of("Bakeries & Flower_shops") == {"bakery", "flower", "shop"}
    assert words_of("glass Gas bus") == {"glass", "gas", "bus"}
    assert like_pattern("plain") is None
    assert like_pattern("100%_a*b**") == r"100\%\_a%b%"


@pytest.mark.parametrize(
    ("phrase", "taken"),
    [
        ("emergency plumber", "plumber"),
        ("plumbers near me", "plumber"),
        ("24/7 Locksmiths", "locksmith"),
        ("pediatric dentist", "dentist"),
        ("Zahnarzt in Berlin", "zahnarzt"),
        ("Klempner Notdienst", "klempner"),
        ("dentiste pour enfants", "dentiste"),
        ("fontanero cerca de mí", "fontanero"),
        ("plumber for old houses in Springfield", "plumber"),
        ("residential roofing contractor", "roofing contractor"),
        ("hydraulik w pobliżu", "hydraulik"),
    ],
)
def test_a_phrase_finds_its_category_by_its_words(phrase: str, taken: str) -> None:
    categories = open_categories(category_schemes())
    meaning = categories.meaning(phrase, "overture")
    assert (meaning.by, meaning.taken) == ("categories", taken)
    assert meaning.categories == categories.meaning(taken, "overture").categories
    assert meaning.words == words_of(taken), "a business without categories needs no more in its name"


@pytest.mark.parametrize(
    ("phrase", "words"),
    [
        ("school uniform", {"school", "uniform"}),
        ("zorbing near me", {"zorbing"}),
        ("museum plumber", {"museum", "plumber"}),
        ("near me", {"near", "me"}),
        ("Notdienst", {"notdienst"}),
        ("for dentists", {"for", "dentist"}),
    ],
)
def test_a_phrase_that_only_mentions_a_trade_is_looked_for_by_its_words(phrase: str, words: set[str]) -> None:
    meaning = open_categories(category_schemes()).meaning(phrase, "overture")
    assert (meaning.by, meaning.taken, set(meaning.words)) == ("words", None, words)


def test_the_digest_tells_what_is_looked_for() -> None:
    categories = open_categories(category_schemes())
    assert categories.meaning("plumbers near me", "overture").digest == categories.meaning("plumber", "overture").digest
    assert categories.meaning("Klempner", "overture").digest != categories.meaning("plumber", "overture").digest
    assert categories.meaning("plumber", "overture").digest != categories.meaning("plumber", "openstreetmap").digest
