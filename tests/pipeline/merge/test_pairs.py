"""Labelled pairs of listings: which are one business, by the way of workers and by the way of imports."""

from __future__ import annotations

import pytest

from benchmarks.contacts.generator.words import HALVES, Half
from benchmarks.contacts.pairs.fresh import fresh_pairs
from benchmarks.contacts.pairs.pairs import pairs
from benchmarks.contacts.pairs.score import meet, meet_in_import, score_pairs
from benchmarks.contacts.pairs.town import town_pairs
from cocli.pipeline.comparison import comparable_name
from cocli.pipeline.merge.names import NameRelation, relation


@pytest.mark.parametrize("half", HALVES)
def test_pairs_are_told_apart(half: Half) -> None:
    every = pairs(half)
    figures = score_pairs(every)
    assert figures.pairs > 400
    assert figures.total.precision >= 0.995, figures.slips
    assert figures.total.recall >= 0.97, figures.slips
    differs = [pair.name for pair in every if meet(pair.first, pair.second) != meet_in_import(pair.first, pair.second)]
    assert not differs


def test_pairs_of_a_set_that_was_read_once() -> None:
    figures = score_pairs(fresh_pairs())
    assert figures.pairs > 1000
    assert figures.total.precision >= 0.995, figures.slips
    assert figures.total.recall >= 0.97, figures.slips


def test_pairs_of_the_town() -> None:
    figures = score_pairs(town_pairs())
    assert figures.pairs > 500
    assert (figures.total.precision, figures.total.recall) == (1.0, 1.0), figures.slips


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ("Müller & Söhne GmbH", "MUELLER + SOEHNE", NameRelation.EQUAL),
        ("Пекарня Ромашка", "Pekarnya Romashka", NameRelation.EQUAL),
        ("Ταβέρνα Ακρόπολις", "Taverna Akropolis", NameRelation.EQUAL),
        ("Dachbau Müller", "Müller Dachbau", NameRelation.EQUAL),
        ("Lindner", "Lindner und Partner", NameRelation.PART),
        ("Hotel Adler", "Restaurant Adler", NameRelation.CONTRARY),
        ("Dr. Anna Weber", "Dr. Karl Weber", NameRelation.CONTRARY),
        ("Halle A", "Halle B", NameRelation.CONTRARY),
        ("Volksbank", "Geldautomat Volksbank", NameRelation.CONTRARY),
        ("さくら坂歯科", "Sakurazaka Dental", NameRelation.FOREIGN),
        ("Roth Möbel", "Blick Licht", NameRelation.UNRELATED),
        ("Gasthaus Zum Hirsch", "Zum Hirsch", NameRelation.EQUAL),
        ("Taquería Los Tres S.A. de C.V.", "Taqueria Los Tres", NameRelation.EQUAL),
        ("Studio Dott.ssa Neri", "Studio Neri", NameRelation.EQUAL),
        ("田中歯科医院", "田中歯科", NameRelation.EQUAL),
        ("陽光美容院", "阳光美容院", NameRelation.EQUAL),
        ("עיריית דרום", "עיריית הדרום", NameRelation.EQUAL),
        ("Tischlerei Leitner", "Malerei Leitner", NameRelation.CONTRARY),
        ("Schneider Bäckerei", "Schneider Metzgerei", NameRelation.CONTRARY),
        ("Royal Hotel", "Royal Spa", NameRelation.CONTRARY),
        ("Tiệm bánh Hoa Mai", "Tiệm hoa Hoa Mai", NameRelation.CONTRARY),
    ],
)
def test_how_names_stand_to_each_other(first: str, second: str, wanted: NameRelation) -> None:
    assert relation(comparable_name(first), comparable_name(second)) is wanted
    assert relation(comparable_name(second), comparable_name(first)) is wanted
