"""Rating and number of reviews as a page shows them: a picture of stars with a label, a number, a number in brackets.

A count is believed only here, beside the rating. Elsewhere on a card a number is a house number or an area code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.sources.google_maps import numbers
from cocli.sources.google_maps.numbers import Stars

if TYPE_CHECKING:
    from cocli.sources.google_maps.tree import Element

_BRACKETS = re.compile(r"[(（]\s*([^()（）]{1,20})\s*[)）]")


def stars_of(element: Element) -> Stars | None:
    """What a picture of stars says: by its label, and by the numbers in it, which must not contradict the label."""
    if element.get("role") != "img":
        return None
    said = numbers.stars(element.get("aria-label"))
    if said is None or said.rating is None:
        return None
    shown = shown_stars(element)
    if shown.rating is not None and shown.rating != said.rating:
        return None
    return Stars(said.rating, said.count if said.count is not None else shown.count)


def shown_stars(element: Element) -> Stars:
    """The numbers of an element: `4.5` alone, `(1,234)` alone."""
    rating: float | None = None
    count: int | None = None
    for text in _texts(element):
        bracketed = _BRACKETS.fullmatch(text)
        if bracketed and count is None:
            count = numbers.count(bracketed[1])
        elif rating is None and not text.isdigit():
            rating = numbers.rating(text)
    return Stars(rating, count)


def counted(element: Element) -> int | None:
    """`(17,059)` with the label `17,059 reviews`: the one number of the label, which the text shows as well."""
    label = element.get("aria-label")
    found = numbers.numbers_in(label) if label else []
    if len(found) != 1:
        return None
    said = numbers.count(found[0])
    text = element.text()
    if said is None or _BRACKETS.fullmatch(text):
        return said  # also where the text is shorter: `(17K)`
    shown = [numbers.count(number) for number in numbers.numbers_in(text)]
    return said if shown == [said] else None


def _texts(element: Element) -> list[str]:
    return [
        numbers.plain(child)
        for inner in element.walk()
        for child in inner.children
        if isinstance(child, str) and child.strip()
    ]
