"""Rating and number of reviews as a page shows them: a picture of stars with a label, a number, a number in brackets.

A count is believed only here, beside the rating. Elsewhere on a card a number is a house number or an area code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.pipeline.sources.google_maps.parser import numbers
from cocli.pipeline.sources.google_maps.parser.numbers import Stars

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.pipeline.sources.google_maps.parser.tree import TreeElement

_BRACKETS = re.compile(r"[(（]\s*([^()（）]{1,20})\s*[)）]")

_ROUNDED = 10
"""A number that is shortened is right to a tenth."""


def stars_of(element: TreeElement) -> Stars | None:
    """What a picture of stars says, or None where an element is none."""
    if element.get("role") != "img":
        return None
    return labelled_stars(element.get("aria-label"), _texts(element))


def labelled_stars(label: str, texts: Iterable[str]) -> Stars | None:
    """What a picture of stars says: by its label, and by the numbers in it, which must not contradict the label."""
    said, shown = numbers.stars(label), read_texts(texts)
    if said is None or said.rating is None:
        return _whole_stars(label, shown)
    if shown.rating is not None and shown.rating != said.rating:
        return None
    count = said.count
    if count == numbers.MAX_RATING and shown.count != count:
        count = None  # `4.5 out of 5`
    return Stars(said.rating, count if count is not None else shown.count)


def _whole_stars(label: str, shown: Stars) -> Stars | None:
    """`5 stars`, where the picture shows `5.0`."""
    if shown.rating is None or shown.rating != int(shown.rating):
        return None
    if str(int(shown.rating)) in numbers.numbers_in(label):
        return shown
    return None


def shown_stars(element: TreeElement) -> Stars:
    """The numbers of an element: `4.5` alone, `(1,234)` alone."""
    return read_texts(_texts(element))


def read_texts(texts: Iterable[str]) -> Stars:
    """The first text that is a rating with its decimal, and the first that is a number in brackets."""
    rating: float | None = None
    count: int | None = None
    for written in texts:
        text = numbers.plain(written)
        bracketed = _BRACKETS.fullmatch(text)
        if bracketed and count is None:
            count = numbers.count(bracketed[1])
        elif rating is None and not text.isdigit():
            rating = numbers.rating(text)
    return Stars(rating, count)


def counted(element: TreeElement) -> int | None:
    """`(17,059)` with the label `17,059 reviews`: the one number of the label, which the text shows as well."""
    label = element.get("aria-label")
    found = numbers.counts_in(label) if label else []
    if len(found) != 1:
        return None
    said = numbers.count(found[0])
    text = numbers.plain(element.text())
    bracketed = _BRACKETS.fullmatch(text)
    shown = [numbers.count(number) for number in ([bracketed[1]] if bracketed else numbers.counts_in(text))]
    if said is None or len(shown) != 1 or shown[0] is None:
        return None
    # The text may be shorter: `(17K)`.
    if shown[0] == said or (bracketed and abs(shown[0] - said) <= said / _ROUNDED):
        return said
    return None


def _texts(element: TreeElement) -> list[str]:
    return [child for inner in element.walk() for child in inner.children if isinstance(child, str) and child.strip()]
