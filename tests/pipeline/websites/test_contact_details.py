"""Numbers against links, the country of a number, addresses by country, hours and people in many languages."""

from __future__ import annotations

import pytest

from cocli.pipeline.websites import PageFacts, read_page
from cocli.pipeline.websites.facts.phones.number import listed_e164, to_e164


def page(body: str, url: str = "https://www.firm.com/", country: str | None = None, lang: str = "en") -> PageFacts:
    return read_page(f"<html lang='{lang}'><body>{body}</body></html>", url, country)


def numbers(facts: PageFacts) -> list[str]:
    return [phone.value for phone in facts.phones]


# --- phones ----------------------------------------------------------------------------------------------------------


def test_what_a_link_shows_wins_and_the_conflict_is_kept() -> None:
    facts = page("<a href='tel:+8801711223344'>030 23125042</a>", country="DE")
    assert [(phone.value, phone.conflict) for phone in facts.phones] == [("+493023125042", "+8801711223344")]


def test_a_link_that_shows_no_whole_number_keeps_its_own() -> None:
    assert numbers(page("<a href='tel:+16205552002'>555-2002</a>", country="US")) == ["+16205552002"]
    assert numbers(page("<a href='tel:+4930231250420'>030 23125042-0</a>", country="DE")) == ["+4930231250420"]


@pytest.mark.parametrize(
    "placeholder",
    ["+1 800 555 1234", "+1 212 555 0123", "123456789", "+91 98765 43210", "+44 20 1234 5678", "+7 495 123-45-67",
     "+48 111 222 333", "+1 234 567 8900", "+34 600 000 000"],
)  # fmt: skip
def test_numbers_of_templates_are_nobody_s(placeholder: str) -> None:
    assert to_e164(placeholder, "DE") is None


def test_a_list_may_give_a_number_that_templates_show() -> None:
    assert (to_e164("0228 2345678", "DE"), listed_e164("0228 2345678", "DE")) == (None, "+492282345678")
    assert listed_e164("030 1234567", "DE") is None
    assert listed_e164("+1 212 555 0123", None) is None


@pytest.mark.parametrize("number", ["+1 620-555-2002", "+1 800 555 7788", "+45 70 20 20 20"])
def test_numbers_that_only_look_like_it_are_somebody_s(number: str) -> None:
    assert to_e164(number, None) is not None


@pytest.mark.parametrize(
    ("body", "url", "expected"),
    [
        ("<p>Tel. 030 23125042, info@firm.de</p>", "https://www.firm.com/", "+493023125042"),
        ("<p>Tel. 030 23125042</p>", "https://www.firm.de/", "+493023125042"),
        ("<p>Hauptstr. 5<br>10115 Berlin<br>Deutschland</p><p>Tel. 030 23125042</p>", "https://firm.com/",
         "+493023125042"),
        ("<p>Tel. 22 620 11 22</p><p>Cena: 249 zł</p>", "https://firm.com/", "+48226201122"),
        ("<p>ร้านเบเกอรี่ของเรา ยินดีต้อนรับทุกท่าน</p><p>โทร 02 253 0099</p>", "https://firm.com/", "+6622530099"),
        ("<p>Wir backen jeden Tag für Sie und die ganze Stadt</p><p>Tel. 030 23125042</p>", "https://firm.com/",
         "+493023125042"),
    ],
)  # fmt: skip
def test_the_country_of_a_national_number(body: str, url: str, expected: str) -> None:
    assert numbers(page(body, url)) == [expected]


def test_a_national_number_of_no_country_is_kept_as_it_stands() -> None:
    facts = page("<p>Tel. 0221 990171</p>", "https://firm.com/", lang="")
    assert facts.country is None
    assert (facts.phones, [phone.raw for phone in facts.other_phones]) == ((), ["0221 990171"])


def test_numbers_in_images_and_cards_and_state() -> None:
    card = "data:text/vcard,BEGIN:VCARD%0ATEL;TYPE=work:+49%2030%2023125042%0AEND:VCARD"
    assert numbers(page("<img src='a.png' alt='Telefon 030 23125042'>", country="DE")) == ["+493023125042"]
    assert numbers(page(f"<a href='{card}'>vCard</a>", country="DE")) == ["+493023125042"]
    state = '<script type=\'application/json\'>{"contactPhone": "+49 30 23125042"}</script>'
    assert numbers(page(state, country="DE")) == ["+493023125042"]


@pytest.mark.parametrize(
    ("link", "profile"),
    [
        ("https://www.linkedin.com/pub/anna-tann/12/345/6b7", "https://www.linkedin.com/pub/anna-tann/12/345/6b7"),
        ("https://www.pinterest.com/hainwerk/_saved/", "https://www.pinterest.com/hainwerk"),
        ("https://www.youtube.com/@hainwerk/videos", "https://www.youtube.com/@hainwerk"),
        ("https://www.twitch.tv/hainwerk/videos", "https://www.twitch.tv/hainwerk"),
        ("https://t.me/s/hainwerk", "https://t.me/hainwerk"),
    ],
)
def test_profiles_are_whole_and_without_their_tabs(link: str, profile: str) -> None:
    assert [found.value for found in page(f"<a href='{link}'>x</a>").socials] == [profile]


# --- addresses -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("country", "text", "expected"),
    [
        ("DE", "Am Kastell 5a<br>56288 Kastellaun Tel. 06762 1234", ("Am Kastell 5a", "56288", "Kastellaun")),
        ("FR", "12 bis, rue de la Paix – 75002 Paris Cedex 02", ("12 bis, rue de la Paix", "75002", "Paris")),
        ("ES", "Calle Mayor, 5, 2º B, 28013 Madrid", ("Calle Mayor, 5, 2º B", "28013", "Madrid")),
        ("IT", "Via Roma, 12 - 20121 Milano (MI)", ("Via Roma, 12", "20121", "Milano")),
        ("RU", "127000, г. Москва, ул. Ленина, д. 5", ("ул. Ленина, д. 5", "127000", "Москва")),
        ("HU", "1011 Budapest, Fő utca 21.", ("Fő utca 21", "1011", "Budapest")),
        ("UA", "вул. Садова 4<br>Полтава, 36011", ("вул. Садова 4", "36011", "Полтава")),
        ("LT", "Adresas: Jūros g. 6, LT-92127 Klaipėda", ("Jūros g. 6", "92127", "Klaipėda")),
        ("GB", "Unit 4, Riverside Park<br>Leeds<br>LS1 4AB", ("Unit 4, Riverside Park", "LS1 4AB", "Leeds")),
        ("US", "123 Oak Ave, Springfield, IL 62701", ("123 Oak Ave", "62701", "Springfield")),
        ("TR", "Adres Gül Sokak No: 12, 35220 İzmir", ("Gül Sokak No: 12", "35220", "İzmir")),
        ("IL", "רחוב הברוש 12<br>חיפה 3303212", ("רחוב הברוש 12", "3303212", "חיפה")),
        ("JP", "〒150-0001 東京都渋谷区神宮前1-2-3", ("神宮前1-2-3", "150-0001", "渋谷区")),
        ("KR", "(63196) 제주시 해안로 8", ("해안로 8", "63196", "제주시")),
        ("CN", "地址：江苏省苏州市滨河路18号", ("滨河路18号", None, "苏州市")),
        ("IN", "12, MG Road, Bengaluru 560001", ("12, MG Road", "560001", "Bengaluru")),
    ],
)
def test_addresses_as_people_of_a_country_write_them(
    country: str, text: str, expected: tuple[str, str | None, str]
) -> None:
    found = page(f"<footer><p>{text}</p></footer>", country=country).addresses
    assert [(address.street, address.postcode, address.city) for address in found] == [expected]


@pytest.mark.parametrize(
    ("country", "text"),
    [
        ("DE", "Seit 1987 über 12000 Kunden"),
        ("BG", "Телефон 088 261 1609 Работно време"),
        ("LT", "Telefonas (0-671) 92366 El. paštas"),
        ("DE", "Aufsichtsbehörde<br>Promenade 18<br>91522 Ansbach"),
    ],
)
def test_what_looks_like_an_address_and_is_none_of_the_company(country: str, text: str) -> None:
    assert page(f"<p>{text}</p>", country=country).addresses == ()


# --- hours and people ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lang", "days", "saturday"),
    [
        ("cs", "Po – Pá", "So"), ("fi", "ma–pe", "la"), ("et", "E–R", "L"), ("hu", "H–P", "Szo"),
        ("ru", "Пн – Пт", "Сб"),
        ("tr", "Pazartesi – Cuma", "Cumartesi"), ("ja", "月〜金", "土"), ("zh", "周一至周五", "周六"),
        ("ko", "월~금", "토"),
        ("he", "ב'-ו'", "שבת"), ("ar", "الاثنين - الجمعة", "السبت"), ("vi", "Thứ hai – Thứ sáu", "Thứ bảy"),
        ("id", "Senin - Jumat", "Sabtu"), ("da", "Man – Fre", "Lør"), ("bg", "Пон – Петък", "Събота"),
    ],
)  # fmt: skip
def test_hours_in_many_languages(lang: str, days: str, saturday: str) -> None:
    table = f"<tr><td>{days}</td><td>9:00 – 18:00</td></tr><tr><td>{saturday}</td><td>10:00 – 13:00</td></tr>"
    found = page(f"<table>{table}</table>", lang=lang).hours
    assert {hours.day for hours in found if hours.closes == "18:00"} == {"mo", "tu", "we", "th", "fr"}
    assert {hours.day for hours in found if hours.closes == "13:00"} == {"sa"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<h3>Anna Tann</h3><p>Chefin<br><a href='mailto:anna.tann@firm.com'>x</a></p>", ("Anna Tann", "Chefin")),
        ("<p>Geschäftsführer: Max Moor<br>moor@firm.com</p>", ("Max Moor", "Geschäftsführer")),
        ("<div class='team-member'><p>Ралица Яворова</p><p>Управител</p><p>rali@firm.com</p></div>",
         ("Ралица Яворова", "Управител")),
        ("<p>윤서연</p><p>대표</p><p>sy.yoon@firm.com</p>", ("윤서연", "대표")),
    ],
)  # fmt: skip
def test_people_with_a_mailbox_of_their_own(body: str, expected: tuple[str, str]) -> None:
    assert [(person.name, person.title) for person in page(body).people] == [expected]


@pytest.mark.parametrize(
    "body",
    [
        "<h3>Bäckerei Lindenau</h3><p>Kontakt<br>info@firm.com</p>",
        "<p>Anna Tann</p><p>anna@anders.org</p><p>Max Moor</p>",
        "<p>Wir freuen uns</p><p>m.moor@firm.com</p>",
    ],
)
def test_names_are_not_guessed(body: str) -> None:
    assert page(body).people == ()
