"""Values of rows: taken where they are certain, left out where they are not."""

from __future__ import annotations

import pytest

from cocli.errors import UsageError
from cocli.keys.tile import Tile
from cocli.pipeline.sources.open_places.opening_hours import read_opening_hours
from cocli.pipeline.sources.open_places.tiles import Box
from cocli.pipeline.sources.open_places.values import country_code, e164, email_addresses, number, web_address

WEEK = ("mo", "tu", "we", "th", "fr", "sa", "su")


def hours(text: str) -> list[str]:
    return [f"{one.day} {one.opens}-{one.closes}" for one in read_opening_hours(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("24/7", [f"{day} 00:00-24:00" for day in WEEK]),
        ("Mo 08:00-12:00,13:00-17:00", ["mo 08:00-12:00", "mo 13:00-17:00"]),
        ("Mo 08:00-12:00, 13:00-17:00", ["mo 08:00-12:00", "mo 13:00-17:00"]),
        ("Fr-Mo 9:00-10:00", [f"{day} 09:00-10:00" for day in ("mo", "fr", "sa", "su")]),
        ("Mo-Tu 08:00-18:00; Tu off", ["mo 08:00-18:00"]),
        ("Sa,Su 10:00-12:00; PH closed", ["sa 10:00-12:00", "su 10:00-12:00"]),
        ("PH,Su off; Sa 10:00 - 12:00", ["sa 10:00-12:00"]),
        ("Fr 20:00-02:00", ["fr 20:00-02:00"]),
        ("Fr 20:00-26:00", ["fr 20:00-02:00"]),
        ("08:00-20:00", [f"{day} 08:00-20:00" for day in WEEK]),
        ("Mo-Su 08:00–20:00;", [f"{day} 08:00-20:00" for day in WEEK]),
    ],
)
def test_plain_opening_hours(text: str, expected: list[str]) -> None:
    assert hours(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *(
            "Apr-Oct Mo-Fr 08:00-18:00",
            "Mo-Fr 08:00-18:00; Dec 25 off",
            "sunrise-sunset",
            "Mo-Fr 08:00+",
            "by appointment",
        ),
        *('Mo-Fr 08:00-18:00 || "by call"', "week 1-10 Mo 08:00-12:00", "Mo[1] 08:00-12:00", "Mo-Fr", "Mo 25:00-26:00"),
        *(
            "Mo 08:00-08:00",
            "2026 Mo 08:00-12:00",
            "Mo-Fr 08:00-18:00, Sa 09:00-12:00",
            "",
            "x" * 5000,
            "Mo 20:00-47:00",
        ),
    ],
)
def test_hours_that_are_not_certain_are_left_out(text: str) -> None:
    assert hours(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://Example.com/a b", None),
        ("https://example.com/a", "https://example.com/a"),
        ("www.example.co.uk", "http://www.example.co.uk"),
        ("//example.com", "http://example.com"),
        ("example.com:8080/x", "http://example.com:8080/x"),
        ("https://bücher.example.de", "https://bücher.example.de"),
        *((bad, None) for bad in ("javascript:alert(1)", "mailto:a@b.ch", "ftp://example.com", "http://", "n/a", "-")),
        *((bad, None) for bad in ("http://127.0.0.1/", "http://localhost/", "http://[::1", "https://com", "yes", "")),
    ],
)
def test_websites(text: str, expected: str | None) -> None:
    assert web_address(text) == expected


def test_phones_are_read_in_their_country() -> None:
    assert e164("044 668 18 00", "CH") == "+41446681800"
    assert e164("+41 44 668 18 00", None) == "+41446681800"
    assert e164("044 668 18 00", None) is None
    assert e164("12", "CH") is None
    assert e164("call us", "CH") is None
    assert e164("044 668 18 00", "ZZ") is None


def test_addresses_of_mail() -> None:
    assert email_addresses("A@b.ch; c@d.com, mailto:a@b.ch nonsense x@y @ a@b@c.com a@b/c.com") == ["a@b.ch", "c@d.com"]
    assert email_addresses(["a@b.ch", None, 7]) == ["a@b.ch"]
    assert email_addresses({"a": 1}) == []


def test_numbers_and_countries() -> None:
    assert [number(one) for one in (1, "2.5", True, "x", None, float("inf"), 10**400)] == [1, 2.5, *[None] * 5]
    assert [country_code(one) for one in ("ch", "CHE", 7, "C1")] == ["CH", None, None, None]


# --- boxes


def test_boxes_hold_and_touch_tiles() -> None:
    box = Box.parse("5.05, 52.0, 5.3, 52.1")
    assert box.holds(Tile(52000, 5100))
    assert not box.holds(Tile(52000, 5000))
    assert box.touches(Tile(52000, 5000))
    assert not box.touches(Tile(52100, 5100))
    assert str(box.snapped()) == "5,52,5.3,52.1"
    assert box.holds(Tile(52000, 5200, 50))


def test_a_box_across_the_antimeridian() -> None:
    box = Box.parse("179.9,-17,-179.9,-16.5")
    assert box.holds(Tile(-16600, 179900))
    assert box.holds(Tile(-16600, -180000))
    assert not box.touches(Tile(-16600, 0))


@pytest.mark.parametrize(
    "text", ["1,2,3", "a,b,c,d", "5,52.2,5.3,52.0", "52.0,5.0,52.2,95", "5,52,5,53", "190,1,2,3", "nan,1,2,3", ""]
)
def test_what_is_no_box_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Box.parse(text)
