"""What the lines of a card say: rating, price, category, address, phone, closed for good. By form and order, not class.

Each piece of text is evidence for one field at most. What could be two things is neither.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

from cocli.pipeline.sources.google_maps.parser import numbers, phones
from cocli.pipeline.sources.google_maps.parser.closed_words import closed_status
from cocli.pipeline.sources.google_maps.parser.stars_dom import read_texts

if TYPE_CHECKING:
    from cocli.pipeline.sources.google_maps.parser.segments import Group, Segment, SegmentRow

_CLOCK = re.compile(r"\b[0-9]{1,2}:[0-9]{2}\b|\b[0-9]{1,2}\s?(?:[ap]\.?\s?m\b|uhr\b)|\b24\s?/\s?7\b", re.IGNORECASE)
_DISTANCE = re.compile(r"[0-9]+(?:[.,][0-9]+)?\s?(?:km|m|mi|ft|yd|м|км)\.?", re.IGNORECASE)
_HOTEL = re.compile(r"(?=[^0-9]*[1-5][^0-9]*$).*[^\W\d_].{0,40}")
"""`4-star hotel`, in any language: one digit, and a word."""
_NUMBERED = re.compile(r"[0-9](?!D\b)")
"""A number as streets have them; `3D printing` is a kind of business."""
_AMOUNT = re.compile(
    r"(?:[^\W\d_]{1,4}\.?\s?)?[0-9][0-9.,'’\s]*(?:[–-]\s?[0-9][0-9.,'’\s]*)?\+?(?:\s?[^\W\d_]{1,4}\.?)?"
)
_PRICE = 24
"""Characters of the longest price, `US$100.000–200.000`."""
_CATEGORY = 80
"""Characters of the longest category: what is longer describes the place."""
_WORDS, _MOST_WORDS = 4, 7
"""Of a line that may be a sentence, and that must be one."""
_SENTENCE = re.compile(
    r"[,.;:!?–—]|\b(?:with|serving|offering|featuring|plus|amid|since|from|mit|avec|con|com|met)\b", re.IGNORECASE
)
_BEGINS_WITH_RATING = re.compile(r"[0-5][.,\u066b][0-9]")
_YEARS = re.compile(r"(?:19|20)[0-9]{2}\s?[-‐‑–—/]\s?(?:19|20)[0-9]{2}")

Values = dict[str, Any]


def read_lines(groups: list[Group]) -> Values:
    """What stands beside a name, by the names of `Place`'s fields."""
    values: Values = {}
    rated = next((number for number, group in enumerate(groups) if _take_stars(group, values)), None)
    # Without a rating, the first line says so, where there is more than one.
    below = groups[rated + 1 :] if rated is not None else groups[1:] or groups
    rows = [row for group in below for row in group.rows()]
    if rated is None and len(groups) == 1 and _is_note(rows):
        rows = []
    for row in rows:
        _take_status(row, values)
    for number, row in enumerate(rows):
        _take_phone(row, values, first=number == 0)
    is_hotel = rated is not None and _read_rating_line(groups[rated], values)
    if rows and not is_hotel:
        _take_category_and_address(rows[0], values)
    return values


def _know(values: Values, name: str, value: Any) -> None:
    if value is not None and value != (None,):
        values.setdefault(name, value)


# --- the line of the rating


def _take_stars(group: Group, values: Values) -> bool:
    """The stars of a line, by their label or, where they have none, by `4.5` and `(216)` in pieces of their own."""
    stars = group.stars
    if stars is None:
        if not group.leaves or not _BEGINS_WITH_RATING.match(numbers.plain(group.leaves[0].text)):
            return False
        stars = read_texts(leaf.text for leaf in group.leaves)
        if stars.rating is None:
            return False
        group.leaves = [leaf for leaf in group.leaves if not _is_numeric(leaf.text)]
    _know(values, "rating", stars.rating)
    _know(values, "review_count", stars.count)
    return True


def _is_numeric(text: str) -> bool:
    text = numbers.plain(text)
    return numbers.rating(text) is not None or numbers.count(text) is not None


def _is_note(rows: list[SegmentRow]) -> bool:
    """`No reviews` stands right in its line; what describes a place is set off once more."""
    return len(rows) == 1 and len(rows[0].segments) == 1 and rows[0].segments[0].depth < 2


def _read_rating_line(group: Group, values: Values) -> bool:
    """The price, and for a hotel its stars. Says whether it was a hotel: its next lines name what it offers."""
    is_hotel = False
    for row in group.rows():
        for segment in row.free:
            if _is_price(segment.text):
                _know(values, "price", segment.take("price"))
            elif not segment.styled and _HOTEL.fullmatch(numbers.plain(segment.text)):
                _know(values, "category_labels", (segment.take("category_labels"),))
                is_hotel = True
    return is_hotel


def _is_price(text: str) -> bool:
    """`$$`, `10–20 €`, `AED 50–100`."""
    if len(text) > _PRICE:
        return False
    if "$" in text or (not text.isascii() and any(unicodedata.category(character) == "Sc" for character in text)):
        return True
    text = numbers.plain(text)
    return _AMOUNT.fullmatch(text) is not None and sum(character.isdigit() for character in text) > 1


# --- the lines below it


def _take_status(row: SegmentRow, values: Values) -> None:
    for segment in row.segments:
        status = closed_status(segment.text)
        if status and segment.take("business_status"):
            _know(values, "business_status", status)


def _take_phone(row: SegmentRow, values: Values, *, first: bool) -> None:
    """A piece that is nothing but a number. In the first line, where addresses are, its form must leave no doubt."""
    sure = not first or len(row.segments) == 1 or any(segment.hinted or segment.styled for segment in row.segments)
    for segment in row.free:
        if segment.styled:
            continue
        if segment.hinted:
            is_phone = phones.looks_like_phone(segment.text, least=3)
        else:
            is_phone = phones.looks_like_phone(segment.text) and (sure or phones.is_written_as_phone(segment.text))
            is_phone = is_phone and not _YEARS.fullmatch(numbers.plain(segment.text))
        if is_phone:
            _know(values, "phone", segment.take("phone"))


def _take_category_and_address(row: SegmentRow, values: Values) -> None:
    """`Category · Address`, either of which may be missing. Open or closed and a phone are of another line."""
    if row.segments[0].styled or row.segments[0].taken_by:
        return
    said = [segment for segment in row.free if not (segment.styled or segment.mended or _is_aside(segment))]
    if len(said) > 1:
        _take_category(said[0], values)
        _take_address(said[-1], values)
    elif said and (said[0].led or _NUMBERED.search(numbers.plain(said[0].text))):
        _take_address(said[0], values)
    elif said and not _describes(said[0].text):
        _take_category(said[0], values)


def _describes(text: str) -> bool:
    """A line of its own that is a sentence, where the line of the category is missing: `Cosy spot with a garden`."""
    words = text.split()
    if len(words) < _WORDS:
        return False
    return len(words) > _MOST_WORDS or _SENTENCE.search(text) is not None


def _is_aside(segment: Segment) -> bool:
    text = numbers.plain(segment.text)
    return "$" in text or _DISTANCE.fullmatch(text) is not None or (not text.isascii() and _is_price(text))


def _take_category(segment: Segment, values: Values) -> None:
    text = segment.text
    if len(text) <= _CATEGORY and any(character.isalpha() for character in text) and not _tells_time(text):
        _know(values, "category_labels", (segment.take("category_labels"),))


def _take_address(segment: Segment, values: Values) -> None:
    if any(character.isalnum() for character in segment.text) and not _tells_time(segment.text):
        _know(values, "address", segment.take("address"))


def _tells_time(text: str) -> bool:
    """`Opens 12 PM` is no address."""
    return _CLOCK.search(numbers.plain(text)) is not None
