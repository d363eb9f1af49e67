"""Exclusions: one function says who is not wanted, and why."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cocli.models.campaign import ExcludeSection
from cocli.models.place import Place
from cocli.pipeline.exclusions import Exclusions, exclusion_of, is_excluded

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
PLACE_ID = "ChIJyUzh2kXqwoARUtNFG8VjnYQ"
EXCLUSIONS = Exclusions.of(
    ExcludeSection(
        domains=("acme.com", "shop.rival.com", "xn--mller-kva.de"), names=("Big Box, Inc.",), place_ids=(PLACE_ID,)
    )
)


@pytest.mark.parametrize(
    "known",
    [
        {"domain": "acme.com"},
        {"website": "https://www.ACME.com/contact?x=1"},
        {"website": "http://user@shop.acme.com:8080/"},
        {"website": "https://shop.rival.com/"},
        {"website": "https://müller.de"},
        {"name": "BIG BOX"},
        {"place_id": PLACE_ID},
    ],
)
def test_excluded(known: dict[str, str]) -> None:
    reason = exclusion_of(EXCLUSIONS, **known)
    assert reason is not None
    assert reason.endswith("is excluded")


@pytest.mark.parametrize(
    "known",
    [
        {"domain": "rival.com"},
        {"website": "https://notacme.com"},
        {"website": "https://acme.com.evil.example"},
        {"website": "https://evil.example/acme.com"},
        {"website": ""},
        {"name": "Big Box Storage"},
        {"name": "💈"},
        {},
    ],
)
def test_not_excluded(known: dict[str, str]) -> None:
    assert exclusion_of(EXCLUSIONS, **known) is None


def test_places_are_asked_too() -> None:
    exclusions = Exclusions.of(ExcludeSection(domains=("ours.example",)))
    place = Place(source="overture", source_id="1", name="Ours", website="https://ours.example", observed_at=NOON)
    assert is_excluded(place, exclusions) == "the domain ours.example is excluded"
    assert exclusions
    assert not Exclusions.of(ExcludeSection(names=("!!!",)))
