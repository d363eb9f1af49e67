"""Ratings and counts as people of many languages write them. A text that is not exactly a number is none."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

MAX_RATING = 5.0
_LONGEST = 80
"""Characters of a label that are looked at: none of a rating is longer."""

_SPACES = "\u00a0\u202f\u2009\u2007 "
_GROUP = rf"[.,'’\u066c{_SPACES}]"
_SEPARATOR = re.compile(_GROUP)
_NUMBER = (
    rf"[0-9]{{1,3}}(?:{_GROUP}[0-9]{{2,3}})*{_GROUP}[0-9]{{3}}(?![0-9])|[0-9]+(?:[.,\u066b][0-9]{{1,2}})?(?![0-9])"
)
_IN_TEXT = re.compile(_NUMBER)
_RATING = re.compile(r"([0-5])(?:[.,\u066b]([0-9]))?")
_DECIMAL = re.compile(r"[0-5][.,\u066b][0-9]")
_MARKS = re.compile(r"[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")
"""Marks of writing direction, which stand around numbers in Arabic and Hebrew pages."""

_THOUSANDS = (
    *("k", "b", "mil", "tsd.", "tys.", "tis.", "тыс.", "тис.", "хил.", "χιλ.", "rb", "bin", "mii", "هزار", "ألف"),
    *("千", "천", "हज़ार", "พัน"),
)
"""`B` is Turkish: nothing has billions of reviews."""
_TEN_THOUSANDS = ("万", "萬", "만", "หมื่น")
_MILLIONS = ("m", "mio.", "mln", "млн", "jt", "百万")
_FACTORS = (
    dict.fromkeys(_THOUSANDS, 1_000) | dict.fromkeys(_TEN_THOUSANDS, 10_000) | dict.fromkeys(_MILLIONS, 1_000_000)
)
_LETTERS = "a-z\u00df-\u024f\u0370-\u06ff"
"""Of alphabets that write words apart: what goes on with them is another word."""
_UNITS = "|".join(sorted(map(re.escape, _FACTORS), key=len, reverse=True))
_SHORTENED = re.compile(
    rf"([0-9]{{1,4}}(?:[.,\u066b][0-9]{{1,2}})?)[{_SPACES}]?({_UNITS})\+?(?![{_LETTERS}])", re.IGNORECASE
)
_COUNTED = re.compile(rf"(?:{_SHORTENED.pattern})|(?:{_NUMBER})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Stars:
    """What a label such as `4,5 Sterne 1.234 Rezensionen` says."""

    rating: float | None
    count: int | None


def plain(text: str) -> str:
    """One line, digits of every script as 0-9, without marks of direction."""
    if not text.isascii():
        text = _MARKS.sub("", text)
        text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
    return text.strip()


def rating(text: str) -> float | None:
    """`4.5`, `4,5`, `٤٫٥` → 4.5; `5` → 5.0."""
    match = _RATING.fullmatch(plain(text[:_LONGEST]))
    if not match:
        return None
    value = float(f"{match[1]}.{match[2] or 0}")
    if value <= MAX_RATING:
        return value
    return None


def count(text: str) -> int | None:
    """`1,234`, `1.234`, `1 234`, `12,34,567`, `(216)`, `1.2K`, `1,2 mil` → a whole number."""
    text = plain(text[:_LONGEST])
    if text[:1] == "(" and text[-1:] == ")":
        text = text[1:-1].strip()
    if _IN_TEXT.fullmatch(text):
        return _whole(text)
    match = _SHORTENED.fullmatch(text)
    factor = _FACTORS.get(match[2].casefold()) if match else None
    if match is None or factor is None:
        return None
    return round(float(re.sub(r"[,\u066b]", ".", match[1])) * factor)


def _whole(text: str) -> int | None:
    """A number without decimals: groups of three, the last of them behind a separator."""
    if text.isdigit():
        return int(text)
    separators = set(_SEPARATOR.findall(text))
    if len(separators) != 1 or text[-4:-3] not in separators:
        return None
    return int(text.replace(separators.pop(), ""))


def numbers_in(text: str) -> list[str]:
    """Every number in a text, as written."""
    return [match[0] for match in _IN_TEXT.finditer(plain(text[:_LONGEST]))]


def counts_in(text: str) -> list[str]:
    """Every number in a text, as written, with the word that shortens it: `1.2K`."""
    return [match[0] for match in _COUNTED.finditer(plain(text[:_LONGEST]))]


def stars(label: str) -> Stars | None:
    """The rating and the count of a label of stars, or None where it is no such label."""
    # A rating is shown with one decimal, also `5.0`: without it, the number is of something else.
    found = counts_in(label)
    ratings = [number for number in found if _DECIMAL.fullmatch(number)]
    if len(ratings) == 2 and _is_scale(ratings[1]):  # 4.5 out of 5.0
        found.remove(ratings.pop())
    if len(ratings) != 1:
        return None
    rated = rating(ratings[0])
    found.remove(ratings[0])
    if len(found) == 2 and "5" in found:  # 4.5 out of 5
        found.remove("5")
    if rated is None or len(found) > 1:
        return None
    if not found:
        return Stars(rated, None)
    number = count(found[0])
    if number is None:
        return None
    return Stars(rated, number)


def _is_scale(number: str) -> bool:
    return rating(number) == MAX_RATING
