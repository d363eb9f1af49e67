"""No result, told from a page that did not load: zero is believed only where the page repeats the question."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cocli.keys.tile import Tile
from cocli.pipeline.sources.google_maps.documents import list_document
from cocli.pipeline.sources.google_maps.parser.parse import read

WHEN = datetime(2026, 11, 16, tzinfo=UTC)
SEARCH = "https://www.google.com/maps/search/Caf%C3%A9+Noir/@1.0,2.0,13z?hl=en"
PAGE = '<html itemtype="http://schema.org/Place"><body><div id="app-container">{}</div></body></html>'
PANE = '<div role="main"><div>{}</div></div>'


@pytest.mark.parametrize(
    "words",
    [
        "Google Maps can't find <i>Café Noir</i>. Make sure your search is spelled correctly.",
        "„CAFÉ NOIR“ wurde nicht gefunden",
        "「Café  Noir」は見つかりません",
    ],
)
def test_words_about_the_phrase_where_the_results_would_be(words: str) -> None:
    verdict = verdict_of(PANE.format(words))
    assert verdict == ("empty", True)


@pytest.mark.parametrize(
    "html",
    [
        "",
        PANE.format(""),
        PANE.format("Something went wrong. <button>Try again</button>"),
        PANE.format("Café Noirmoutier"),
        PANE.format("Café Noir") + '<div role="progressbar"></div>',
        f'<div role="feed">{PANE.format("Café Noir")}</div>',
        "<div>Café Noir</div>",
    ],
)
def test_whatever_else_is_a_page_that_did_not_load(html: str) -> None:
    kind, end_seen = verdict_of(html)
    assert kind == "shell"
    assert not end_seen


def test_it_must_be_the_page_of_the_search() -> None:
    assert verdict_of(PANE.format("Café Noir"), url="https://www.google.com/maps/@1,2,13z")[0] == "shell"


def verdict_of(html: str, url: str = SEARCH) -> tuple[str, bool]:
    document = list_document(
        account="a",
        tile=Tile(0, 0),
        phrase="Café Noir",
        url=url,
        html=PAGE.format(html),
        fetched_at=WHEN,
        http_status=200,
    )
    reading = read(document)
    assert reading.places == ()
    return reading.verdict.kind, reading.verdict.end_seen
