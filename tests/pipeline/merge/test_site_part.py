"""What a website says of people, hours and the address reaches the record of the business, with the page behind it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from cocli.models.origin import Origin
from cocli.models.place import OpenHours
from cocli.models.prospect import Prospect
from cocli.pipeline.merge import merge_prospects
from cocli.pipeline.merge.site_address import country_hint
from cocli.pipeline.merge.site_records import prospect_part
from cocli.pipeline.websites.facts.facts import read_page
from cocli.pipeline.websites.site.record import ReadPage, SiteState, website_of
from cocli.results.companies.facts import facts_of

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
SITE = "00000000-0000-3000-8000-000000000000"
HOME, CONTACT = (f"{digit * 8}-0000-3000-8000-000000000000" for digit in "12")
CONTACT_PAGE = """<html lang="en"><head><title>Contact</title><script type="application/ld+json">
{"@context": "https://schema.org", "@type": "LocalBusiness", "name": "Acme",
 "address": {"@type": "PostalAddress", "streetAddress": "1 Main St", "addressLocality": "Springfield",
             "addressRegion": "IL", "postalCode": "62701", "addressCountry": "US"},
 "openingHours": ["Mo-Tu 08:00-17:00"],
 "employee": [{"@type": "Person", "name": "Jo Doe", "jobTitle": "Owner", "email": "jo@acme-pipes.com"},
              {"@type": "Person", "name": "Al Roe", "jobTitle": "Fitter"}]}
</script></head><body><p>Write to info@acme.example</p></body></html>"""


def prospect(**values: Any) -> Prospect:
    given: dict[str, Any] = {
        "company_hash": "00112233445566ff",
        "slug": "acme",
        "name": "Acme",
        "campaign": "plumbers",
        "first_seen": NOON,
        "updated_at": NOON,
        "sources": ("overture",),
    }
    return Prospect(**(given | values))


def website(*extra_pages: str) -> Any:
    texts = ["<html><title>Acme</title><body>Welcome</body></html>", CONTACT_PAGE, *extra_pages]
    addresses = ["https://acme.example/", "https://acme.example/contact", "https://acme.example/contact-2"]
    documents = [HOME, CONTACT, "33333333-0000-3000-8000-000000000000"]
    pages = [
        ReadPage(read_page(text, url), document, NOON)
        for text, url, document in zip(texts, addresses, documents, strict=False)
    ]
    state = SiteState("acme.example", "https://acme.example/", "alive", final_url="https://acme.example/")
    return website_of(state, pages, at=NOON, document=SITE)


def test_what_the_site_says_reaches_the_record_with_its_page() -> None:
    known = prospect()
    part = prospect_part(website(), known)
    merged = merge_prospects(known, part)
    assert [(person.name, person.role, person.email) for person in merged.people] == [
        ("Jo Doe", "Owner", "jo@acme-pipes.com"),
        ("Al Roe", "Fitter", None),
    ]
    assert merged.hours == tuple(OpenHours(day=day, opens="08:00", closes="17:00") for day in ("mo", "tu"))
    assert merged.address == "1 Main St, Springfield, IL 62701, US"
    for field in ("people", "hours", "street", "city", "country"):
        origin = merged.origin_of(field)
        assert origin is not None, field
        assert (origin.source, origin.document) == ("website", CONTACT), field
    facts = facts_of(merged)
    assert facts.people == merged.people
    assert facts.hours == merged.hours
    assert merge_prospects(merged, prospect_part(website(), merged)) == merged  # a second visit says nothing new


@pytest.mark.parametrize(
    ("known", "street"),
    [
        ({}, "1 Main St"),
        ({"city": "Springfield"}, "1 Main St"),
        ({"postcode": "62701"}, "1 Main St"),
        ({"city": "Chatham"}, None),
        ({"postcode": "62704", "city": "Springfield"}, None),
        ({"city": "Springfield", "country": "CA"}, None),
        ({"street": "9 Elm St", "city": "Springfield"}, "9 Elm St"),
        ({"country": "CA"}, None),
    ],
)
def test_an_address_of_somewhere_else_is_not_taken(known: dict[str, str], street: str | None) -> None:
    found = prospect(**known)
    merged = merge_prospects(found, prospect_part(website(), found))
    assert merged.street == street
    for part, value in known.items():
        assert getattr(merged, part) == value


def test_of_several_addresses_none_is_guessed() -> None:
    other = CONTACT_PAGE.replace("1 Main St", "7 Oak St").replace("62701", "62999").replace("Springfield", "Chatham")
    found = prospect()
    assert merge_prospects(found, prospect_part(website(other), found)).street is None
    near = prospect(city="Chatham")
    assert merge_prospects(near, prospect_part(website(other), near)).street == "7 Oak St"


def test_what_sources_say_of_hours_stays() -> None:
    hours = (OpenHours(day="sa", opens="10:00", closes="12:00"),)
    said = Origin(fields=("hours",), source="openstreetmap", observed_at=NOON)
    found = prospect(hours=hours, origins=(said,))
    assert merge_prospects(found, prospect_part(website(), found)).hours == hours


def test_a_country_that_only_the_site_says_is_no_hint_for_reading_it() -> None:
    """Else a second visit would read the same pages in another way, and write everything again."""
    found = prospect()
    merged = merge_prospects(found, prospect_part(website(), found))
    assert merged.country == "US"
    assert country_hint(merged) is None
    assert country_hint(prospect(country="DE")) == "DE"
