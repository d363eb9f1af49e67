"""Prospects that were written side by side and turn out to be one business."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.effort import effort

from cocli.keys.identities import company_hash, place_id_from_feature_id
from cocli.models.place import Place
from cocli.models.prospect import Prospect
from cocli.pipeline.merge import merge_prospects, move_prospect, place_to_prospect, reconcile
from cocli.pipeline.merge.transformations import place_identity

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
METRE = 1 / 111_195
"""In degrees of latitude."""


def seen(number: int = 1, **values: Any) -> Prospect:
    """What a worker writes of one observation: under its own identity, without a look at anybody else's."""
    given: dict[str, Any] = {"source": "overture", "source_id": f"id-{number}", "name": "Brass Kettle"}
    place = Place(**(given | {"lat": 40.0, "lon": -90.0, "observed_at": NOON} | values))
    return place_to_prospect(place, "roofers", company=company_hash(place_identity(place, domain_is_free=False)))


def place_id(number: int) -> str:
    return place_id_from_feature_id(f"0x{number + 1:x}:0x{number + 1:x}")


def settled(prospects: list[Prospect]) -> dict[str, Prospect]:
    """The records after moving what is the same."""
    records: dict[str, Prospect] = {}
    for one in prospects:
        there = records.get(one.company_hash)
        records[one.company_hash] = merge_prospects(there, one) if there else one
    for old, match in reconcile(records.values()).items():
        for record in move_prospect(records[old], match.company_hash, reason=match.reason, at=NOON):
            records[record.company_hash] = merge_prospects(records[record.company_hash], record)
    return records


def living(prospects: list[Prospect]) -> list[Prospect]:
    return [one for one in settled(prospects).values() if one.merged_into is None]


def test_open_data_and_maps_meet_in_the_one_with_the_place_id() -> None:
    open_data = seen(1, website="https://brass.com", phone="+12175550123", street="1 Main St", postcode="62701")
    maps = seen(2, source="google-maps", source_id=place_id(1), place_id=place_id(1), lat=40 + 90 * METRE)
    maps = maps.with_changes(domain="brass.com", website="https://www.brass.com/")
    (one,) = living([open_data, maps])
    assert one.place_id == place_id(1)
    assert (one.phone, one.street) == ("+12175550123", "1 Main St")
    assert set(one.sources) == {"overture", "google-maps"}


def test_eleven_branches_on_one_domain_stay_eleven() -> None:
    branches = [
        seen(number, website="https://zone.com", street=f"{number} Oak Rd", postcode="62701", lat=40 + number / 100)
        for number in range(11)
    ]
    assert len({one.company_hash for one in branches}) == 11
    assert reconcile(branches) == {}


def test_a_corrected_address_of_the_same_source_is_the_same_business() -> None:
    before = seen(7, street="1 Mian St", postcode="62701", lat=None, lon=None)
    after = seen(7, street="1 Main St", postcode="62701", lat=None, lon=None)
    assert before.company_hash != after.company_hash
    ((_, match),) = reconcile([before, after]).items()
    assert match.reason == "same id overture:id-7"


def test_two_place_ids_are_two_businesses() -> None:
    twins = [seen(n, source="google-maps", source_id=place_id(n), place_id=place_id(n)) for n in (1, 2)]
    assert reconcile(twins) == {}


def test_what_was_moved_stays_moved_and_is_found_through_it() -> None:
    records = settled([seen(1, website="https://a.com", street="1 Oak"), seen(2, website="https://a.com", city="X")])
    assert reconcile(records.values()) == {}, "settling again changes nothing"
    (pointing,) = [one for one in records.values() if one.merged_into]
    late = seen(2, website="https://a.com", street="2 Oak", lat=None, lon=None)
    match = reconcile([*records.values(), late])[late.company_hash]
    assert match.company_hash == pointing.merged_into


STREETS = st.sampled_from(["", "1 Main St", "1 Main Street", "2 Oak Rd"])
PROSPECTS = st.builds(
    lambda number, name, metres, site, street, postcode, known: seen(
        number,
        name=name,
        lat=40 + metres * METRE,
        website=site,
        street=street or None,
        postcode=postcode,
        **({"source": "google-maps", "source_id": place_id(number), "place_id": place_id(number)} if known else {}),
    ),
    number=st.integers(0, 5),
    name=st.sampled_from(["Brass Kettle", "Brass Kettle Inc.", "Copper Pot"]),
    metres=st.sampled_from([0, 40, 100, 400, 5000]),
    site=st.sampled_from([None, "https://brass.com", "https://copper.com/x"]),
    street=STREETS,
    postcode=st.sampled_from([None, "62701", "62702"]),
    known=st.booleans(),
)


@settings(max_examples=effort(50))
@given(st.lists(PROSPECTS, max_size=9), st.randoms(use_true_random=False))
def test_the_order_does_not_matter_and_nothing_is_lost(prospects: list[Prospect], rng: random.Random) -> None:
    merged = list({one.company_hash: one for one in prospects}.values())
    shuffled = rng.sample(merged, len(merged))
    assert reconcile(merged) == reconcile(shuffled)
    records = settled(merged)
    alive = [one for one in records.values() if one.merged_into is None]
    assert {source for one in alive for source in one.source_ids} == {s for one in merged for s in one.source_ids}
    assert {one.place_id for one in merged if one.place_id} == {one.place_id for one in alive if one.place_id}
    for one in records.values():
        assert one.merged_into is None or records[one.merged_into].merged_into is None, "one step leads to the business"
