"""Phone numbers: E.164 by the country of the place, and numbers that are none."""

from __future__ import annotations

import pytest

from cocli.pipeline.websites import parse_page
from cocli.pipeline.websites.facts.country import country_of
from cocli.pipeline.websites.facts.phones.phones import find_phones, to_e164


def numbers(html: str, country: str | None, url: str = "") -> dict[str, str]:
    return {phone.value: phone.kind for phone in find_phones(parse_page(html, url), country)}


@pytest.mark.parametrize(
    ("html", "country", "expected"),
    [
        ("<a href='tel:+49 (0)30 23125-042'>x</a>", None, {"+493023125042": "phone"}),
        ("<a href='tel:03023125042'>x</a>", "DE", {"+493023125042": "phone"}),
        ("<a href='callto:0049-30-23125042'>x</a>", "DE", {"+493023125042": "phone"}),
        ("<p>Tel.: 030 / 23 12 50 42</p>", "DE", {"+493023125042": "phone"}),
        ("<p>030 23125042</p>", "DE", {"+493023125042": "phone"}),
        ("<p>Tel 030 23125042, Fax 030 23125043</p>", "DE", {"+493023125042": "phone", "+493023125043": "fax"}),
        ("<p>Tel/Fax: 030 23125042 / 030 23125043</p>", "DE", {"+493023125042": "phone", "+493023125043": "phone"}),
        ("<p>Call (202) 456-1414 today</p>", "US", {"+12024561414": "phone"}),
        ("<p>202.456.1414</p>", "US", {"+12024561414": "phone"}),
        ("<p>Phone: 2024561414</p>", "US", {"+12024561414": "phone"}),
        ("<p>Telefon 572 917 801</p>", "PL", {"+48572917801": "phone"}),
        ("<p>020 7946 0958</p>", "GB", {"+442079460958": "phone"}),
        ("<a href='https://wa.me/493023125042?text=hi'>x</a>", "DE", {"+493023125042": "whatsapp"}),
        ("<a href='https://api.whatsapp.com/send?phone=493023125042'>x</a>", "DE", {"+493023125042": "whatsapp"}),
        ("<span itemprop=telephone>030 23125042</span>", "DE", {"+493023125042": "phone"}),
        ("<p>+49 30 23125042 oder +49 30 23125043</p>", "DE", {"+493023125042": "phone", "+493023125043": "phone"}),
    ],
)
def test_found(html: str, country: str | None, expected: dict[str, str]) -> None:
    assert numbers(html, country) == expected


@pytest.mark.parametrize(
    ("html", "country"),
    [
        ("<p>HRB 23125042, USt-IdNr. DE 302 312 504</p>", "DE"),
        ("<p>IBAN DE02 1203 0000 0000 2020 51</p>", "DE"),
        ("<p>NIP 506 012 94 21, konto 33 1050 1953 1000 0090 8659 4372</p>", "PL"),
        ("<p>12.10.2026, 2024-2026, 50.9795, 11.3235</p>", "DE"),
        ("<p>2024561414</p>", "US"),
        ("<p>Tel. 0123 456789 und +49 123 4567890</p>", "DE"),
        ("<p>+33 1 23 45 67 89</p>", "FR"),
        ("<p>(555) 555-5555, 202-555-0123</p>", "US"),
        ("<a href='tel:+0123456987'>x</a><a href='tel:'>y</a>", "US"),
        ("<a href='https://wa.me/?text=share'>x</a>", "DE"),
        ("<p>12345678901234567890</p>", "DE"),
    ],
)
def test_not_found(html: str, country: str) -> None:
    assert numbers(html, country) == {}


def test_the_number_as_it_stands_there_is_kept() -> None:
    (phone,) = find_phones(parse_page("<p>Ruf uns an: Tel. 030 / 231 250 42!</p>"), "DE")
    assert phone.raw == "030 / 231 250 42"
    assert phone.context == "Ruf uns an: Tel. 030 / 231 250 42!"
    assert phone.method == "text"


@pytest.mark.parametrize(
    ("html", "url", "country"),
    [
        ("<html lang=de-AT>", "", "AT"),
        ("<html lang=de><p>", "https://www.hainwerk.ch/", "CH"),
        ("<html lang=de><p>Tel. +43 1 51444 2500", "https://hainwerk.com/", "AT"),
        ("<html lang=sv>", "https://hainwerk.com/", "SE"),
        ("<p>x", "https://hainwerk.co.uk/", "GB"),
        ("<script type=application/ld+json>{\"address\":{\"addressCountry\":\"NL\"}}</script>", "https://a.com/", "NL"),
        ("<p>12 Mill Lane, Derby DE1 2QX", "https://a.com/", "GB"),
        ("<html lang=en><p>12 Mill Lane, Derby DE1 2QX", "https://a.com/", "GB"),
        ("<p>Springfield, IL 62701", "https://a.com/", "US"),
        ("<p>Call (217) 523-1234", "https://a.com/", "US"),
        ("<p>Calgary, AB T2P 1J9", "https://a.com/", "CA"),
        ("<p>〒150-0043 東京都", "https://a.com/", "JP"),
        ("<html lang=de><p>Haus AB 12345", "https://a.com/", "DE"),
        ("<p>x", "https://hainwerk.berlin/", "DE"),
        ("<p>x", "", None),
    ],
)  # fmt: skip
def test_the_country_of_a_page(html: str, url: str, country: str | None) -> None:
    assert country_of(parse_page(html, url)) == country


def test_what_is_given_wins() -> None:
    assert country_of(parse_page("<html lang=de>"), "ch") == "CH"


def test_no_region_no_guess() -> None:
    assert to_e164("030 23125042", None) is None
    assert to_e164("030 23125042", "XX") is None
