"""Phone numbers of places. The country is known or it is not; it is never guessed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.pipeline.sources.google_maps.parser.numbers import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

MIN_DIGITS = 7
"""Of a number that nothing but its form tells; `7030 78` is a street."""
MAX_DIGITS = 15
_SHAPE = re.compile(r"[+*]?[0-9(][0-9\s().\-‐‑–—/\u00a0\u202f]*[0-9]")

_WRITTEN = re.compile(r"\+[0-9]|\([0-9]{2,5}\)|0[0-9]{1,5}[\s/-]|[0-9]{2,4}[\s.-][0-9]{2,4}[\s.-][0-9]{2,4}")
"""How no street writes its numbers: a country, an area in brackets or with its zero, three groups."""


def looks_like_phone(text: str, *, least: int = MIN_DIGITS) -> bool:
    """Nothing but digits and what stands between them, and neither too few nor too many of them."""
    if text[:1].isalpha():
        return False  # most texts are words
    text = plain(text)
    if len(text) > 30 or not _SHAPE.fullmatch(text):
        return False
    return least <= sum(character.isdigit() for character in text) <= MAX_DIGITS


def is_written_as_phone(text: str) -> bool:
    """Whether a text that looks like a phone can be nothing else."""
    return _WRITTEN.match(plain(text)) is not None


def e164(texts: Iterable[str], country: str | None = None, *, only_valid: bool = False) -> str | None:
    """The international form of the first number that has one: written with `+`, or of a known country."""
    for text in texts:
        number = _e164(plain(text), country, only_valid)
        if number:
            return number
    return None


def _e164(text: str, country: str | None, only_valid: bool) -> str | None:
    import phonenumbers  # its tables take 50 ms to load: only where a number is

    if not text.startswith("+") and country is None:
        return None
    try:
        number = phonenumbers.parse(text[:40], None if text.startswith("+") else country)
    except phonenumbers.NumberParseException:  # not a number, or of an unknown country
        return None
    if not phonenumbers.is_possible_number(number) or (only_valid and not phonenumbers.is_valid_number(number)):
        return None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
