"""The array of some 246 slots in which the map describes a place, the same in lists and on the page of a place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocli.keys.identities import cid_from_place_id

if TYPE_CHECKING:
    from cocli.demo.town.business import Business
    from cocli.demo.town.region import Region

SLOTS = 246
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WEEK = (2026, 11, 2)
"""The Monday of the week that the hours are shown for."""


def message_of(business: Business, region: Region, *, details: bool = False, limited: bool = False) -> list[Any]:
    """The message of a business. A limited view counts no reviews; the page of a place knows more than a list."""
    message: list[Any] = [None] * SLOTS
    message[10] = business.feature_id
    message[11] = business.name
    message[13] = [business.trade.map_label]
    message[30] = region.timezone
    message[76] = [[business.trade.map_category, None, 4]]
    message[78] = business.place_id
    message[88] = [
        "CLOSED" if business.status == "permanently_closed" else None,
        f"SearchResult.TYPE_{business.trade.map_category.upper()}",
    ]
    message[89] = business.kgmid
    message[110] = "en"
    message[227] = [
        [business.feature_id, None, None, business.kgmid, business.place_id, cid_from_place_id(business.place_id)]
    ]
    message[243] = region.country
    _place(message, business, region)
    _contact(message, business)
    _standing(message, business, limited=limited)
    if business.status != "permanently_closed":
        _hours(message, business)
    if details:
        _details(message, business, limited=limited)
    return message


def _place(message: list[Any], business: Business, region: Region) -> None:
    spot = business.spot
    city_line = f"{spot.city}, {region.state} {spot.postcode}"
    message[2] = [spot.street, city_line]
    message[9] = [None, None, spot.lat, spot.lon]
    message[18] = f"{business.name}, {business.address}"
    message[39] = business.address
    message[82] = [None, spot.street, spot.street, spot.city]
    message[166] = city_line
    message[183] = [None, [None, spot.street, spot.street, spot.city, spot.postcode, region.state, region.country]]


def _contact(message: list[Any], business: Business) -> None:
    website = business.website_in("google-maps")
    if website:
        shown = website.partition("://")[2].partition("/")[0].removeprefix("www.")
        wrapped = f"/url?q={website}&opi=79508299&sa=U" if business.number % 6 == 0 else website
        message[7] = [wrapped, shown, None, None, None]
    if business.phone and business.national_phone:
        national = business.national_phone
        international = f"+1 {business.phone[2:5]}-{business.phone[5:8]}-{business.phone[8:]}"
        message[178] = [
            [national, [[national, 1], [international, 2]], None, business.phone, None, [f"tel:{business.phone}"]]
        ]


def _standing(message: list[Any], business: Business, *, limited: bool) -> None:
    if business.rating is None or business.review_count is None:
        return
    if limited:
        message[4] = [None] * 7 + [business.rating]
        return
    link = f"https://search.google.com/local/reviews?placeid={business.place_id}&q=x&hl=en"
    message[4] = [
        *(None, None, None, [link, f"{business.review_count} reviews"], None, None, None),
        *(business.rating, business.review_count),
    ]


def _hours(message: list[Any], business: Business) -> None:
    opens = [int(part) for part in business.opens.split(":")]
    closes = [int(part) for part in business.closes.split(":")]
    text = f"{_clock(*opens)}–{_clock(*closes)}"
    year, month, first = _WEEK
    old, new = [], []
    for number, day in enumerate(_DAYS):
        date = f"{year}-{month:02d}-{first + number:02d}"
        words, spans, shown, kind = text, [[*opens, *closes]], [[text, [opens, closes]]], 1
        if number == 6:
            words, spans, shown, kind = "Closed", [], [["Closed"]], 2
        old.append([day, [words], None, None, date, 1, spans, 0])
        new.append([day, number + 1, [year, month, first + number], shown, 0, kind])
    status = "Temporarily closed" if business.status == "temporarily_closed" else f"Open ⋅ Closes {_clock(*closes)}"
    message[34] = [None, old, None, None, [None, None, None, None, status]]
    message[203] = [new]


def _clock(hour: int, minute: int) -> str:
    half = "AM" if hour < 12 else "PM"
    shown = f"{(hour - 1) % 12 + 1}"
    if minute:
        shown += f":{minute:02d}"
    return f"{shown}\u202f{half}"


def _details(message: list[Any], business: Business, *, limited: bool) -> None:
    spot = business.spot
    message[27] = f"https://www.google.com/maps/place/?q=place_id:{business.place_id}"
    message[32] = [None, [None, f"{business.trade.map_label} in {spot.city}."]]
    message[57] = [None, f"{business.name} (Owner)", str(10**20 + business.number)]
    if business.review_count is not None and not limited:
        most = business.review_count * 3 // 4
        message[175] = [None, None, None, [0, 0, 0, business.review_count - most, most]]


def details_answer(business: Business, region: Region, *, limited: bool = False) -> list[Any]:
    """The answer that the page of a place carries in its state: the message is its seventh element."""
    answer: list[Any] = [None] * 32
    answer[6] = message_of(business, region, details=True, limited=limited)
    answer[25] = [None, None, None, [[None] * 13 + [[[None, cid_from_place_id(business.place_id)]]]]]
    return answer
