"""What a person wrote stands before what was found, wherever it can be such a value."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.formats import markdown
from cocli.formats.markdown import MarkdownFile
from cocli.models.company import Company
from cocli.models.prospect import Prospect
from cocli.results.companies.overrides import laid_over, unusable, written_texts

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
FOUND = Prospect(
    company_hash="00112233445566ff",
    slug="acme",
    name="Acme",
    phone="(217) 555-0100",
    phone_e164="+12175550100",
    website="https://acme.example/",
    domain="acme.example",
    street="1 Main St",
    city="Springfield",
    region="IL",
    postcode="62701",
    country="US",
    primary_email="info@acme.example",
    all_emails=("info@acme.example",),
    tags=("found",),
    campaign="plumbers",
    first_seen=NOON,
    updated_at=NOON,
)


def page(text: str) -> Company:
    return markdown.read(Company, f"---\n{text}\n---\n".encode())


def test_nothing_written_is_the_very_record() -> None:
    assert laid_over(FOUND, None) is FOUND
    assert laid_over(FOUND, page("mine: 1\nstatus: called")) is FOUND


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("name: Acme Brothers", {"name": "Acme Brothers"}),
        ("phone: +1 (217) 555-0199", {"phone": "+1 (217) 555-0199", "phone_e164": "+12175550199"}),
        ("phone: ask for Jo", {"phone": "ask for Jo", "phone_e164": None}),
        ("phone: 2175550199", {"phone": "2175550199", "phone_e164": "+12175550199"}),
        ("website: www.acme.test/shop", {"website": "www.acme.test/shop", "domain": "acme.test"}),
        ("website: facebook.com/acme", {"website": "facebook.com/acme", "domain": None}),
        ("email: JO@acme.test", {"primary_email": "jo@acme.test", "all_emails": ("info@acme.example", "jo@acme.test")}),
        ("email: none", {"primary_email": "info@acme.example"}),
        (
            "address: 2 Elm St, Springfield, IL 62701",
            {"street": "2 Elm St", "city": "Springfield", "region": "IL", "postcode": "62701", "country": "US"},
        ),
        (
            "address: 2 Elm St, Springfield, IL 62704, US",
            {"street": "2 Elm St, Springfield, IL 62704", "city": None, "postcode": None, "country": "US"},
        ),
        ("city: Chatham\ncountry: Canada", {"street": "1 Main St", "city": "Chatham", "country": "CA"}),
        ("country: Nowhere", {"country": "US"}),
        ("tags: [vip]", {"tags": ("found", "vip")}),
        ("city: [a, b]\nstreet: {x: 1}\nregion: true", {"city": "Springfield", "street": "1 Main St", "region": "IL"}),
        ("postcode: 1067", {"postcode": "1067"}),
    ],
)
def test_each_value_stands_before_the_found_one(written: str, expected: dict[str, Any]) -> None:
    known = laid_over(FOUND, page(written))
    assert {name: getattr(known, name) for name in expected} == expected
    untouched = set(Prospect.model_fields) - set(expected) - {"region", "all_emails", "tags"}
    if "address" not in written:
        assert all(getattr(known, name) == getattr(FOUND, name) for name in untouched)


def test_what_cannot_be_a_value_is_named() -> None:
    written = page("email: none\ncountry: Nowhere\nname: '  '")
    assert unusable(written) == ["email: none is no e-mail address", "country: Nowhere is no country"]
    assert "name" not in written_texts(written)


@given(st.dictionaries(st.sampled_from(["name", "phone", "email", "website", "address", "city", "country"]), st.text()))
def test_any_text_of_a_person_leaves_a_record_that_can_be_written(values: dict[str, str]) -> None:
    file = MarkdownFile.parse(b"---\n---\n")
    for name, text in values.items():
        file = file.with_value(name, text)
    company = markdown.read(Company, file.render())
    known = laid_over(FOUND, company)
    assert Prospect.checked({name: getattr(known, name) for name in Prospect.model_fields}) == known
    if values.get("name", "").split():
        assert known.name == " ".join(values["name"].split())
