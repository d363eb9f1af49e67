"""Lists: cards of the feed in several languages, advertisements, what may never be taken for something else."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from benchmarks._maps_pages import Business, business, card, list_page, message, search_answer, state_of
from cocli.models.place import Place
from cocli.models.tile import Tile
from cocli.sources.google_maps.documents import list_document
from cocli.sources.google_maps.parse import Reading, read

WHEN = datetime(2026, 11, 16, 3, 0, tzinfo=UTC)
TILE = Tile(50900, 11300)


def reading(html: str | None, *answers: bytes, **more: Any) -> Reading:
    values: dict[str, Any] = {"url": "https://www.google.com/maps/search/x/@50.95,11.35,15z", **more}
    return read(
        list_document(
            account="a", tile=TILE, phrase="dach|decker 100%", html=html, answers=answers, fetched_at=WHEN, **values
        )
    )


def only(html: str | None, *answers: bytes) -> Place:
    places = reading(html, *answers).places
    assert len(places) == 1
    return places[0]


def test_everything_that_a_card_shows() -> None:
    shown = business(7, price="€€", description="Seit 1912 am Teich", status=("Geschlossen", " ⋅ Öffnet um 12:00"))
    place = only(list_page([card(shown)]))
    assert (place.place_id, place.feature_id, place.kgmid) == (shown.place_id, shown.feature_id, shown.kgmid)
    assert (place.name, place.lat, place.lon) == (shown.name, shown.lat, shown.lon)
    assert (place.phone, place.website, place.address) == (shown.phone, shown.website, shown.address)
    assert (place.rating, place.review_count, place.category_labels) == (4.5, 1234, ("Dachdecker",))
    assert (place.price, place.sponsored, place.rank) == ("€€", False, 1)
    assert (place.tile, place.phrase, place.observed_at) == (TILE, "dach|decker 100%", WHEN)
    assert place.phone_e164 is None, "the card does not say which country this is"


LANGUAGES = {
    "en": {"rating": "4.5", "reviews": "12,345", "stars_label": "{rating} stars {reviews} Reviews"},
    "de": {"rating": "4,5", "reviews": "12.345", "stars_label": "{rating} Sterne {reviews} Rezensionen"},
    "fr": {"rating": "4,5", "reviews": "12\u202f345", "stars_label": "{rating} étoiles {reviews} avis"},
    "pl": {"rating": "4,5", "reviews": "12\u00a0345", "stars_label": "{rating} gwiazdki, {reviews} opinii"},
    "hi": {"rating": "4.5", "reviews": "12,345", "stars_label": "{rating} स्टार {reviews} समीक्षाएं"},
    "ar": {"rating": "٤٫٥", "reviews": "١٢٬٣٤٥", "stars_label": "\u200f{rating} نجوم، \u200f{reviews} تعليقًا"},
    "fa": {"rating": "۴٫۵", "reviews": "۱۲٬۳۴۵", "stars_label": "{rating} ستاره {reviews} مرور"},
    "ja": {"rating": "4.5", "reviews": "12,345", "stars_label": "星 {rating} 個、クチコミ {reviews} 件"},
    "de-CH": {"rating": "4.5", "reviews": "12’345", "stars_label": "{rating} Sterne {reviews} Rezensionen"},
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_of_many_languages(language: str) -> None:
    place = only(list_page([card(business(1, **LANGUAGES[language]), website_label="موقع")], language=language))
    assert (place.rating, place.review_count) == (4.5, 12345)
    assert place.website == "https://betrieb1.example/"


def test_text_from_right_to_left() -> None:
    shown = business(2, name="مخبز النخيل", category="مخبز", address="شارع الملك فهد، ٧٠٤", phone="\u200f011 555 0142")
    place = only(list_page([card(shown)], language="ar"))
    assert (place.name, place.category_labels, place.address) == ("مخبز النخيل", ("مخبز",), "شارع الملك فهد، ٧٠٤")
    assert place.phone == "\u200f011 555 0142"


def test_reviews_count_is_area_code() -> None:
    """2026-03-16: a regular expression took 704 of `(704) 555-0142`, or of `704 Main St`, for the number of reviews."""
    shown = business(3, reviews=None, address="704 Main St", phone="(704) 555-0142", description="Open since 704")
    place = only(list_page([card(shown)]))
    assert place.review_count is None
    assert (place.address, place.phone) == ("704 Main St", "(704) 555-0142")
    unrated = business(4, rating=None, reviews=None, address="704", phone="704 5550142", no_reviews="No reviews")
    place = only(list_page([card(unrated)]))
    assert (place.rating, place.review_count, place.address) == (None, None, "704")


def test_a_count_is_read_that_looks_like_an_area_code() -> None:
    assert only(list_page([card(business(3, reviews="704"))])).review_count == 704


@pytest.mark.parametrize(
    "words", [("Closed", " ⋅ Opens 12 PM"), ("Open 24 hours",), ("Opens soon", " ⋅ 9 AM"), ("Geschlossen", " ⋅ 12:00")]
)
def test_opens_12_pm_is_no_address(words: tuple[str, ...]) -> None:
    """The line of a place without an address was read one too far."""
    place = only(list_page([card(business(5, address=None, status=words))]))
    assert (place.address, place.category_labels) == (None, ("Dachdecker",))
    place = only(list_page([card(business(5, address=None, category=None, status=words))]))
    assert (place.address, place.category_labels) == (None, ())


def test_hours_without_colours_are_no_address_either() -> None:
    html = re.sub(
        r' style="[^"]*"', "", list_page([card(business(5, category=None, address=None, status=("x", "Opens 12 PM")))])
    )
    assert only(html).address is None
    html = list_page([card(business(5, address="Opens 12 PM"))])
    assert only(html).address is None


def test_a_single_word_with_a_number_is_the_address() -> None:
    place = only(list_page([card(business(6, category=None, address="Teichgasse 6"))]))
    assert (place.address, place.category_labels) == ("Teichgasse 6", ())


def test_no_reviews_is_no_category() -> None:
    place = only(list_page([card(business(6, rating=None, category=None, address=None, status=(), phone=None))]))
    assert (place.category_labels, place.address) == ((), None)
    place = only(list_page([card(business(6, rating=None))]))
    assert (place.rating, place.category_labels) == (None, ("Dachdecker",))


def test_a_street_number_is_no_phone() -> None:
    place = only(list_page([card(business(6, category=None, address="7030 78", phone=None, status=()))]))
    assert (place.address, place.phone) == ("7030 78", None)


def test_a_sponsored_card_repeats_a_place() -> None:
    shown = business(1)
    advertised = business(1, sponsored=True, lat=50.901, lon=11.301, website="/aclk?sa=L&ai=x", address="Teichgasse 1a")
    places = reading(list_page([card(advertised), card(business(2)), card(shown)])).places
    assert [place.place_id for place in places] == [shown.place_id, business(2).place_id]
    assert (places[0].sponsored, places[1].sponsored) == (True, False)
    assert (places[0].address, places[0].website) == ("Teichgasse 1", shown.website)
    alone = only(list_page([card(advertised)]))
    assert (alone.sponsored, alone.website) == (True, None)


@pytest.mark.parametrize(
    ("href", "website"),
    [
        ("/url?q=https://betrieb.example/a%3Fb&opi=1", "https://betrieb.example/a?b"),
        ("https://www.google.com/url?q=http://betrieb.example", "http://betrieb.example"),
        ("/aclk?sa=L&adurl=https://betrieb.example", None),
        ("https://www.google.com/aclk?sa=L", None),
        ("https://www.google.com/maps/reserve/x", None),
        ("javascript:alert(1)", None),
        ("https://sites.google.com/view/betrieb", "https://sites.google.com/view/betrieb"),
        ("https://google-freunde.example/", "https://google-freunde.example/"),
    ],
)
def test_websites(href: str, website: str | None) -> None:
    assert only(list_page([card(business(1, website=href))])).website == website


def test_a_label_that_says_more_than_the_name() -> None:
    assert only(list_page([card(business(1, visited=" · Besuchter Link"), role=False)])).name == "Betrieb am Teich 1"


def test_class_names_are_not_relied_on() -> None:
    """DOM drift: Maps renames its classes every few months."""
    html = list_page([card(business(1, price="€€")), card(business(2, rating=None)), card(business(3, address=None))])
    drifted = re.sub(r' class="[^"]*"', ' class="Xq7"', html)
    assert reading(drifted).places == reading(html).places
    bare = re.sub(r' class="[^"]*"', "", html)
    assert reading(bare).places == reading(html).places


def test_pretty_printed_html_reads_the_same() -> None:
    html = list_page([card(business(1, price="€€")), card(business(2, rating=None))])
    assert reading(re.sub(r">(?=<)", ">\n   ", html)).places == reading(html).places


def test_parts_that_are_not_shown_are_not_read() -> None:
    html = list_page([card(business(1))]).replace(
        '<div class="W4Efsd"><div class="W4Efsd">',
        '<div class="W4Efsd"><div style="display: none">Falsch · 99</div><div class="W4Efsd">',
    )
    assert only(html).address == "Teichgasse 1"


def test_answers_go_before_the_page_and_fill_each_other() -> None:
    known = business(1, reviews="1.235", phone="03643 555001")
    answer = search_answer([message(known, international="+49 3643 555001"), message(business(2))])
    html = list_page([card(business(3)), card(business(1, sponsored=True, rating="4,4"))])
    places = {place.place_id: place for place in reading(html, answer).places}
    assert list(places) == [business(3).place_id, known.place_id, business(2).place_id]
    merged = places[known.place_id]
    assert (merged.rating, merged.review_count, merged.sponsored) == (4.5, 1235, True)
    assert (merged.phone_e164, merged.country, merged.postcode) == ("+493643555001", "DE", "99423")
    assert merged.address == "Teichgasse 1, 99423 Weimar"
    assert [place.rank for place in places.values()] == [1, 2, 3]


def test_the_embedded_state_of_an_earlier_search_is_not_read() -> None:
    earlier = state_of(search_answer([message(business(8)), message(business(9))]))
    assert [place.place_id for place in reading(list_page([card(business(1))], state=earlier)).places] == [
        business(1).place_id
    ]
    same = state_of(search_answer([message(business(1)), message(business(9))]))
    assert len(reading(list_page([card(business(1))], state=same)).places) == 2
    unrendered = list_page([], state=same)
    assert [place.place_id for place in reading(unrendered).places] == [business(1).place_id, business(9).place_id]


def test_a_place_without_a_place_id_is_known_by_what_it_has() -> None:
    shown = business(1)
    html = list_page([card(shown)]).replace(shown.feature_id, f"0x0:{shown.feature_id.split(':')[1]}")
    html = html.replace(f"!19s{shown.place_id}", "")
    place = only(html)
    assert place.place_id is None
    assert place.source_id == f"cid:{int(shown.feature_id.split(':')[1], 16)}"


def test_ids_that_contradict_each_other_name_nothing() -> None:
    shown = business(1)
    html = list_page([card(shown), card(business(2))]).replace(f"!19s{shown.place_id}", f"!19s{business(3).place_id}")
    assert [place.place_id for place in reading(html).places] == [business(2).place_id]


def test_hotels_have_their_kind_beside_the_rating() -> None:
    hotel = business(1, category="Pool", address="Spa", status=())
    html = list_page([card(hotel)]).replace(
        "</span></span></div></div>",
        '</span></span><span> <span aria-hidden="true">·</span> <span>4-Sterne-Hotel</span></span></div></div>',
        1,
    )
    place = only(html)
    assert (place.category_labels, place.address, place.rating) == (("4-Sterne-Hotel",), None, 4.5)


def test_a_list_of_hundreds_keeps_its_order() -> None:
    places = reading(list_page([card(business(number), role=number % 3 > 0) for number in range(1, 251)])).places
    assert [place.place_id for place in places] == [business(number).place_id for number in range(1, 251)]
    assert [place.rank for place in places] == list(range(1, 251))


def test_the_same_document_gives_the_same_places() -> None:
    html = list_page([card(business(number)) for number in range(1, 10)])
    assert reading(html) == reading(html)


def test_closed_for_good_is_said_by_its_line() -> None:
    assert (
        only(list_page([card(business(1, status=("Dauerhaft geschlossen",)))])).business_status == "permanently_closed"
    )
    assert only(list_page([card(Business(status=("Temporarily closed",)))])).business_status == "temporarily_closed"
    assert only(list_page([card(business(1))])).business_status is None


@pytest.mark.parametrize(
    "price", ["$$", "10–20 €", "AED 50–100", "PKR 500–1,000", "₹200–400", "Rp 50.000–75.000", "100 kr"]
)
def test_a_price_is_no_category(price: str) -> None:
    place = only(list_page([card(business(1, price=price))]))
    assert (place.price, place.category_labels, place.address) == (price, ("Dachdecker",), "Teichgasse 1")


@pytest.mark.parametrize("category", ["कैफ़े", "寿司", "카페", "3D printing service", "ร้านอาหาร", "Bar"])
def test_categories_of_many_scripts(category: str) -> None:
    assert only(list_page([card(business(1, category=category))])).category_labels == (category,)
    alone = only(list_page([card(business(1, category=category, address=None))]))
    assert (alone.category_labels, alone.address) == ((category,), None)


def test_a_long_number_beside_the_category_is_the_address() -> None:
    """Also where it looks like a phone: what is not marked as one, in the line of the address, is none."""
    place = only(list_page([card(business(1, address="12345678", phone=None, status=()))]))
    assert (place.address, place.phone) == ("12345678", None)


def test_what_stands_behind_open_or_closed_is_neither_category_nor_address() -> None:
    shown = business(1, category=None, address=None, phone=None)
    html = list_page([card(shown)]).replace("18:00</span></span></span>", "18:00</span></span></span> · Lieferung")
    place = only(html)
    assert (place.category_labels, place.address) == ((), None)
