"""The self-check: a field that is no longer found raises an alarm; chance does not."""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime

import pytest

from benchmarks._maps_pages import business, card, list_page
from cocli.keys.tile import Tile
from cocli.pipeline.sources.google_maps.documents import list_document
from cocli.pipeline.sources.google_maps.parser.parse import parse
from cocli.pipeline.sources.google_maps.quality import Baseline, PageFill, drop, learn

WHEN = datetime(2026, 11, 16, tzinfo=UTC)


def fill(html: str) -> PageFill:
    document = list_document(account="a", tile=Tile(0, 0), phrase="x", url="", html=html, fetched_at=WHEN)
    return PageFill.of(parse(document))


def page(start: int, *, drift: str | None = None) -> PageFill:
    html = list_page([card(business(number)) for number in range(start, start + 10)])
    return fill(re.sub(drift, "", html) if drift else html)


USUAL = [page(number) for number in range(1, 100, 10)]
BASELINE = learn("google-maps/list", USUAL, WHEN)


def test_nothing_has_changed() -> None:
    assert BASELINE.rate("phone") == 1.0
    assert drop(USUAL, BASELINE) == []
    assert drop([], BASELINE) == []


def test_dom_drift_loses_a_field_in_silence() -> None:
    """Maps renames what a parser relies on, and the parser goes on without that field."""
    changed = [page(number, drift=r' role="img"|4,5|\(1\.234\)') for number in range(1, 100, 10)]
    alarms = drop([*USUAL, *changed], BASELINE, last=10)
    assert {alarm.field for alarm in alarms} == {"rating", "review_count"}
    assert {alarm.severity for alarm in alarms} == {"grave"}
    assert "rating fell to 0 % of 100 (usual: 100 %)" in " ".join(alarm.message for alarm in alarms)


def test_dom_drift_that_breaks_the_cards() -> None:
    broken = [page(number, drift=r'role="img"[^>]*>[^<]*<span[^>]*>[^<]*</span>') for number in range(1, 100, 10)]
    alarms = drop(broken, BASELINE)
    assert {"address", "phone", "places per page"} <= {alarm.field for alarm in alarms}
    assert "places per page fell to 1.0 (usual: 10.0)" in " ".join(alarm.message for alarm in alarms)


def test_pages_without_places_are_grave() -> None:
    alarms = drop([PageFill(0)] * 10, BASELINE)
    assert [(alarm.field, alarm.severity) for alarm in alarms] == [("places", "grave")]
    assert "pages with places fell to 0 %" in alarms[0].message


def test_a_smaller_drop_is_a_warning() -> None:
    fewer = [PageFill(one.places, {**one.filled, "phone": 7}) for one in USUAL]
    assert [(alarm.field, alarm.severity) for alarm in drop(fewer, BASELINE)] == [("phone", "warning")]


def test_a_place_without_a_name_is_always_grave() -> None:
    fewer = [PageFill(one.places, {**one.filled, "name": 9}) for one in USUAL]
    assert [(alarm.field, alarm.severity) for alarm in drop(fewer, BASELINE)] == [("name", "grave")]


def test_a_drop_that_chance_explains_is_none() -> None:
    usual = learn("p", [PageFill(10, {"phone": 5})] * 2, WHEN)
    assert drop([PageFill(10, {"phone": 4})], usual) == []
    assert [alarm.field for alarm in drop([PageFill(10, {"phone": 0})] * 10, usual)] == ["phone"]


def test_few_places_prove_nothing() -> None:
    assert drop([PageFill(3, {})] * 3, BASELINE) == []


@pytest.mark.parametrize("seed", range(20))
def test_chance_raises_no_alarm(seed: int) -> None:
    rng = random.Random(seed)

    def by_chance() -> PageFill:
        return PageFill(20, {name: sum(rng.random() < 0.6 for _ in range(20)) for name in ("phone", "website")})

    baseline = learn("p", [by_chance() for _ in range(50)], WHEN)
    assert [alarm for alarm in drop([by_chance() for _ in range(50)], baseline) if alarm.severity == "grave"] == []


def test_a_baseline_is_a_record() -> None:
    assert Baseline.checked(BASELINE.model_dump()) == BASELINE
