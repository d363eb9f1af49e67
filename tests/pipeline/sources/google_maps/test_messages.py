"""The place message and the answers that carry it: what each slot means, and what is not believed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks._maps_pages import business, details_answer, message, search_answer
from cocli.models.place import OpenHours
from cocli.pipeline.sources.google_maps.parser.answers import read_answer
from cocli.pipeline.sources.google_maps.parser.place_message import read_message


def values(**slots: Any) -> dict[str, Any]:
    sighting = read_message(message(business(1), **slots))
    assert sighting is not None
    return dict(sighting.values)


def test_all_slots_of_a_message() -> None:
    found = values()
    assert (found["lat"], found["lon"]) == (50.901, 11.301)
    assert (found["rating"], found["review_count"]) == (4.5, 1234)
    assert (found["phone"], found["phone_e164"]) == ("03643 555001", "+493643555001")
    assert (found["website"], found["address"]) == ("https://betrieb1.example/", "Teichgasse 1, 99423 Weimar")
    assert (found["street"], found["district"], found["city"]) == ("Teichgasse 1", "Altstadt", "Weimar")
    assert (found["postcode"], found["region"], found["country"]) == ("99423", "TH", "DE")
    assert (found["category_ids"], found["category_labels"]) == (("roofing_contractor",), ("Dachdecker",))
    assert (found["timezone"], found["hours"]) == (
        "Europe/Berlin",
        (OpenHours(day="mo", opens="08:00", closes="17:30"),),
    )


def test_the_country_of_a_phone_is_never_guessed() -> None:
    parts = [None, ["Altstadt", "Teichgasse 1", None, "Weimar", "99423", "TH", None]]
    found = values(s243=None, s183=parts)
    assert "phone_e164" not in found
    assert found["phone"] == "03643 555001"
    american = [["(213) 555-0142", [["(213) 555-0142", 1]], None, "2135550142"]]
    assert "phone_e164" not in values(s243=None, s183=parts, s178=american)
    listed = [["03643 555001", [["+49 3643 555001", 2]], None, "+493643555001"]]
    assert values(s243=None, s183=parts, s178=listed)["phone_e164"] == "+493643555001"


def test_a_count_in_words_where_the_number_is_missing() -> None:
    assert values(s4=[None, None, None, [None, "27 reviews"], None, None, None, 3.7])["review_count"] == 27
    assert "review_count" not in values(s4=[None, None, None, [None, "27 of 30 reviews"], None, None, None, 3.7])


@pytest.mark.parametrize("rating", [0, 7.5, True, "4.5", float("nan"), -1])
def test_a_rating_that_is_none(rating: Any) -> None:
    assert "rating" not in values(s4=[None, None, None, None, None, None, None, rating, 5])


@pytest.mark.parametrize("count", [-1, 2.5, True, "12", float("inf")])
def test_a_count_that_is_none(count: Any) -> None:
    assert "review_count" not in values(s4=[None, None, None, None, None, None, None, 4.5, count])


@pytest.mark.parametrize("point", [[None, None, 91.0, 0.1], [None, None, "x", 1.0], [None], None, [None, None, 0, 0]])
def test_a_point_that_is_none(point: Any) -> None:
    assert not {"lat", "lon"} & values(s9=point).keys()


def test_old_hours_are_told_by_their_date() -> None:
    days = [["Δευτέρα", ["x"], None, None, "2024-10-14", 1, [[9, 0, 14, 0], [17, 0, 1, 30]], 0]]
    found = values(s203=None, s34=[None, days])["hours"]
    assert found == (
        OpenHours(day="mo", opens="09:00", closes="14:00"),
        OpenHours(day="mo", opens="17:00", closes="01:30"),
    )


def test_open_around_the_clock() -> None:
    assert values(s203=[[["x", 2, None, [["24 h", [[0], [0]]]]]]])["hours"] == (
        OpenHours(day="tu", opens="00:00", closes="24:00"),
    )


def test_zeros_are_left_out_of_hours() -> None:
    """`[]` is midnight; a day without a closing time is not known."""
    days = [["Tu", 2, None, [["12 am–11 pm", [[], [23]]]]], ["We", 3, None, [["x", [[None, 30], []]], ["y", [[9]]]]]]
    assert values(s203=[days], s34=None)["hours"] == (
        OpenHours(day="tu", opens="00:00", closes="23:00"),
        OpenHours(day="we", opens="00:30", closes="00:00"),
    )


def test_slots_that_moved_say_nothing_wrong() -> None:
    """A slot more, or less: what stood behind it is not found, and nothing else is taken for it."""
    whole = message(business(1))
    known = read_message(whole)
    assert known is not None
    for at in range(len(whole)):
        for moved in ([*whole[:at], None, *whole[at:]], [*whole[:at], *whole[at + 1 :]]):
            found = read_message(moved)
            said = {**found.values, "name": found.name} if found else {}
            assert said.items() <= {**known.values, "name": known.name}.items()


def test_attributes_by_their_ids() -> None:
    entry = ["/geo/type/establishment_poi/has_delivery", "Lieferung", [1, [[1, "Lieferung"]]]]
    other = ["/geo/type/establishment_poi/serves_dine_in", "Vor Ort", [1, [[0, "Vor Ort"]]]]
    found = values(s100=[None, [["service_options", "Optionen", [entry, other]]]])["attributes"]
    assert found == {"has_delivery": True, "serves_dine_in": False}


def test_claimed_and_closed() -> None:
    assert values(s57=[None, "x", "102"])["claimed"] is True
    assert values(s57=[None, "x", "102"], s49=["https://business.google.com/create?x"])["claimed"] is False
    assert "claimed" not in values()
    assert values(s88=["CLOSED", "x"], s203=None)["business_status"] == "permanently_closed"
    assert "business_status" not in values(s88=["CLOSED", "x"]), "it has hours: only closed just now"
    assert "business_status" not in values(s88=["Hunde erlaubt", "x"])


def test_an_area_is_no_business() -> None:
    bare: dict[str, Any] = {"s13": None, "s76": None, "s4": None, "s178": None, "s7": None}
    assert read_message(message(business(1), **bare)) is None
    town = {**bare, "s13": ["Stadt"], "s76": [["locality"], ["political"]]}
    assert read_message(message(business(1), **town)) is None
    answer = read_answer(search_answer([message(business(1), **town)]))
    assert (answer.sightings, answer.messages) == ((), 1)


def test_a_message_without_a_name_or_an_id_is_none() -> None:
    assert read_message(message(business(1), s11=None)) is None
    assert read_message(message(business(1), s10=None, s78=None)) is None
    assert read_message(message(business(1), s10="0xzz:0x1", s78="ChIJshort")) is None
    assert read_message(message(business(1), s78=business(2).place_id)) is None, "two ids, two places"


def test_answers_of_both_kinds() -> None:
    listed = read_answer(search_answer([message(business(number)) for number in (1, 2, 3)]))
    assert (listed.kind, [one.name[-1] for one in listed.sightings]) == ("list", ["1", "2", "3"])
    single = read_answer(details_answer(message(business(4))))
    assert (single.kind, single.sightings[0].identity.place_id) == ("single", business(4).place_id)
    assert read_answer(json.dumps(message(business(4))).encode()).kind == "single"


def test_an_answer_in_an_envelope() -> None:
    inner = search_answer([message(business(1))]).decode()
    body = json.dumps({"c": 0, "d": inner, "e": "x"}, separators=(",", ":")) + '/*""*/'
    assert [one.name for one in read_answer(body.encode()).sightings] == ["Betrieb am Teich 1"]


def test_a_list_that_has_moved_is_found() -> None:
    """The path to the list changed several times in a year."""
    moved = json.dumps([None] * 64 + [[[None, message(business(number))] for number in (1, 2)]])
    assert len(read_answer(moved).sightings) == 2


def test_places_that_a_message_names_are_not_its_own() -> None:
    one = message(business(1), s99=[[[None, message(business(2))]]])
    assert [s.identity.place_id for s in read_answer(details_answer(one)).sightings] == [business(1).place_id]
    assert [s.identity.place_id for s in read_answer(search_answer([one])).sightings] == [business(1).place_id]


@pytest.mark.parametrize("body", [b"", b")]}'", b")]}'\n[", b"<html>", b"null", b"[]", b"{}", b'{"c":0}', b"\xff\xfe["])
def test_answers_that_are_none(body: bytes) -> None:
    assert read_answer(body).kind == "other"
