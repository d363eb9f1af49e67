"""Names and addresses as they are compared; hosts that are no identity; slugs."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from cocli.keys.slugs import distinct_slug, slug_of
from cocli.models.record import Label
from cocli.pipeline.comparison import comparable_name, comparable_postcode
from cocli.pipeline.streets import comparable_street, is_one_street
from cocli.pipeline.websites.hosts.shared import own_domain, social_network
from cocli.pipeline.websites.hosts.table import hosts_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Müller & Söhne GmbH", "MULLER + SOHNE"),
        ("Joe's Pizza, L.L.C.", "Joe\u2019s Pizza"),
        ("The Brass Kettle Co. Ltd.", "Brass Kettle"),
        ("Piekarnia Dobra Sp. z o.o.", "Piekarnia Dobra"),
        ("ＡＣＭＥ　Ｓ．Ｐ．Ａ．", "Acme"),
        ("Café und Bäckerei", "Cafe Backerei"),
    ],
)
def test_two_spellings_of_a_name(one: str, other: str) -> None:
    assert comparable_name(one) == comparable_name(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Hall E", "Hall K"),
        ("AG", "KG"),
        ("Serenity Spa", "Serenity"),
        ("City Zoo", "City"),
        ("東京カフェ", "大阪カフェ"),
    ],
)
def test_two_names(one: str, other: str) -> None:
    assert comparable_name(one) != comparable_name(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12 Main St., Suite 4", "12 main street"),
        ("Hauptstr. 1", "Hauptstraße 1"),
        ("Hauptstr. 1", "1, HAUPTSTRASSE"),
        ("5 N Elm Ave", "5 North Elm Avenue"),
        ("Avda. del Sol 3", "Avenida del Sol 3"),
        ("Bahnhofstr. 21 a", "Bahnhofstraße 21a"),
        ("V.le S. Sisto 31", "Viale San Sisto 31, int. 4"),
        ("18 av. du Mal Foch", "18 avenue du Maréchal Foch"),
        ("Storgt. 55", "Storgata 55"),
        ("Sdr.gade 14, 2. th", "Søndergade 14"),
        ("бул. Христо Ботев 45", "Христо Ботев 45, ет. 2"),
        ("Av. Afonso Pena, 1500 - Sala 902", "Avenida Afonso Pena 1500"),
        ("片町1丁目3-20", "片町1-3-20"),
        ("88 ถ.นิมมานเหมินท์", "88 ถนนนิมมานเหมินท์"),
        ("Str. N. Bălcescu nr. 16", "Strada Nicolae Bălcescu 16"),
    ],
)
def test_two_spellings_of_a_street(one: str, other: str) -> None:
    assert comparable_street(one) != ""
    assert is_one_street(comparable_street(one), comparable_street(other))
    assert is_one_street(comparable_street(other), comparable_street(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12 Main St", "21 Main St"),
        ("12 1st Ave", "12 1st St"),
        ("12 Main St", "12 Main Rd"),
        ("12 S Main", "12 N Main"),
        ("Lange Gasse 14", "Lange Straße 14"),
        ("Marktstr. 5", "Marktplatz 5"),
        ("Burgstr. 4", "Bergstr. 4"),
        ("12 rue Pierre et Marie Curie", "12 rue Pierre"),
        ("Via Roma 3", "Viale Roma 3"),
    ],
)
def test_two_streets(one: str, other: str) -> None:
    assert not is_one_street(comparable_street(one), comparable_street(other))


def test_a_street_of_nothing() -> None:
    assert comparable_street(None) == comparable_street(" . ") == ""


def test_postcodes() -> None:
    assert comparable_postcode("1011 ab") == comparable_postcode("1011AB")
    assert comparable_postcode("90001-1234") == comparable_postcode("90001")
    assert comparable_postcode("100-0001") != comparable_postcode("100")
    assert comparable_postcode(None) == ""


@given(st.text())
@example("A.AA")
def test_comparing_is_stable(text: str) -> None:
    for compare in (comparable_name, comparable_street, comparable_postcode):
        assert compare(text) == compare(text.upper().lower()) or not text.isascii()
        assert compare(f" {text} ") == compare(text)


def test_a_shared_host_is_no_identity() -> None:
    for address in ("https://www.facebook.com/acme", "instagram.com/acme", "https://acme.wordpress.com", "bit.ly/x"):
        assert own_domain(address) is None
    # The public suffix list makes a platform's customers domains of their own.
    assert own_domain("https://acme.wixsite.com/home") == "acme.wixsite.com"
    assert own_domain("https://www.acme.co.uk/contact") == "acme.co.uk"
    assert own_domain("http://192.168.0.1/") is own_domain("not a host") is own_domain(" ") is own_domain(None) is None


@pytest.mark.parametrize("host", sorted(hosts_of("shared")))
def test_every_shared_host_is_spelled_as_it_is_looked_up(host: str) -> None:
    assert own_domain(f"https://www.{host}/somebody") is None


def test_social_networks() -> None:
    assert social_network("https://m.facebook.com/acme") == "facebook"
    assert social_network("https://acme.example") is social_network(None) is None


@given(st.text())
def test_any_name_has_a_slug(name: str) -> None:
    slug = slug_of(name, "0123456789abcdef")
    TypeAdapter(Label).validate_python(slug)
    assert re.fullmatch(r"[\w-]{1,60}", slug)
    assert distinct_slug(slug, "0123456789abcdef") == f"{slug}-012345"


def test_slugs_look_as_people_expect() -> None:
    assert slug_of("Müller & Söhne GmbH", "f" * 16) == "muller-sohne-gmbh"
    assert slug_of("🎈", "f" * 16) == "f" * 16
