"""Addresses, hours, people, technologies, description and other ways of contact."""

from __future__ import annotations

import json

import pytest

from cocli.models.place import OpenHours
from cocli.pipeline.websites import read_page
from cocli.pipeline.websites.facts.facts import PageFacts

BUSINESS = {
    "@context": "https://schema.org",
    "@type": "RoofingContractor",
    "name": "Hainwerk",
    "description": "Dächer seit 1912",
    "address": {
        "@type": "PostalAddress",
        "streetAddress": "Am Anger 12",
        "postalCode": "99423",
        "addressLocality": "Weimar",
        "addressCountry": "DE",
    },
    "openingHours": ["Mo-Fr 08:00-17:00", "Sa 09:00-12:00"],
    "openingHoursSpecification": {"dayOfWeek": ["https://schema.org/Sunday"], "opens": "10:00", "closes": "11:30:00"},
    "employee": [{"@type": "Person", "name": "Anna Tann", "jobTitle": "Meisterin", "email": "tann@hainwerk.de"}],
    "review": {"@type": "Review", "author": {"@type": "Person", "name": "Uwe Sommer", "email": "uwe@gmx.de"}},
}


def facts(html: str, country: str | None = None) -> PageFacts:
    return read_page(html, "https://www.hainwerk.de/", country)


@pytest.fixture
def business() -> PageFacts:
    return facts(f"<title>Hainwerk</title><script type='application/ld+json'>{json.dumps(BUSINESS)}</script>")


def test_a_business_in_json_ld(business: PageFacts) -> None:
    (address,) = business.addresses
    assert (address.street, address.postcode, address.city, address.country) == ("Am Anger 12", "99423", "Weimar", "DE")
    assert address.full == "Am Anger 12, 99423 Weimar, DE"
    assert [(hours.day, hours.opens, hours.closes) for hours in business.hours] == [
        *((day, "08:00", "17:00") for day in ("mo", "tu", "we", "th", "fr")),
        ("sa", "09:00", "12:00"),
        ("su", "10:00", "11:30"),
    ]
    assert [(person.name, person.title, person.email) for person in business.people] == [
        ("Anna Tann", "Meisterin", "tann@hainwerk.de")
    ]
    assert business.description.name is not None
    assert business.description.name.value == "Hainwerk"
    assert business.description.description is not None
    assert business.description.description.value == "Dächer seit 1912"
    assert [email.value for email in business.emails] == ["tann@hainwerk.de"]


def test_a_person_in_microdata_and_on_a_card() -> None:
    found = facts(
        "<div itemscope itemtype='https://schema.org/Person'><b itemprop=name>Anna Tann</b>"
        "<i itemprop=jobTitle>Chefin</i></div>"
        "<div class=h-card><b class=p-name>Bert Birke</b><i class=p-job-title>Geselle</i>"
        "<a class=u-email href=mailto:b@hainwerk.de>m</a></div>"
    ).people
    assert [(p.name, p.title, p.email, p.method) for p in found] == [
        ("Anna Tann", "Chefin", None, "microdata"),
        ("Bert Birke", "Geselle", "b@hainwerk.de", "h-card"),
    ]


@pytest.mark.parametrize(
    ("html", "country", "street", "postcode", "city"),
    [
        ("<p>Hainwerk<br>Am Anger 12<br>99423 Weimar<br>Tel.</p>", "DE", "Am Anger 12", "99423", "Weimar"),
        ("<address>Am Anger 12<br>DE-99423 Weimar</address>", "DE", "Am Anger 12", "99423", "Weimar"),
        ("<p>123 Oak Ave, Springfield, IL 62704</p>", "US", "123 Oak Ave", "62704", "Springfield"),
        ("<p>12 High Street, Alton, GU34 1AA</p>", "GB", "12 High Street", "GU34 1AA", "Alton"),
        ("<p>ul. Lipowa 3, 00-123 Warszawa</p>", "PL", "ul. Lipowa 3", "00-123", "Warszawa"),
        ("<p>Dorpsstraat 5<br>1234 AB Veldhoek</p>", "NL", "Dorpsstraat 5", "1234 AB", "Veldhoek"),
    ],
)
def test_addresses_in_text(html: str, country: str, street: str, postcode: str, city: str) -> None:
    address = facts(html, country).addresses[0]
    assert (address.street, address.postcode, address.city) == (street, postcode, city)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Mo–Fr 8:00–17:00",
            {"mo 08:00-17:00", "tu 08:00-17:00", "we 08:00-17:00", "th 08:00-17:00", "fr 08:00-17:00"},
        ),
        ("Mo 8-12 Uhr", {"mo 08:00-12:00"}),
        ("Sat: 9am - 5:30pm", {"sa 09:00-17:30"}),
        ("Samedi 9h00 à 12h30", {"sa 09:00-12:30"}),
        ("Do 8:00-12:00, 13:00-18:00", {"th 08:00-12:00", "th 13:00-18:00"}),
        ("Lunes a Martes 9:00 - 14:00", {"mo 09:00-14:00", "tu 09:00-14:00"}),
        ("<table><tr><td>Sunday</td><td>10:00 - 12:00</td></tr></table>", {"su 10:00-12:00"}),
        ("Freitag geschlossen", set()),
        ("So 3-2 gewonnen am 12", {"su 03:00-02:00"}),
    ],
)
def test_hours_in_text(text: str, expected: set[str]) -> None:
    found = facts(f"<html lang=de><p>{text}</p>").hours
    assert {f"{hours.day} {hours.opens}-{hours.closes}" for hours in found} == expected
    assert all(OpenHours(day=hours.day, opens=hours.opens, closes=hours.closes) for hours in found)


def test_technologies() -> None:
    html = (
        "<meta name=generator content='WordPress 6.9'><link rel=stylesheet href='/wp-content/plugins/elementor/x.css'>"
        "<script src='https://www.googletagmanager.com/gtag/js?id=1'></script>"
    )
    assert [(found.value, found.method) for found in facts(html).technologies] == [
        ("WordPress", "generator"),
        ("Elementor", "source"),
        ("Google Analytics", "source"),
    ]


def test_a_form_a_card_and_an_image_are_reported() -> None:
    ways = facts(
        "<form action=/senden><input type=email name=m><textarea name=t></textarea></form>"
        "<form action=/search><input name=q></form>"
        "<a href=/karte.vcf>vCard</a><a href=/kontakt.pdf>Kontakt</a><a href=/preise.pdf>x</a>"
        "<img src=/email.png><img src=/mail-icon.svg alt=email>"
    ).contact_ways
    assert [(way.method, way.value) for way in ways] == [
        ("form", "https://www.hainwerk.de/senden"),
        ("vcard", "https://www.hainwerk.de/karte.vcf"),
        ("pdf", "https://www.hainwerk.de/kontakt.pdf"),
        ("image", "https://www.hainwerk.de/email.png"),
    ]
