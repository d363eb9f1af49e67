"""The page of one place: its panel, its identity, and what else stands on it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from benchmarks._maps_pages import Business, business, card, details_answer, details_page, list_page, message, state_of
from cocli.keys.tile import Tile
from cocli.models.place import Place
from cocli.pipeline.sources.google_maps.documents import details_document, list_document
from cocli.pipeline.sources.google_maps.parser.parse import MapsReading, read

WHEN = datetime(2026, 11, 16, 3, 0, tzinfo=UTC)


def reading(place: Business, html: str | None, *answers: bytes, url: str = "", **more: Any) -> MapsReading:
    document = details_document(
        account="a", place_id=place.place_id, url=url, html=html, answers=answers, fetched_at=WHEN, **more
    )
    return read(document)


def only(place: Business, html: str | None, *answers: bytes, url: str = "") -> Place:
    places = reading(place, html, *answers, url=url).places
    assert len(places) == 1
    return places[0]


def test_everything_that_a_panel_shows() -> None:
    shown = business(5, rating="4,7", reviews="17.059")
    html = details_page(
        shown, dialled="+493643555005", full_address="Teichgasse 5, 99423 Weimar", plus_code="X8JF+4M Weimar"
    )
    place = only(shown, html, url=shown.link)
    assert (place.place_id, place.name, place.lat, place.lon) == (shown.place_id, shown.name, shown.lat, shown.lon)
    assert (place.phone, place.phone_e164) == ("03643 555005", "+493643555005")
    assert (place.website, place.address) == (shown.website, "Teichgasse 5, 99423 Weimar")
    assert (place.rating, place.review_count, place.category_labels) == (4.7, 17059, ("Dachdecker",))
    assert (place.plus_code, place.rank, place.tile) == ("X8JF+4M Weimar", None, None)


@pytest.mark.parametrize(
    "labels", [("住所", "ウェブサイト", "電話番号"), ("العنوان", "الموقع", "الهاتف"), ("Adresse ", "Site", "Tél")]
)
def test_labels_of_any_language(labels: tuple[str, str, str]) -> None:
    shown = business(5)
    place = only(shown, details_page(shown, labels=labels), url=shown.link)
    assert (place.address, place.phone, place.website) == (shown.address, shown.phone, shown.website)


def test_a_panel_without_reviews_takes_none_of_others() -> None:
    """Below the panel, an advertisement has 1.020 reviews."""
    shown = business(5, rating=None, reviews=None)
    place = only(shown, details_page(shown), url=shown.link)
    assert (place.rating, place.review_count) == (None, None)
    shown = business(5, reviews=None)
    place = only(shown, details_page(shown), url=shown.link)
    assert (place.rating, place.review_count) == (4.5, None)


def test_the_state_says_more_than_the_panel() -> None:
    shown = business(5)
    html = details_page(shown, state=state_of(details_answer(message(shown)), echo=shown))
    place = only(shown, html)
    assert (place.country, place.phone_e164, place.category_ids) == ("DE", "+493643555005", ("roofing_contractor",))
    assert only(shown, None, details_answer(message(shown))).country == "DE"


def test_the_state_of_an_earlier_place_is_not_read() -> None:
    earlier, shown = business(8, name="Gasthof Erle"), business(5)
    html = details_page(shown, state=state_of(details_answer(message(earlier)), echo=earlier))
    place = only(shown, html, url=shown.link)
    assert (place.place_id, place.country) == (shown.place_id, None)
    alike = business(9)
    html = details_page(shown, state=state_of(details_answer(message(alike)), echo=alike))
    document = list_document(account="a", tile=Tile(0, 0), phrase="x", url=shown.link, html=html, fetched_at=WHEN)
    assert [one.place_id for one in read(document).places] == [shown.place_id]


def test_the_echo_names_a_panel_and_is_no_place_by_itself() -> None:
    shown = business(5)
    unrendered = list_page([], state=state_of(echo=shown))
    found = reading(shown, unrendered, url=shown.link)
    assert (found.places, found.verdict.kind) == ((), "shell")


def test_a_place_beside_a_list() -> None:
    shown = business(5)
    feed = f"<div role='main'><div role='feed'>{card(business(1))}{card(shown)}</div></div>"
    place = only(shown, details_page(shown, beside=feed), url=shown.link)
    assert place.address == shown.address
    assert reading(shown, list_page([card(business(1)), card(shown)])).places[0].place_id == shown.place_id
    assert reading(shown, list_page([card(business(1))])).places == ()


def test_a_place_that_has_moved_to_another_id() -> None:
    """The page that was reached says which place it is, not the one that was asked for."""
    asked, reached = business(5), business(6)
    assert only(asked, details_page(reached), url=reached.link).place_id == reached.place_id


def test_an_area_is_no_business() -> None:
    area = business(5, category=None, rating=None, reviews=None, phone=None, website=None)
    found = reading(area, details_page(area, plus_code="X8JF+4M Weimar", state=state_of(echo=area)), url=area.link)
    assert (found.places, found.verdict.kind) == ((), "area")


def test_a_line_without_text_is_read_from_its_label() -> None:
    shown = business(5)
    html = details_page(shown).replace('<div class="Io6YTe">Teichgasse 5</div>', "")
    assert only(shown, html, url=shown.link).address == "Teichgasse 5"


def test_a_page_that_names_but_one_place_in_its_links() -> None:
    shown = business(5)
    link = f'<a href="{shown.link}">Teilen</a>'
    html = details_page(shown, beside=link)
    document = list_document(account="a", tile=Tile(0, 0), phrase="x", url="", html=html, fetched_at=WHEN)
    place = read(document).places[0]
    assert (place.place_id, place.lat, place.lon) == (shown.place_id, shown.lat, shown.lon)
    two = details_page(shown, beside=link + f'<a href="{business(6).link}">Auch</a>')
    document = list_document(account="a", tile=Tile(0, 0), phrase="x", url="", html=two, fetched_at=WHEN)
    assert read(document).places == ()


def test_a_shortened_count_is_read_from_its_label() -> None:
    shown = business(5, reviews="17.059")
    html = details_page(shown).replace("(17.059)", "(17 Tsd.)")
    assert only(shown, html, url=shown.link).review_count == 17059


@pytest.mark.parametrize("form", ["?cid={cid}", "/maps/place/?q=place_id:{place}&hl=de", "/maps?ftid={fid}", "{link}"])
def test_addresses_that_lead_to_a_place(form: str) -> None:
    shown = business(5)
    cid = int(shown.feature_id.split(":")[1], 16)
    address = form.format(cid=cid, place=shown.place_id, fid=shown.feature_id, link=shown.link)
    url = address if address.startswith("https:") else f"https://www.google.com{address}"
    document = list_document(
        account="a", tile=Tile(0, 0), phrase="x", url=url, html=details_page(shown), fetched_at=WHEN
    )
    assert [place.cid for place in read(document).places] == [str(cid)]
    saved = f"<!-- saved from url=({len(url):04d}){url} -->\n{details_page(shown)}"
    document = list_document(account="a", tile=Tile(0, 0), phrase="x", url="", html=saved, fetched_at=WHEN)
    assert [place.cid for place in read(document).places] == [str(cid)]


def test_stars_of_other_places_do_not_make_a_business_of_an_area() -> None:
    """The page of a town shows hotels below its name."""
    area = business(5, category=None, rating=None, reviews=None, phone=None, website=None, address=None)
    hotels = '<div><h2>Hotels</h2><span role="img" aria-label="4,9 Sterne 1.020 Rezensionen"></span></div>'
    html = details_page(area, state=state_of(echo=area))
    for below in (hotels, f'<a href="{business(6).link}"><span role="img" aria-label="4,9 Sterne"></span></a>'):
        page = html.replace('<div role="region">', f"<div>{below}</div><div>").replace(
            '<div class="TIHn2">', '<div><div class="TIHn2">'
        )
        found = reading(area, page.replace("</body>", "</div></body>"), url=area.link)
        assert (found.places, found.verdict.kind) == ((), "area")


def test_a_rating_without_a_label_of_its_picture() -> None:
    shown = business(5)
    html = details_page(shown).replace(' aria-label="4,5 Sterne "', "").replace(' aria-label="1.234 Rezensionen"', "")
    place = only(shown, html, url=shown.link)
    assert (place.rating, place.review_count) == (4.5, 1234)


def test_a_shortened_label_is_not_read_as_a_small_number() -> None:
    shown = business(5, reviews="17 Tsd.")
    assert only(shown, details_page(shown), url=shown.link).review_count == 17_000
