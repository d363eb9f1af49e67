"""Lists: cards of the feed in several languages, advertisements, what may never be taken for something else."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from benchmarks._maps_pages import Business, business, card, list_page, message, search_answer, state_of
from cocli.keys.tile import Tile
from cocli.models.place import Place
from cocli.pipeline.sources.google_maps.documents import list_document
from cocli.pipeline.sources.google_maps.parser.parse import MapsReading, read

WHEN = datetime(2026, 11, 16, 3, 0, tzinfo=UTC)
TILE = Tile(50900, 11300)


def reading(html: str | None, *answers: bytes, **more: Any) -> MapsReading:
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
    assert place.phone_e164 == "+493643555007", "a card does not say the country, and its tile is in Germany"


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


@pytest.mark.parametrize(
    ("label", "shown", "rating", "count"),
    [
        ("4,5 estrellas 1,2 mil reseñas", "(1,2 mil)", 4.5, 1200),
        ("4,5 yıldız 1,2 B Yorum", "(1,2 B)", 4.5, 1200),
        ("評価 4.5、クチコミ 1.2万件", "(1.2万)", 4.5, 12_000),
        ("5 つ星のうち 4.5、クチコミ 1,234 件", "(1,234)", 4.5, 1234),
        ("4.5 out of 5", "", 4.5, None),
        ("4.5 out of 5.0", "", 4.5, None),
        ("4.5 stars 5 Reviews", "(5)", 4.5, 5),
        ("4.5 stars 1,234 Reviews", "(12)", 4.5, 1234),
    ],
)
def test_labels_of_stars(label: str, shown: str, rating: float, count: int | None) -> None:
    """`Of 5` is no number of reviews, and `1.2K` is more than one."""
    html = list_page([card(business(1, rating="4.5", reviews="@", stars_label="@"))])
    html = html.replace('aria-label="@"', f'aria-label="{label}"').replace("(@)", shown)
    place = only(html)
    assert (place.rating, place.review_count) == (rating, count)


def test_whole_stars_are_told_by_what_is_shown() -> None:
    place = only(
        list_page([card(business(1, rating="5,0", reviews="12", stars_label="5 Sterne {reviews} Rezensionen"))])
    )
    assert (place.rating, place.review_count) == (5.0, 12)


def bare(html: str) -> str:
    """Without classes and styles: nothing but the form and the place of a text says what it is."""
    return re.sub(r'\s(?:class|style)="[^"]*"', "", html)


def test_a_phone_is_told_by_its_form_where_nothing_marks_it() -> None:
    place = only(bare(list_page([card(business(1, status=("Permanently closed",)))])))
    assert (place.phone, place.address, place.business_status) == (
        "03643 555001",
        "Teichgasse 1",
        "permanently_closed",
    )
    assert only(bare(list_page([card(business(1, status=("2015–2024",), phone=None))]))).phone is None
    service_area = business(1, address="(714) 555-0142", phone=None, status=())
    place = only(bare(list_page([card(service_area)])))
    assert (place.phone, place.address, place.category_labels) == ("(714) 555-0142", None, ("Dachdecker",))


@pytest.mark.parametrize(
    "words", ["Permanently closed", "閉業", "Zamknięte na stałe", "مغلق نهائيًا", "Закрыто навсегда"]
)
def test_closed_for_good_is_no_category(words: str) -> None:
    place = only(bare(list_page([card(business(1, category=None, address=None, phone=None, status=(words,)))])))
    assert (place.business_status, place.category_labels, place.address) == ("permanently_closed", (), None)


def test_a_text_behind_a_dot_is_not_the_first_thing_of_its_line() -> None:
    html = list_page([card(business(1, address="Am Teich"))])
    assert only(html).address == "Am Teich"
    place = only(html.replace("<span><span>Dachdecker</span></span>", ""))
    assert (place.category_labels, place.address) == ((), "Am Teich")
    place = only(html.replace('<span aria-hidden="true">·</span> <span>Am', "<span>Am"))
    assert (place.category_labels, place.address) == ((), None), "two things without a dot between them are neither"


def test_lines_that_stand_beside_each_other() -> None:
    """The element around all lines but the first is gone."""
    html = list_page([card(business(1, description="Seit 1912"))])
    flat = re.sub(
        r'<div class="W4Efsd">(<div class="W4Efsd">.*?</div>)</div></div></div></div></div><div class="R',
        r'\1</div></div></div></div><div class="R',
        html,
    )
    assert flat != html
    assert only(flat).model_dump(exclude={"document"}) == only(html).model_dump(exclude={"document"})


def test_a_page_that_only_links_to_maps_holds_no_places() -> None:
    shown = business(1)
    page = f"<html><body><h1>Kontakt</h1><div><a href='{shown.link}'>{shown.name}</a><p>Teichgasse 1</p></div>"
    assert reading(page, url="https://betrieb.example/kontakt").places == ()
    labelled = page.replace("<a ", "<a aria-label='Karte von hier' ")
    assert reading(labelled, url="https://betrieb.example/kontakt").places == ()


def test_a_link_that_names_what_the_place_was_found_in() -> None:
    """The last place of a link is meant: before it stands the town, or a picture."""
    town = "!4m15!1m8!3m7!1s0x47a41a0000000aaa:0x9000000000000aaa!2sWeimar!3b1!8m2!3d50.1!4d11.1!16zL20vMDk0Mnk!3m5"
    for before in (town, "!3m8!1e2!3m6!1sAF1QipExample!2e10!3e12!6shttps:%2F%2Fx.example!7i4!8i3!4m7!3m6"):
        place = only(list_page([card(business(1))]).replace("!4m7!3m6", before))
        assert (place.place_id, place.lat, place.lon) == (business(1).place_id, business(1).lat, business(1).lon)
        assert place.kgmid == business(1).kgmid
