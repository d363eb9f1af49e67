"""Damaged and hostile input: nothing raises, nothing is invented, and time grows with size and no faster."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks._maps_pages import (
    business,
    card,
    details_answer,
    details_page,
    list_page,
    message,
    search_answer,
    state_of,
)
from cocli.keys.tile import Tile
from cocli.models.place import Place
from cocli.pipeline.sources.google_maps.documents import list_document
from cocli.pipeline.sources.google_maps.parser import numbers, phones
from cocli.pipeline.sources.google_maps.parser.bounds import harmless
from cocli.pipeline.sources.google_maps.parser.parse import parse

WHEN = datetime(2026, 11, 16, tzinfo=UTC)
BUSINESSES = [business(1, price="€€"), business(2, rating=None, reviews=None), business(3, address=None), business(4)]
KNOWN = {one.place_id: one for one in BUSINESSES}
PAGE = list_page([card(one) for one in BUSINESSES], end="Ende").encode()
PANEL = details_page(BUSINESSES[0], state=state_of(details_answer(message(BUSINESSES[0])), echo=BUSINESSES[0])).encode()
ANSWER = search_answer([message(one) for one in BUSINESSES])
FUZZ = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def places(html: bytes | None, *answers: bytes) -> list[Place]:
    document = list_document(
        account="a", tile=Tile(0, 0), phrase="x", url="", html=html, answers=answers, fetched_at=WHEN
    )
    return parse(document)


def check(found: list[Place]) -> None:
    """Whatever is said of a place that is known is what was written for it, or a piece of it."""
    for place in found:
        one = KNOWN.get(place.place_id or "")
        if one is None:
            continue
        assert place.phone in (None, one.phone)
        assert place.review_count in (None, 1234)
        assert place.rating in (None, 4.5)
        assert place.website in (None, one.website)


@FUZZ
@given(st.integers(0, len(PAGE)))
def test_a_list_that_is_cut_off(length: int) -> None:
    found = places(PAGE[:length])
    assert {place.place_id for place in found} <= KNOWN.keys()
    for place in found:
        one = KNOWN[place.place_id or ""]
        assert one.name.startswith(place.name)
        assert place.address is None or (one.address or "").startswith(place.address)
        assert place.phone is None or (one.phone or "").startswith(place.phone)
        assert place.review_count in (None, 1234)


@FUZZ
@given(st.integers(0, len(ANSWER)), st.integers(0, len(PANEL)))
def test_answers_and_panels_that_are_cut_off(answer: int, panel: int) -> None:
    assert answer == len(ANSWER) or places(None, ANSWER[:answer]) == []
    check(places(PANEL[:panel]))


@FUZZ
@given(st.data())
def test_bytes_that_were_changed(data: st.DataObject) -> None:
    body = bytearray(data.draw(st.sampled_from([PAGE, PANEL, ANSWER])))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(body) - 1))
        piece = data.draw(
            st.sampled_from([b"<", b">", b'"', b"</div>", b"<div>", b"\xff", b"\x00", b"&#0;", b"[", b"]]", b"!"])
        )
        body[at : at + data.draw(st.integers(0, 40))] = piece
    html, answers = (None, (bytes(body),)) if body.startswith(b")]}'") else (bytes(body), ())
    for place in places(html, *answers):
        assert place.name
        assert place.source_id


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["CLOSED", "0x1:0x2"]),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=15,
)


@FUZZ
@given(
    st.dictionaries(
        st.sampled_from([2, 4, 7, 9, 13, 30, 34, 39, 49, 57, 76, 78, 88, 89, 100, 166, 178, 183, 203, 243]), JSON
    )
)
def test_slots_that_hold_anything(slots: dict[int, Any]) -> None:
    changed = message(BUSINESSES[0], **{f"s{slot}": value for slot, value in slots.items()})
    for found in (places(None, search_answer([changed])), places(None, details_answer(changed))):
        for place in found:
            assert place.name == BUSINESSES[0].name
            assert place.review_count is None or place.review_count >= 0
            if 178 not in slots:
                assert place.phone == BUSINESSES[0].phone
            if 9 not in slots:
                assert place.lat == BUSINESSES[0].lat


@FUZZ
@given(JSON)
def test_answers_that_are_any_json(value: Any) -> None:
    assert places(None, json.dumps(value).encode(), b")]}'\n" + json.dumps([[None, [value]]]).encode()) == []


@given(st.integers(0, 10**7), st.sampled_from([",", ".", " ", "\u00a0", "\u202f", "’", "'"]))
def test_counts_are_read_back_from_every_way_to_write_them(value: int, separator: str) -> None:
    written = f"{value:,}".replace(",", separator)
    assert numbers.count(written) == numbers.count(f"({written})") == value
    if value > 5:
        said = numbers.stars(f"4.5 stars {written} Reviews")
        assert said == numbers.Stars(4.5, value)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.2K", 1200), ("1,2 mil", 1200), ("1.2万", 12000), ("3M", 3_000_000), ("12,34,567", 1_234_567), ("٧٠٤", 704),
     ("4.5", None), ("12.34", None), ("1,234.567", None), ("", None), ("K", None), ("1e9", None), ("12 34", None)],
)  # fmt: skip
def test_counts(text: str, value: int | None) -> None:
    assert numbers.count(text) == value


@given(st.text(max_size=40))
def test_any_text_as_a_number(text: str) -> None:
    for read in (numbers.count, numbers.rating, numbers.stars, phones.looks_like_phone):
        read(text)


DEEP = b"<div>" * 150_000 + b"</div>" * 150_000
HOSTILE = {
    "nested": DEEP,
    "nested in a feed": b"<div role=feed>" + b"<div role=article>" * 100_000,
    "attributes": b"<div " + b" ".join(b"a%d=1" % number for number in range(200_000)) + b">",
    "attributes with brackets": b"<div " + b" ".join(b'a%d="><"' % number for number in range(150_000)) + b">",
    "formatting": b"".join(b"<b x=%d>" % number for number in range(50_000)) + b"<p>a" * 50_000,
    "links": b"<div role=feed><div>" + b"".join(
        b'<a href="/maps/place/x/data=!1s0x1:0x%x">y</a>' % number for number in range(1, 40_000)
    ),
    "links in one place": b"<div>" + b"".join(
        b'<a aria-label="n" href="/maps/place/x/data=!1s0x1:0x%x"></a>n' % number for number in range(1, 30_000)
    ),
    "states": b"<script>" + b"APP_INITIALIZATION_STATE=[" * 80_000 + b"</script>",
    "arrays": b"<script>window.APP_INITIALIZATION_STATE=" + b"[" * 2_000_000 + b"</script>",
    "quotes": b'<div role=feed><a href="/maps/place/' + b'"' * 1_000_000,
    "spaces": b'<div role="feed"><div role="article" aria-label="n"><a href="/maps/place/n/data=!1s0x1:0x2">'
    + b" " * 2_000_000,
    "dots": b'<div role="feed"><div role="article" aria-label="n"><a href="/maps/place/n/data=!1s0x1:0x2"></a><div>'
     b"<div>n</div><div><span>" + b"\xc2\xb7 a " * 400_000,
    "one big card": b'<div role="feed"><div role="article" aria-label="n"><a href="/maps/place/n/data=!1s0x1:0x2"></a>'
    + b"<div>m</div>" * 160_000,
}  # fmt: skip


@pytest.mark.parametrize(
    "text", ["&nbsp;", "<span>&nbsp;</span>", "<span>·</span><span>&nbsp;</span>", "a · <span>&#32;&nbsp;</span> · b"]
)
def test_a_card_with_a_line_of_nothing_but_spaces(text: str) -> None:
    (place,) = places(list_page([card(BUSINESSES[0]).replace(str(BUSINESSES[0].address), text)]).encode())
    assert place.name == BUSINESSES[0].name
    assert place.street != BUSINESSES[0].address


def test_formatting_that_every_paragraph_opens_anew_is_refused() -> None:
    """Five thousand tags of it cost the parser seconds, ten thousand a quarter of a minute."""
    formatted = b"".join(b"<b x=%d><p>" % number for number in range(1_300))
    assert not harmless(formatted)
    assert harmless(formatted.replace(b"<p>", b"</b><p></p>"))


@pytest.mark.parametrize("name", HOSTILE)
def test_two_megabytes_cost_little_time(name: str) -> None:
    started = time.process_time()
    places(HOSTILE[name])
    assert time.process_time() - started < 6


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 1_000_000,
        b")]}'\n" + b"[[" * 500_000,
        b"[" + b"1" * 2_000_000 + b"]",
        b'{"c":' * 300_000,
        b"[0," * 300_000,
    ],
)
def test_answers_without_end(body: bytes) -> None:
    started = time.process_time()
    assert places(None, body) == []
    assert time.process_time() - started < 6


def test_wide_answers_are_walked_once() -> None:
    wide = json.dumps([[[[index, [index]] for index in range(300)] for _ in range(300)]]).encode()
    started = time.process_time()
    assert places(None, wide) == []
    assert time.process_time() - started < 6
