"""Identities and shards. The vectors are frozen: machines of different versions must agree on them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.errors import IdentityError
from cocli.keys import identities

U64 = st.integers(1, 2**64 - 1)
PLACE = "ChIJyUzh2kXqwoARUtNFG8VjnYQ"
FEATURE = "0x80c2ea45dae14cc9:0x849d63c51b45d352"


def test_frozen_place_id_vectors() -> None:
    assert identities.place_id_from_feature_id(FEATURE) == PLACE
    assert identities.feature_id_from_place_id(PLACE) == FEATURE
    assert identities.cid_from_place_id(PLACE) == identities.cid_from_feature_id(FEATURE) == "9555903682567328594"


@given(high=U64, low=U64)
def test_place_id_feature_id_and_cid_are_one_identity(high: int, low: int) -> None:
    feature = f"0x{high:x}:0x{low:x}"
    place = identities.place_id_from_feature_id(feature)
    assert len(place) == 27
    assert identities.is_place_id(place)
    assert identities.feature_id_from_place_id(place) == feature
    assert identities.cid_from_place_id(place) == str(low)
    identities.check_same_place(place, feature_id=feature, cid=str(low))
    identities.check_same_place(place, feature_id=f"0x0:0x{low:x}")


def test_ids_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(IdentityError, match="feature id of"):
        identities.check_same_place(PLACE, feature_id="0x80c2ea45dae14cc9:0x1")
    with pytest.raises(IdentityError, match="cid of"):
        identities.check_same_place(PLACE, cid="1")
    with pytest.raises(IdentityError, match="match it by cid"):
        identities.place_id_from_feature_id("0x0:0x849d63c51b45d352")


def test_a_coordinate_id_is_a_place_id_without_a_feature_id() -> None:
    point = "GhIJQWDl0CIeQUARxks3icF8U8A"
    assert identities.place_id(point) == point
    with pytest.raises(IdentityError, match="coordinate"):
        identities.feature_id_from_place_id(point)


@pytest.mark.parametrize(
    "text", ["", "ChIJ", PLACE + "A", PLACE[:-1] + "!", "ChIJ" + "a" * 23, "0x1:0x2", PLACE.lower()]
)
def test_what_is_no_place_id(text: str) -> None:
    assert not identities.is_place_id(text)
    with pytest.raises(IdentityError):
        identities.place_id(text)


def test_every_captured_link_agrees(captures: Path) -> None:
    """Real result lists carry the feature id and the place id of each card in one link."""
    link = re.compile(r"!1s(0x[0-9a-f]+:0x[0-9a-f]+)[^\"]*?!19s(ChIJ[\w-]{23})")
    pairs = set()
    for page in sorted((captures / "maps" / "lists").glob("*.html")):
        pairs |= set(link.findall(page.read_text(encoding="utf-8", errors="replace")))
    assert len(pairs) > 50, "the captures have lost their links"
    for feature, place in pairs:
        assert identities.place_id_from_feature_id(feature) == place


@pytest.mark.parametrize(
    ("task_id", "shard"),
    [
        (PLACE, "u"),
        ("ChIJ-_zh2kXqwoARUtNFG8VjnYQ", "_"),
        ("GhIJQWDl0CIeQUARxks3icF8U8A", "w"),
        ("33.7_-118.3_coffee shop", "f"),
        ("example.com", "a"),
        ("ChIJ not a place id", "e"),
    ],
)
def test_frozen_task_shards(task_id: str, shard: str) -> None:
    assert identities.task_shard(task_id) == shard


@given(low=U64, high=U64)
def test_shards_are_safe_where_case_does_not_count(low: int, high: int) -> None:
    shard = identities.task_shard(identities.place_id_from_feature_id(f"0x{high:x}:0x{low:x}"))
    assert re.fullmatch("[a-z0-9_]", shard)


def test_frozen_hashes() -> None:
    identity = identities.company_identity(place=PLACE)
    assert identity == PLACE
    assert identities.company_hash(identity) == "4bf3bc18bdf336e3"
    assert identities.company_shard("4bf3bc18bdf336e3") == "4"
    assert identities.company_identity(domain="https://www.Example.com/x") == "domain:example.com"
    by_name = identities.company_identity(name="  Müller & Söhne  GmbH ", street="Hauptstr. 1", postcode="10115")
    assert by_name == "at:müller söhne gmbh|hauptstr 1|10115"
    assert identities.domain_hash("example.com") == "a379a6f6eeafb9a5"
    assert identities.domain_shard("WWW.EXAMPLE.COM") == "a3"
    assert identities.email_hash("Info@Example.com") == identities.email_hash("info@example.com ") == "fb1a4757f83b74e5"
    assert identities.email_shard("info@mail.example.com") == "a3"
    assert identities.datasource_id("account123", "s3") == "ac546a934bd55ed4"
    assert identities.datasource_id("account123", "connector456") == "9a6fbd55f7df4b88"


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("https://www.example.co.uk:8080/contact?x#y", "example.co.uk"),
        ("example.com.", "example.com"),
        ("HTTP://user:pw@shop.example.com", "example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("www.straße.de", "xn--strae-oqa.de"),
    ],
)
def test_registrable_domains(text: str, domain: str) -> None:
    assert identities.registrable_domain(text) == domain


@pytest.mark.parametrize(
    "text", ["", "com", "co.uk", "localhost", "127.0.0.1", "[::1]", "exa mple.com", "a" * 300 + ".com"]
)
def test_what_nobody_registered_is_no_domain(text: str) -> None:
    with pytest.raises(IdentityError):
        identities.registrable_domain(text)


def test_a_company_without_anything_is_none() -> None:
    with pytest.raises(IdentityError):
        identities.company_identity(name=" - ")


def test_eleven_branches_of_one_brand_stay_eleven() -> None:
    """The older system named companies by the slug of their name: 34 shops became 18."""
    branches = {
        identities.company_hash(identities.company_identity(place=identities.place_id_from_feature_id(f"0x1:0x{n:x}")))
        for n in range(1, 12)
    }
    assert len(branches) == 11
