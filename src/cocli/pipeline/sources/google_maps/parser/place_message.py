"""The place message: the array of some 244 slots in which Maps describes a place, the same in lists and details.

Slots are numbers without names, and any of them may be missing or of another shape: each is looked at before it is
believed, and what does not fit is not known.
"""

from __future__ import annotations

import math
import re
from datetime import date
from typing import TYPE_CHECKING, Any

from cocli.keys.identities import is_place_id
from cocli.models.place import Day, OpenHours
from cocli.pipeline.sources.google_maps.parser import links, numbers, phones
from cocli.pipeline.sources.google_maps.parser.sighting import Sighting, identify, tidy

if TYPE_CHECKING:
    from collections.abc import Iterator

RATING, ADDRESS_LINES, WEBSITE, POINT, FEATURE_ID, NAME = 4, 2, 7, 9, 10, 11
LABELS, TIMEZONE, OLD_HOURS, ADDRESS, CLAIM_LINK, OWNER = 13, 30, 34, 39, 49, 57
CATEGORIES, PLACE_ID, TYPE, KGMID, ATTRIBUTES = 76, 78, 88, 89, 100
LOCALITY, PHONE, ADDRESS_PARTS, HOURS, COUNTRY = 166, 178, 183, 203, 243
SHORTEST = NAME + 1

_DAYS: tuple[Day, ...] = ("mo", "tu", "we", "th", "fr", "sa", "su")
_COUNTRY = re.compile(r"[A-Z]{2}")
_CATEGORY = re.compile(r"(?:gcid:)?([a-z][a-z0-9_]{1,80})")
PLUS_CODE = re.compile(r"[23456789CFGHJMPQRVWX]{4,8}\+[23456789CFGHJMPQRVWX]{2,3}(?:[ ,].*)?")
_AREAS = re.compile(
    r"locality|sublocality.*|political|postal_(?:code|town).*|country|continent|neighbou?rhood|colloquial_area|route"
    r"|administrative_area.*|street_(?:address|number)|premise|subpremise|geocode|plus_code|archipelago|intersection"
)
"""Categories of what is on a map and is no business."""


def at(value: object, *path: int) -> Any:
    """`at(message, 4, 7)` is `message[4][7]`, or None where the path ends early."""
    for index in path:
        if not isinstance(value, list) or not 0 <= index < len(value):
            return None
        value = value[index]
    return value


def items_at(value: object, *path: int) -> list[Any]:
    """The list at the end of a path; an empty one where there is none."""
    found = at(value, *path)
    if isinstance(found, list):
        return found
    return []


def is_message(value: object) -> bool:
    """Whether an array is a place message: a name in its slot, and an id in one of theirs."""
    if not isinstance(value, list) or len(value) < SHORTEST or tidy(value[NAME]) is None:
        return False
    point = value[POINT]
    if point is not None and not isinstance(point, list):
        return False
    place = at(value, PLACE_ID)
    return links.feature_id(value[FEATURE_ID]) is not None or (isinstance(place, str) and is_place_id(place))


def is_business(message: list[Any]) -> bool:
    """Whether a message is about a business: an area or an address has no category, rating, phone or website."""
    ids = _category_ids(message)
    if ids and all(_AREAS.fullmatch(area) for area in ids):
        return False
    signs = (ids, _labels(message), at(message, RATING, 7), at(message, PHONE, 0, 0), at(message, WEBSITE, 0))
    return any(bool(sign) for sign in signs)


def read_message(message: object) -> Sighting | None:
    """What a place message says, or None where it is none, or not about a business."""
    if not isinstance(message, list) or not is_message(message) or not is_business(message):
        return None
    place = at(message, PLACE_ID)
    identity = identify(
        place_id=place if isinstance(place, str) and is_place_id(place) else None,
        feature_id=links.feature_id(message[FEATURE_ID]),
        kgmid=links.kgmid(at(message, KGMID)),
    )
    name = tidy(message[NAME])
    if identity is None or name is None:
        return None
    values = {
        **_where(message),
        **_contact(message),
        **_standing(message),
        "category_ids": _category_ids(message),
        "category_labels": _labels(message),
        "hours": _hours(message),
        "attributes": dict(_attributes(message)),
    }
    known = {field: value for field, value in values.items() if value not in (None, (), {})}
    return Sighting(identity, name, known)


def _category_ids(message: list[Any]) -> tuple[str, ...]:
    found = at(message, CATEGORIES)
    texts = (at(entry, 0) for entry in found) if isinstance(found, list) else ()
    matches = (_CATEGORY.fullmatch(text) for text in texts if isinstance(text, str))
    return tuple(dict.fromkeys(match[1] for match in matches if match))


def _labels(message: list[Any]) -> tuple[str, ...]:
    found = at(message, LABELS)
    texts = (tidy(text) for text in found) if isinstance(found, list) else ()
    return tuple(dict.fromkeys(text for text in texts if text))


# --- where it is


def _where(message: list[Any]) -> dict[str, Any]:
    lat, lon = links.point(at(message, POINT, 2), at(message, POINT, 3))
    parts = at(message, ADDRESS_PARTS, 1)
    plus_code = tidy(at(message, ADDRESS_PARTS, 2, 2, 0))
    return {
        "lat": lat,
        "lon": lon,
        "address": tidy(at(message, ADDRESS)) or _lines(at(message, ADDRESS_LINES)),
        "district": tidy(at(parts, 0)),
        "street": tidy(at(parts, 1)) or tidy(at(parts, 2)),
        "city": tidy(at(parts, 3)) or tidy(at(message, LOCALITY)),
        "postcode": tidy(at(parts, 4)),
        "region": tidy(at(parts, 5)),
        "country": _country(message),
        "plus_code": plus_code if plus_code and PLUS_CODE.fullmatch(plus_code) else None,
        "timezone": _timezone(at(message, TIMEZONE)),
    }


def _lines(value: object) -> str | None:
    lines = [tidy(line) for line in value] if isinstance(value, list) else []
    return ", ".join(line for line in lines if line) or None


def _country(message: list[Any]) -> str | None:
    for code in (at(message, COUNTRY), at(message, ADDRESS_PARTS, 1, 6)):
        if isinstance(code, str) and _COUNTRY.fullmatch(code):
            return code
    return None


def _timezone(value: object) -> str | None:
    text = tidy(value)
    if text and re.fullmatch(r"[A-Z][A-Za-z]+/[A-Za-z_/+-]+|UTC|GMT", text):
        return text
    return None


# --- how to reach it, and what people say of it


def _contact(message: list[Any]) -> dict[str, Any]:
    entry = at(message, PHONE, 0)
    shown = tidy(at(entry, 0))
    if shown is None or not phones.looks_like_phone(shown, least=3):
        shown = None
    forms = at(entry, 1)
    written = [at(form, 0) for form in forms] if isinstance(forms, list) else []
    texts = [text for text in (at(entry, 3), *written, shown) if isinstance(text, str)]
    texts.sort(key=lambda text: not text.strip().startswith("+"))
    return {
        "phone": shown,
        "phone_e164": phones.e164(texts, _country(message)) if shown else None,
        "website": links.website(at(message, WEBSITE, 0)),
    }


def _standing(message: list[Any]) -> dict[str, Any]:
    rating = at(message, RATING, 7)
    if isinstance(rating, bool) or not isinstance(rating, (int, float)) or not 1 <= rating <= numbers.MAX_RATING:
        rating = None
    count = at(message, RATING, 8)
    if isinstance(count, bool) or not isinstance(count, (int, float)) or not _is_count(count):
        count = _count_in_words(at(message, RATING, 3, 1))
    return {
        "rating": None if rating is None else float(rating),
        "review_count": None if count is None else int(count),
        "price": tidy(at(message, RATING, 2)),
        "business_status": _status(message),
        "claimed": _claimed(message),
    }


def _is_count(value: float) -> bool:
    return math.isfinite(value) and value == int(value) and 0 <= value < 1e9


def _count_in_words(value: object) -> int | None:
    """`27 reviews`, in any language: the one number of the link to the reviews."""
    found = numbers.counts_in(value) if isinstance(value, str) else []
    if len(found) == 1:
        return numbers.count(found[0])
    return None


def _status(message: list[Any]) -> str | None:
    """Closed for good has a badge and no hours. Without both, the status is not known."""
    closed = at(message, TYPE, 0) == "CLOSED" and at(message, HOURS, 0) is None and at(message, OLD_HOURS, 1) is None
    if closed:
        return "permanently_closed"
    return None


def _claimed(message: list[Any]) -> bool | None:
    if isinstance(at(message, CLAIM_LINK, 0), str):
        return False
    if isinstance(at(message, OWNER, 2), str):
        return True
    return None


# --- when it is open, what it offers


def _hours(message: list[Any]) -> tuple[OpenHours, ...]:
    found = sorted(set(_new_hours(at(message, HOURS, 0)))) or sorted(set(_old_hours(at(message, OLD_HOURS, 1))))
    return tuple(OpenHours(day=_DAYS[day], opens=opens, closes=closes) for day, opens, closes in found)


def _new_hours(days: object) -> Iterator[tuple[int, str, str]]:
    """`[label, day 1 to 7, date, [[text, [[h, m], [h, m]]], …]]`."""
    for entry in items_at(days):
        day, shifts = at(entry, 1), at(entry, 3)
        if isinstance(day, bool) or not isinstance(day, int) or not 1 <= day <= 7 or not isinstance(shifts, list):
            continue
        for shift in shifts:
            opens, closes = _filled_clock(at(shift, 1, 0)), _filled_clock(at(shift, 1, 1))
            if opens and closes:
                yield day - 1, opens, _end(opens, closes)


def _old_hours(days: object) -> Iterator[tuple[int, str, str]]:
    """`[label, [text], …, date, …, [[h, m, h, m], …]]`: the label is of any language, the date says the day."""
    for entry in items_at(days):
        day, shifts = _weekday(at(entry, 4)), at(entry, 6)
        if day is None or not isinstance(shifts, list):
            continue
        for shift in shifts:
            opens, closes = _clock([at(shift, 0), at(shift, 1)]), _clock([at(shift, 2), at(shift, 3)])
            if opens and closes:
                yield day, opens, _end(opens, closes)


def _weekday(value: object) -> int | None:
    try:
        if isinstance(value, str):
            return date.fromisoformat(value).weekday()
        return None
    except ValueError:  # not a date: the day is not known
        return None


def _filled_clock(value: object) -> str | None:
    """`[9, 30]`, where a zero is left out: `[9]` is 9:00, `[]` is midnight."""
    if not isinstance(value, list) or len(value) > 2:
        return None
    hour = at(value, 0)
    return _clock([0 if hour is None else hour, at(value, 1)])


def _clock(value: object) -> str | None:
    hour, minute = at(value, 0), at(value, 1)
    minute = 0 if minute is None else minute
    if isinstance(hour, bool) or isinstance(minute, bool) or not isinstance(hour, int) or not isinstance(minute, int):
        return None
    if hour == 24 and minute == 0:
        return "24:00"
    if 0 <= hour < 24 and 0 <= minute < 60:
        return f"{hour:02d}:{minute:02d}"
    return None


def _end(opens: str, closes: str) -> str:
    if opens == closes == "00:00":
        return "24:00"
    return closes


def _attributes(message: list[Any]) -> Iterator[tuple[str, bool]]:
    """`[id, label, [[/geo/type/…/has_delivery, label, [1, [[on]], …]]]]`: the ids are of no language."""
    for group in items_at(message, ATTRIBUTES, 1):
        for entry in items_at(group, 2):
            name, on = at(entry, 0), at(entry, 2, 1, 0, 0)
            if isinstance(name, str) and name.startswith("/geo/type/") and not isinstance(on, bool) and on in (0, 1):
                yield name.rsplit("/", 1)[-1][:100], on == 1
