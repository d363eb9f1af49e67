"""What kind of page it is: by structure, in any language. Only a list or a place is data."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from benchmarks._maps_pages import SKELETON, business, card, details_page, list_page, message, search_answer
from cocli.errors import DocumentInvalid
from cocli.keys.tile import Tile
from cocli.pipeline.sources.google_maps.documents import asked_of, details_document, list_document
from cocli.pipeline.sources.google_maps.parser.parse import MapsReading, judge, parse, read

WHEN = datetime(2026, 11, 16, tzinfo=UTC)
CONSENT = (
    '<html><body><h1>Προτού συνεχίσετε</h1><form action="https://consent.google.com/save" method="post">'
    '<input name="set_eom" value="true"><button>Απόρριψη όλων</button></form></body></html>'
)
CAPTCHA = '<html><body><form id="captcha-form" action="index"><div class="g-recaptcha"></div></form></body></html>'
NOT_FOUND = (
    '<html><body><a href="//www.google.com/" id="logo"></a><p><b>404.</b> <ins>Das ist ein Fehler.</ins></body></html>'
)


def reading(
    html: str | None, *answers: bytes, url: str = "https://www.google.com/maps/search/x", **more: Any
) -> MapsReading:
    return read(
        list_document(
            account="a", tile=Tile(0, 0), phrase="x", url=url, html=html, answers=answers, fetched_at=WHEN, **more
        )
    )


CARDS = [card(business(number)) for number in range(1, 6)]


@pytest.mark.parametrize(
    ("kind", "html", "more"),
    [
        ("list", list_page(CARDS), {}),
        ("single", details_page(business(1)), {"url": business(1).link}),
        ("consent", CONSENT, {}),
        ("consent", "<html><body><p>x</p></body></html>", {"url": "https://consent.google.com/ml?continue=x"}),
        ("blocked", CAPTCHA, {}),
        ("blocked", "<html></html>", {"url": "https://www.google.com/sorry/index?continue=x"}),
        ("blocked", list_page(CARDS), {"http_status": 429}),
        ("error", NOT_FOUND, {}),
        ("error", list_page(CARDS), {"http_status": 503}),
        ("error", "", {}),
        ("error", "<p>hello</p>", {}),
        ("error", "<html><body><div id='main-frame-error'></div></body></html>", {}),
        ("shell", list_page([]), {}),
        ("limited_view", list_page(CARDS, limited="Dies ist eine eingeschränkte Ansicht."), {}),
    ],
)
def test_kinds_of_pages(kind: str, html: str, more: dict[str, Any]) -> None:
    found = reading(html, **more)
    assert found.verdict.kind == kind
    assert found.verdict.is_data == (kind in ("list", "single"))
    if kind in ("consent", "blocked", "shell"):
        assert not found.places


def test_limited_view_parsed_as_data() -> None:
    """2026-02-25: pages without review counts were taken for complete ones, and whole campaigns had none."""
    without = [card(business(number, reviews=None)) for number in range(1, 6)]
    assert reading(list_page(without)).verdict.kind == "limited_view"
    assert not reading(list_page(without, end="Ende der Liste")).verdict.is_data
    one_has_it = [*without, card(business(6))]
    assert reading(list_page(one_has_it)).verdict.kind == "list"
    unrated = [card(business(number, rating=None, reviews=None)) for number in range(1, 6)]
    assert reading(list_page(unrated)).verdict.kind == "list"


def test_consent_in_front_of_a_list_that_is_there() -> None:
    html = list_page(CARDS).replace("</body>", '<form action="https://consent.google.com/save"></form></body>')
    assert reading(html).verdict.kind == "list"


@pytest.mark.parametrize(
    "text", ["You've reached the end of the list.", "Sie haben das Ende erreicht.", "リストの最後です"]
)
@pytest.mark.parametrize("mark", ["HlvSq", "renamed"])
def test_the_end_of_a_list(text: str, mark: str) -> None:
    assert reading(list_page(CARDS, end=text, end_class=mark)).verdict.end_seen
    assert not reading(list_page(CARDS)).verdict.end_seen


def test_the_end_is_behind_the_last_card() -> None:
    html = list_page(CARDS, end="Ende", end_class="renamed").replace(
        "</div></div></div></body>", f"{CARDS[0]}</div></div></div></body>"
    )
    assert not reading(html).verdict.end_seen
    talking = list_page([*CARDS, "<div><p>Nichts dabei? <a href='/x'>Ort hinzufügen</a></p></div>"])
    assert not reading(talking).verdict.end_seen


def test_a_feed_that_is_empty_is_not_proved_to_be() -> None:
    empty = "<html><body><div id='app-container'><div role='main'><div role='feed'>{}</div></div></div></body></html>"
    assert reading(empty.format(SKELETON)).verdict.kind == "shell"
    proved = reading(empty.format("<div><p><span>Ende</span></p></div>")).verdict
    assert (proved.kind, proved.end_seen) == ("list", True)


def test_answers_that_came_before_the_page_was_drawn() -> None:
    answer = search_answer([message(business(1)), message(business(2))])
    assert (reading(list_page([]), answer).verdict.kind, len(reading(None, answer).places)) == ("list", 2)
    assert reading(CAPTCHA, answer).places == ()


def test_a_document_says_what_was_asked() -> None:
    tile = Tile(50950, 11300, 50)
    document = list_document(
        account="a",
        tile=tile,
        phrase="a|b 50%7C/c",
        url="",
        html="x",
        fetched_at=WHEN,
        headers={"Set-Cookie": "x", "ETag": "1"},
    )
    assert asked_of(document) == (tile, "a|b 50%7C/c", None)
    assert dict(document.source.headers) == {"etag": "1"}
    single = details_document(account="a", place_id="ChIJyUzh2kXqwoARUtNFG8VjnYQ", url="", html="x", fetched_at=WHEN)
    assert (single.doc, asked_of(single)[2]) == ("place/ChIJyUzh2kXqwoARUtNFG8VjnYQ", "ChIJyUzh2kXqwoARUtNFG8VjnYQ")
    assert judge(single).kind == "error"


def test_a_document_without_a_time_is_refused() -> None:
    document = list_document(account="a", tile=Tile(0, 0), phrase="x", url="", html="x", fetched_at=WHEN)
    with pytest.raises(DocumentInvalid, match="when it was fetched"):
        parse(document.with_source(type(document.source)()))
