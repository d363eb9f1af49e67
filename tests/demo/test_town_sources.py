"""Read by the product's own sources, the town gives each of its businesses once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cocli.demo.town import Town, Truth, build_town, truth_of, write_overture
from cocli.demo.town.maps.pages import json_body
from cocli.demo.town.maps.search import PAGE_SIZE, TownSearch, answer_of, matches
from cocli.demo.town.overture import RELEASE
from cocli.models.place import Place
from cocli.pipeline.merge import Matcher
from cocli.pipeline.sources.categories import open_categories
from cocli.pipeline.sources.google_maps.documents import list_document
from cocli.pipeline.sources.google_maps.parser.parse import parse as parse_maps
from cocli.pipeline.sources.open_places import Claims, Library, OpenPlaces
from cocli.pipeline.sources.registry import category_schemes, file_kind, file_kinds
from cocli.pipeline.sources.registry import parse as parse_open

NOW = datetime(2026, 11, 16, tzinfo=UTC)


@pytest.fixture(scope="module")
def town() -> Town:
    return build_town(seed=1)


@pytest.fixture(scope="module")
def truth(town: Town) -> Truth:
    return truth_of(town)


@pytest.fixture(scope="module")
def open_data(town: Town, truth: Truth, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], list[Place]]:
    """The places of each tile and phrase."""
    folder: Path = tmp_path_factory.mktemp("town")
    write_overture(town, folder / "places.parquet")
    library = Library(str(folder / "library"), file_kinds())
    library.add(str(folder / "places.parquet"), Claims(release=RELEASE), NOW)
    tiles = {str(tile): tile for tile in town.region.tiles}
    with OpenPlaces(
        file_kind("overture"), library.files("overture"), open_categories(category_schemes()), account="town"
    ) as places:
        return {
            (one.tile, one.phrase): list(parse_open(places.find(tiles[one.tile], one.phrase).document))
            for one in truth.searches
        }


@pytest.fixture(scope="module")
def on_the_map(town: Town, truth: Truth) -> list[Place]:
    """Every place once, from the answers to a search at the centre of each tile."""
    found: dict[str, Place] = {}
    for tile in town.region.tiles:
        for phrase in truth.phrases:
            search = TownSearch(phrase, *tile.centre, 13)
            results = matches(town, search)
            offsets = range(0, len(results), PAGE_SIZE)
            answers = [json_body(answer_of(town, search, results, offset, len(results))) for offset in offsets]
            document = list_document(
                account="town", tile=tile, phrase=phrase, url="", html=None, answers=answers, fetched_at=NOW
            )
            found |= {place.place_id: place for place in parse_maps(document) if place.place_id}
    return list(found.values())


def numbers_by_row(truth: Truth) -> dict[str, int]:
    return {
        row: business.number
        for business in truth.businesses
        for listing in business.listings.values()
        for row in listing.ids
    }


def prospects(places: Sequence[Place], numbers: dict[str, int]) -> list[set[int]]:
    """The numbers of the businesses that became one prospect."""
    matcher, moved, groups = Matcher(), {}, defaultdict(set)
    for place in places:
        match = matcher.match(place)
        matcher.note(place, match)
        if match.replaces:
            moved[match.replaces] = match.company_hash
        groups[match.company_hash].add(numbers[place.place_id or place.source_id])
    together: dict[str, set[int]] = defaultdict(set)
    for company, members in groups.items():
        together[moved.get(company, company)] |= members
    return list(together.values())


def test_each_search_in_open_data_finds_what_the_truth_says(
    truth: Truth, open_data: dict[tuple[str, str], list[Place]]
) -> None:
    numbers = numbers_by_row(truth)
    for one in truth.searches:
        assert {numbers[place.source_id] for place in open_data[one.tile, one.phrase]} == set(one.overture), one


def test_the_map_knows_what_the_truth_says(town: Town, truth: Truth, on_the_map: list[Place]) -> None:
    known = {business.place_id: business for business in truth.businesses}
    inside = [place for place in on_the_map if known[str(place.place_id)].tile in truth.tiles]

    assert {place.place_id for place in inside} == {business.place_id for business in truth.planned("google-maps")}
    for place in on_the_map:
        business = known[str(place.place_id)]
        listing = business.listings["google-maps"]
        assert (place.name, place.lat, place.lon) == (business.name, business.lat, business.lon)
        assert (place.phone_e164, place.website) == (listing.phone, listing.website)
        assert (place.street, place.city, place.postcode) == (business.street, business.city, business.postcode)


def test_both_sources_together_give_each_business_once(
    truth: Truth, open_data: dict[tuple[str, str], list[Place]], on_the_map: list[Place]
) -> None:
    numbers = numbers_by_row(truth)
    listed = [place for places in open_data.values() for place in places]
    for places in (listed, on_the_map, [*listed, *on_the_map], [*on_the_map, *listed]):
        found = prospects(places, numbers)
        assert all(len(members) == 1 for members in found), "two businesses became one"
        assert len(found) == len(set().union(*found)), "one business became two"
