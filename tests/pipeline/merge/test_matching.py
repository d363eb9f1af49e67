"""Observations of one business meet in one prospect, and branches of one brand do not."""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.effort import effort

from cocli.keys.identities import company_hash, place_id_from_feature_id
from cocli.models.place import Place
from cocli.models.prospect import Prospect
from cocli.pipeline.merge import Assignment, Matcher, assign, merge_prospects, move_prospect, place_to_prospect
from cocli.pipeline.plan.geography import cell_of, cells_around, distance_m

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
METRE = 1 / 111_195
"""In degrees of latitude."""


def place(number: int = 1, **values: Any) -> Place:
    given: dict[str, Any] = {
        "source": "overture",
        "source_id": f"id-{number}",
        "name": "Brass Kettle",
        "observed_at": NOON,
    }
    return Place(**(given | {"lat": 40.0, "lon": -90.0} | values))


def place_id(number: int) -> str:
    return place_id_from_feature_id(f"0x{number + 1:x}:0x{number + 1:x}")


def gold(assignments: list[Assignment], known: list[Prospect] | None = None) -> dict[str, Prospect]:
    """The prospects after a batch: what was known, what moved, and what every place contributes."""
    records = {prospect.company_hash: prospect for prospect in known or []}

    def add(record: Prospect) -> None:
        there = records.get(record.company_hash)
        records[record.company_hash] = merge_prospects(there, record) if there else record

    for assignment in assignments:
        match = assignment.match
        if match.replaces:
            for record in move_prospect(records[match.replaces], match.company_hash, reason=match.reason, at=NOON):
                add(record)
        add(place_to_prospect(assignment.place, "roofers", company=match.company_hash, reason=match.reason))
    return records


def hashes(places: list[Place], known: list[Prospect] | None = None) -> list[str]:
    """The company of each place, in the order of the places."""
    found = {id(one.place): one.match.company_hash for one in assign(places, known or [])}
    return [found[id(one)] for one in places]


def test_the_same_place_id() -> None:
    one = place(1, place_id=place_id(1))
    other = place(2, place_id=place_id(1), name="Other name", lat=10.0)
    assert len(set(hashes([one, other]))) == 1
    assert Matcher([place_to_prospect(one, "roofers")]).match(other).reason == "same place id"


def test_two_place_ids_are_two_businesses_even_at_one_door() -> None:
    assert len(set(hashes([place(1, place_id=place_id(1)), place(2, place_id=place_id(2))]))) == 2


def test_the_same_domain_and_near() -> None:
    one = place(1, website="https://www.kettle.example/", name="Kettle")
    other = place(2, website="http://kettle.example/shop", name="The Brass Kettle", lat=40.0 + 100 * METRE)
    match = Matcher([place_to_prospect(one, "roofers")]).match(other)
    assert match.reason == "same domain kettle.example, 100 m apart"
    assert match.distance == pytest.approx(100, abs=1)


@pytest.mark.parametrize("metres", [151, 5_000])
def test_the_same_domain_far_apart_are_two_branches(metres: int) -> None:
    one = place(1, website="https://kettle.example/")
    other = place(2, website="https://kettle.example/", lat=40.0 + metres * METRE)
    assert len(set(hashes([one, other]))) == 2


def test_a_shared_host_brings_nobody_together() -> None:
    one = place(1, website="https://www.facebook.com/one", name="One")
    other = place(2, website="https://www.facebook.com/two", name="Two")
    assert len(set(hashes([one, other]))) == 2


def test_the_same_name_and_address_and_near() -> None:
    address = {"street": "12 Main St.", "postcode": "62701"}
    one = place(1, name="Brass Kettle LLC", **address)
    other = place(2, street="12 Main Street, Suite 4", postcode="62701-1234", lat=40.0 + 140 * METRE)
    assert Matcher([place_to_prospect(one, "roofers")]).match(other).reason == "same name and address, 140 m apart"


def test_one_name_two_doors() -> None:
    near = 40.0 + 30 * METRE
    assert len(set(hashes([place(1, street="1 Main St"), place(2, street="9 Elm St", lat=near)]))) == 2
    assert len(set(hashes([place(1, postcode="62701"), place(2, postcode="62702", lat=near)]))) == 2
    assert len(set(hashes([place(1, street="1 Main St"), place(2, lat=near)]))) == 1
    assert len(set(hashes([place(1), place(2, lat=40.0 + 60 * METRE)]))) == 2  # nothing but the name: closer


def test_a_large_venue_has_one_address_and_many_doors() -> None:
    address = {"street": "1 Fair Ground", "postcode": "62701"}
    assert len(set(hashes([place(1, **address), place(2, lat=40.0 + 800 * METRE, **address)]))) == 1
    # One address told twice is one identity, even where a source has the pin in the wrong town.
    assert len(set(hashes([place(1, **address), place(2, lat=41.0, **address)]))) == 1


def test_without_a_position_the_address_decides() -> None:
    address = {"street": "12 Main St.", "postcode": "62701"}
    nowhere: dict[str, Any] = {"lat": None, "lon": None}
    assert len(set(hashes([place(1, **address), place(2, **nowhere, **address)]))) == 1
    website = {"website": "https://kettle.example/"}
    kettle = {"name": "Kettle", **nowhere, **website, **address}
    assert len(set(hashes([place(1, name="Kettle Grill", **website, **address), place(2, **kettle)]))) == 1
    other = {"name": "K", **nowhere, **website, **address}
    assert len(set(hashes([place(1, **website, **address), place(2, **other)]))) == 2, "a website is shared"
    assert len(set(hashes([place(1, **website), place(2, **nowhere, **website)]))) == 2
    assert len(set(hashes([place(1, **nowhere), place(2, **nowhere)]))) == 2


@pytest.mark.parametrize("known_by", ["place id", "domain", "address", "town", "point", "nothing"])
def test_eleven_autozones_stay_eleven(known_by: str) -> None:
    """Identity was the slug of a name: eleven branches of a chain were one company."""

    def branch(number: int) -> Place:
        values: dict[str, Any] = {"name": "GearBarn Auto Parts", "lat": 40.0 + number * 0.02}
        if known_by == "place id":
            values["place_id"] = place_id(number)
        if known_by in ("place id", "domain", "address"):
            values["website"] = "https://www.gearbarn.example/stores"
        if known_by == "address":
            values |= {"street": f"{number} Main St", "postcode": f"627{number:02}", "lat": None, "lon": None}
        if known_by == "town":
            values |= {"street": "1 Main St"}
        if known_by == "nothing":
            values |= {"lat": None, "lon": None}
        return place(number, **values)

    branches = [branch(number) for number in range(11)]
    prospects = gold(assign(branches, []))
    assert len(prospects) == 11
    # … and stay eleven when they are all seen again, a month later and a little elsewhere.
    again = [one.with_changes(observed_at=NOON + timedelta(days=30)) for one in branches]
    assert set(gold(assign(again, prospects.values()), list(prospects.values()))) == set(prospects)
    assert len({prospect.slug for prospect in prospects.values()}) == 1  # which is why a slug is no identity


def test_creative_planning_shown_69_times() -> None:
    """One office, seen by many sources and often, is one prospect."""
    address = {"street": "5 N Elm Ave", "postcode": "62701"}
    sightings = [
        place(
            number,
            source=source,
            name=("Oak & Sons Planning", "Oak and Sons Planning, LLC")[number % 2],
            lat=40.0 + number * METRE,
            observed_at=NOON + timedelta(days=number),
            **(address if number % 3 else {}),
        )
        for number, source in enumerate(["overture", "openstreetmap", "foursquare"] * 23)
    ]
    prospects = gold(assign(sightings, []))
    assert len(sightings) == 69
    assert len(prospects) == 1
    (prospect,) = prospects.values()
    assert len(prospect.source_ids) == 69
    assert prospect.street == "5 N Elm Ave"


def test_a_place_id_takes_over_from_a_domain() -> None:
    early = place(1, website="https://kettle.example/", phone="217 555 0100")
    known = gold(assign([early], []))
    (old,) = known
    assert old == company_hash("domain:kettle.example")
    google = place(2, source="google-maps", place_id=place_id(1), website="https://kettle.example/")
    (assignment,) = assign([google], known.values())
    assert assignment.match.replaces == old
    after = gold([assignment], list(known.values()))
    new = company_hash(place_id(1))
    assert set(after) == {old, new}
    assert after[old].merged_into == new
    origin = after[old].origin_of("merged_into")
    assert origin is not None
    assert origin.reason == "same domain kettle.example, 0 m apart"
    assert after[new].phone == "217 555 0100"
    assert after[new].merged_into is None
    # The evidence leads on: who was known by the old record is known by the new one.
    matcher = Matcher(after.values())
    assert matcher.match(early).company_hash == new
    assert matcher.match(google).company_hash == new
    newcomer = place(3, name="Brass Kettle Inc.", website="https://kettle.example/")
    assert matcher.match(newcomer).company_hash == new
    stranger = place(4, name="Somebody", website="https://kettle.example/")
    assert matcher.match(stranger).is_new


def test_who_moved_has_moved_for_the_rest_of_the_batch() -> None:
    website = "https://kettle.example/"
    early = place(1, website=website)
    known = gold(assign([early], []))
    google = place(2, source="google-maps", place_id=place_id(1), website=website)
    second = place(3, source="google-maps", place_id=place_id(2), website=website)
    batch = [early, google, second]
    found = {one.place.source_id: one.match for one in assign(batch, known.values())}
    assert found["id-1"].company_hash == found["id-2"].company_hash == company_hash(place_id(1))
    assert found["id-3"].replaces is None


def test_two_that_claim_one_source_id_are_told_apart_the_same_way_every_time() -> None:
    one = place_to_prospect(place(1), "roofers")
    other = one.with_changes(company_hash="0" * 16)
    answers = {Matcher(order).match(place(1)).company_hash for order in ([one, other], [other, one])}
    assert len(answers) == 1


def test_a_place_whose_place_id_is_learned_later() -> None:
    early = place(1, source="google-maps", name="Kettle", lat=None, lon=None)
    known = gold(assign([early], []))
    late = place(1, source="google-maps", name="Brass Kettle", place_id=place_id(1))
    (assignment,) = assign([late], known.values())
    assert assignment.match.replaces == next(iter(known))
    assert assignment.match.reason == "same id google-maps:id-1"


def test_the_second_place_id_does_not_take_over_from_the_first() -> None:
    """What a source without place ids said of the first branch is no way into it for the second."""
    website = "https://kettle.example/"
    first = place(1, source="google-maps", place_id=place_id(1), website=website)
    seen = place(2, website=website)
    second = place(3, source="google-maps", place_id=place_id(2), website=website)
    known = gold(assign([first, seen], []))
    assert len(known) == 1
    (assignment,) = assign([second], known.values())
    assert assignment.match.is_new
    assert assignment.match.company_hash not in known


def test_pointers_that_run_in_a_circle_end() -> None:
    one = place_to_prospect(place(1), "roofers")
    other = place_to_prospect(place(2, name="Other"), "roofers")
    circle = [one.with_changes(merged_into=other.company_hash), other.with_changes(merged_into=one.company_hash)]
    assert Matcher(circle).match(place(1)).company_hash in {one.company_hash, other.company_hash}


spots = st.integers(0, 4).map(lambda number: 40.0 + number * 90 * METRE)
observations = st.builds(
    place,
    st.integers(0, 8),
    source=st.sampled_from(["overture", "openstreetmap"]),
    name=st.sampled_from(["Brass Kettle", "Brass Kettle LLC", "Oak", "!"]),
    lat=st.none() | spots,
    website=st.none() | st.sampled_from(["https://kettle.example", "https://oak.example", "https://facebook.com/x"]),
    street=st.none() | st.sampled_from(["1 Main St", "1 Main Street", "9 Elm"]),
    postcode=st.none() | st.sampled_from(["62701", "62702"]),
    place_id=st.none() | st.integers(0, 2).map(place_id),
    observed_at=st.integers(0, 2).map(lambda days: NOON + timedelta(days=days)),
)


@given(st.lists(observations, max_size=12), st.randoms(use_true_random=False))
@settings(max_examples=effort(50))
def test_the_order_of_a_batch_does_not_matter(places: list[Place], chance: random.Random) -> None:
    expected = sorted((one.place.model_dump_json(), one.match.company_hash) for one in assign(places, []))
    shuffled = chance.sample(places, len(places))
    assert sorted((one.place.model_dump_json(), one.match.company_hash) for one in assign(shuffled, [])) == expected


@given(st.lists(observations, max_size=12), st.lists(observations, max_size=6), st.randoms(use_true_random=False))
@settings(max_examples=effort(50))
def test_assigning_again_changes_nothing(earlier: list[Place], places: list[Place], chance: random.Random) -> None:
    known = gold(assign(earlier, []))
    first = assign(places, known.values())
    after = gold(first, list(known.values()))
    shuffled = chance.sample(list(after.values()), len(after))
    again = assign(places, shuffled)
    assert [(one.place, one.match.company_hash) for one in again] == [
        (one.place, one.match.company_hash) for one in first
    ]
    assert all(one.match.replaces is None and not one.match.is_new for one in again)
    assert gold(again, list(after.values())).keys() == after.keys()


@given(st.lists(observations, min_size=1, max_size=6), st.randoms(use_true_random=False))
@settings(max_examples=effort(40))
def test_the_gold_does_not_depend_on_the_order_of_its_observations(places: list[Place], chance: random.Random) -> None:
    records = [place_to_prospect(one, "roofers", company="0" * 16) for one in places]
    assert reduce(merge_prospects, records) == reduce(merge_prospects, chance.sample(records, len(records)))


lats, lons = st.floats(-90, 90), st.floats(-180, 180)


@given(lats, lons, st.floats(0, 999), st.floats(0, 360))
def test_what_is_near_is_in_a_cell_beside(lat: float, lon: float, metres: float, bearing: float) -> None:
    north = metres * METRE * math.cos(math.radians(bearing))
    other_lat = max(-90.0, min(90.0, lat + north))
    squeeze = max(math.cos(math.radians(lat)), 1e-9)
    other_lon = (lon + metres * METRE * math.sin(math.radians(bearing)) / squeeze + 180) % 360 - 180
    if distance_m(lat, lon, other_lat, other_lon) < 999 and abs(lat) < 89.9:
        assert cell_of(other_lat, other_lon) in set(cells_around(lat, lon))


def test_distances() -> None:
    assert distance_m(40, -90, 40, -90) == 0
    assert distance_m(0, 0, 0, 1) == pytest.approx(111_195, abs=1)
    assert distance_m(0, 179.9999, 0, -179.9999) == pytest.approx(22, abs=1)
    assert distance_m(90, 0, -90, 0) == pytest.approx(20_015_087, abs=1)
