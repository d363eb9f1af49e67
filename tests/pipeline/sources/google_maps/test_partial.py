"""Cards that are no businesses, lists that show less than usual, numbers without a country."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchmarks._maps_pages import business, card, details_page, list_page
from cocli.documents.document import Document
from cocli.documents.graph.node import NodeContext
from cocli.keys.tile import Tile
from cocli.pipeline.sources.google_maps.documents import details_document, list_document
from cocli.pipeline.sources.google_maps.nodes import MAPS_LIST, maps_states
from cocli.pipeline.sources.google_maps.parser.parse import MapsReading, read
from cocli.pipeline.sources.google_maps.score import _same_phone

WHEN = datetime(2026, 11, 16, 3, 0, tzinfo=UTC)
WEIMAR = Tile(50900, 11300)
STRASBOURG = Tile(48500, 7700)
"""Beside the Rhine: the next town is in the other country."""


def listed(html: str, tile: Tile = WEIMAR) -> Document:
    url = "https://www.google.com/maps/search/x/@50.95,11.35,15z"
    return list_document(account="a", tile=tile, phrase="x", url=url, html=html, fetched_at=WHEN)


def reading(html: str, tile: Tile = WEIMAR) -> MapsReading:
    return read(listed(html, tile))


def bare(number: int, name: str, **more: Any) -> str:
    """A card without anything that only a business has."""
    nothing: dict[str, Any] = {"category": None, "phone": None, "website": None, "rating": None, "status": ()}
    return card(business(number, name=name, **{**nothing, **more}))


@pytest.mark.parametrize("name", ["355 State St, Los Altos", "Ilmweg 12, 99423 Weimar", "99423", "9F4C+2V Weimar"])
def test_a_card_of_an_address_is_no_business(name: str) -> None:
    page = list_page([card(business(1)), bare(2, name, address=None), card(business(3))])
    assert [place.name for place in reading(page).places] == [business(1).name, business(3).name]


def test_a_business_that_is_called_like_a_number_stays() -> None:
    shown = list_page([card(business(1, name="24 Hour Fitness")), bare(2, "Nothing but a name", address=None)])
    assert [place.name for place in reading(shown).places] == ["24 Hour Fitness", "Nothing but a name"]


def test_an_advertisement_keeps_its_flag_where_the_list_has_no_feed() -> None:
    cards = [
        card(business(1), role=False),
        card(business(2, sponsored=True), role=False),
        card(business(3), role=False),
    ]
    page = list_page(cards).replace('role="feed"', 'data-was="feed"')
    without_log = re.sub(r'jslog="18538[^"]*"', "", page)
    for html in (page, without_log):
        assert [place.sponsored for place in reading(html).places] == [False, True, False]


def test_a_limited_view_yields_what_it_shows_and_is_marked() -> None:
    page = list_page([card(business(number)) for number in (1, 2)], limited="Dies ist eine eingeschränkte Ansicht.")
    document = listed(page)
    context = cast("NodeContext", SimpleNamespace(node=MAPS_LIST))  # of which nothing else is asked
    state = maps_states(document, context)
    data: Any = state.data[MAPS_LIST]
    assert [place["name"] for place in data["places"]] == [business(1).name, business(2).name]
    assert (data["page"], data["partial"]) == ("limited_view", True)
    assert not read(document).verdict.is_data, "the tile is not read by it"


def test_a_pane_without_heading_is_named_by_its_label() -> None:
    shown = business(4)
    page = details_page(shown).replace(f"<h1>{shown.name}</h1>", "")
    page = page.replace('<h1 aria-label="Gesponsert">Gesponsert</h1>', "")
    url = f"https://www.google.com/maps/place/?q=place_id:{shown.place_id}"
    document = details_document(account="a", place_id=shown.place_id, url=url, html=page, fetched_at=WHEN)
    (place,) = read(document).places
    assert (place.name, place.website, place.category_labels) == (shown.name, shown.website, ("Dachdecker",))
    assert place.rating == 4.5


@pytest.mark.parametrize(
    "description", ["Cosy spot with homemade cakes", "Tacos, burgers & craft beer", "Ein Ort mit viel Platz für alle"]
)
def test_a_description_is_no_category(description: str) -> None:
    shown = business(5, category=None, address=None, description=description)
    (place,) = reading(list_page([card(shown)])).places
    assert place.category_labels == ()
    (named,) = reading(list_page([card(business(5, description=description))])).places
    assert named.category_labels == ("Dachdecker",)


def test_national_numbers_are_of_the_country_of_their_tile() -> None:
    page = list_page([card(business(1, phone="03643 555010"))])
    assert reading(page).places[0].phone_e164 == "+493643555010"
    assert reading(page, Tile(39700, -89700)).places[0].phone_e164 is None, "the place is elsewhere"
    beside = list_page([card(business(1, phone="03 88 60 90 90", lat=48.58, lon=7.75))])
    assert reading(beside, STRASBOURG).places[0].phone_e164 is None, "near a border nobody knows"
    wrong = list_page([card(business(1, phone="03643 555010", lat=39.78, lon=-89.65))])
    assert reading(wrong, Tile(39700, -89700)).places[0].phone_e164 is None, "no number of that country"


@pytest.mark.parametrize(
    ("said", "wanted", "same"),
    [
        ("+1 217-241-0100", "(217) 241-0100", True),
        ("(217) 241-0100", "+1 217-241-0100", True),
        ("030 901820", "+49 30 901820", True),
        ("030 901821", "+49 30 901820", False),
        ("241-0100", "+1 217-241-0100", False),
    ],
)
def test_phones_are_compared_as_numbers(said: str, wanted: str, same: bool) -> None:
    assert _same_phone(said, wanted) is same
