"""Lists of words, as they are written in the code: many on a line."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """`"one two three"` → a set of words."""
    return frozenset(text.split())
