"""Texts without the signs that nobody sees: icons of private fonts, marks of direction, spaces of no width."""

from __future__ import annotations

import re

_UNSEEN = re.compile(
    "[\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"  # icons, which only the font of a page can draw
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks of direction
    "\u200b\u2060\ufeff\u00ad]"  # spaces and hyphens that take no room
)
_DOTS = re.compile(r"^[\s·⋅•∙|]+|[\s·⋅•∙|]+$")


def words_in(text: str, between: str | None = None) -> frozenset[str]:
    """The words of a table that is written as a text."""
    return frozenset(text.split(between))


def seen_text(text: str) -> str:
    """The text as a person sees it: what separated it from others in its line is gone as well."""
    if text.isascii():
        return text
    return _DOTS.sub("", _UNSEEN.sub("", text))
