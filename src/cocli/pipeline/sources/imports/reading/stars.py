"""Stars and the number of reviews in one cell: `5.0(185)`, `4,7 · 1.234 Bewertungen`, `4.5 stars 12 Reviews`."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RATING = r"([0-5](?:[.,]\d{1,2})?)"
_COUNT = r"(\d{1,3}(?:[.,\u00a0\u202f' ]\d{3})+|\d{1,7})"
_OUT_OF = r"(?:\s*/\s*5|\s+(?:out of|von|sur|de|su|van|из|z|av)\s+5)?"
_STARS = r"(?:[★⭐☆]+|stars?|sterne|étoiles?|estrellas?|stelle|sterren|звёзд|звезд)"
_BOTH = re.compile(
    rf"{_RATING}{_OUT_OF}\s*{_STARS}?\s*(?:[·⋅•|,]\s*)?\(\s*{_COUNT}(?:\s*[^\W\d_]+)?\s*\).*"
    rf"|([0-5][.,]\d){_OUT_OF}\s*(?:{_STARS}|[·⋅•|])\s*(?:[·⋅•|,]\s*)?{_COUNT}\s*[^\W\d_]{{3,}}.*",
    re.IGNORECASE | re.DOTALL,
)
_IN_PARENTHESES = re.compile(rf"\(\s*{_COUNT}\s*\)")
_ALONE = re.compile(rf"{_RATING}{_OUT_OF}\s*(?:[★⭐☆]+|stars?|sterne|étoiles?|estrellas?)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StarsRead:
    """What people think of a business, and how many of them said so."""

    rating: float | None = None
    count: int | None = None


def stars_of(text: str) -> StarsRead | None:
    """Both, where a cell has both."""
    match = _BOTH.fullmatch(text.strip()[:200])
    if match is None:
        return None
    count = re.sub(r"\D", "", match[2] or match[4])
    return StarsRead(float((match[1] or match[3]).replace(",", ".")), int(count))


def rating_of(text: str) -> float | None:
    """Stars alone: `4.5`, `4,5 / 5`, `4.5 ★`, `4.5 out of 5`."""
    match = _ALONE.fullmatch(text.strip()[:60])
    return float(match[1].replace(",", ".")) if match else None


def is_count_in_parentheses(text: str) -> bool:
    """`(185)`: nothing but a number of reviews is written so."""
    return _IN_PARENTHESES.fullmatch(text.strip()) is not None
