"""Names and addresses as they are compared, never as they are stored: two spellings of one thing give one text.

Built on `identities.normalised`, whose result is frozen because hashes depend on it; what is here may be improved.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from cocli.keys.identities import normalised

if TYPE_CHECKING:
    from collections.abc import Mapping

_LEGAL_FORMS = frozenset([
    "ab", "ag", "aps", "as", "bv", "co", "company", "corp", "corporation", "ek", "ev", "gbr", "gmbh", "inc",
    "incorporated", "kft", "kg", "kk", "limited", "llc", "llp", "lp", "ltd", "ltda", "mbh", "nv", "ohg", "oy", "oyj",
    "plc", "pte", "pty", "pvt", "sa", "sarl", "sas", "sl", "slu", "srl", "sro", "ug", "vof",
])  # fmt: skip
"""Words that a source writes behind a name, or does not. Dropped at the end of a name only: "AG Hairdressers" stays."""

_DOTTED_FORMS = (" s a r l", " sp z o o", " l l c", " s p a", " s r l", " s r o", " a s", " b v", " e k", " e v",
                 " n v", " s a", " s l")  # fmt: skip
"""Legal forms with dots, as they come out. A single letter at the end is no legal form: it may tell two halls apart."""

_STREET_WORDS: Mapping[str, str] = {
    # English
    "st": "street", "str": "street", "rd": "road", "ave": "avenue", "av": "avenue", "blvd": "boulevard", "dr": "drive",
    "ln": "lane", "hwy": "highway", "pkwy": "parkway", "sq": "square", "ct": "court", "pl": "place", "ste": "suite",
    "n": "north", "s": "south", "e": "east", "w": "west",
    # French, Spanish, Italian, Portuguese
    "bd": "boulevard", "avda": "avenida", "c": "calle", "v": "via", "pza": "plaza", "pzza": "piazza", "r": "rua",
}  # fmt: skip
"""An abbreviation and its word. Either side of a comparison is expanded, so a wrong expansion hurts nobody."""

_STREET_ENDINGS: Mapping[str, str] = {"str": "strasse", "pl": "platz", "wg": "weg"}
"""German and Dutch write them onto the name: `Hauptstr.` is `Hauptstraße`, which case folding makes `hauptstrasse`."""

_UNIT_WORDS = frozenset(["suite", "unit", "apt", "apartment", "floor", "fl", "room", "rm"])


def comparable_name(name: str) -> str:
    """`Müller & Söhne GmbH` and `MULLER + SOHNE` compare alike. The empty text compares with nothing."""
    text = normalised(_without_marks(name.replace("'", "").replace("\u2019", "")))
    for form in _DOTTED_FORMS:
        if text.endswith(form):
            text = text.removesuffix(form)
            break
    words = [word for word in text.split() if word not in ("and", "und", "et")]
    while len(words) > 1 and words[-1] in _LEGAL_FORMS:
        words.pop()
    if len(words) > 1 and words[0] == "the":
        words = words[1:]
    return " ".join(words)


def comparable_street(street: str | None) -> str:
    """`12 Main St., Suite 4` and `12 main street` compare alike: sources differ in whether they name the unit."""
    words = [_street_word(word) for word in normalised(_without_marks(street or "")).split()]
    for position, word in enumerate(words):
        if word in _UNIT_WORDS and position >= 2:
            words = words[:position]
            break
    # A number stands before the street's name in some countries and behind it in others.
    return " ".join(sorted(words, key=lambda word: not word[0].isdigit()))


def comparable_postcode(postcode: str | None) -> str:
    """`1011 AB`, `1011AB` and `90001-1234` (whose tail says which side of the street) compare as they should."""
    text = (postcode or "").strip()
    head, dash, tail = text.partition("-")
    if dash and len(head) == 5 and head.isdigit() and len(tail) == 4 and tail.isdigit():
        text = head
    return normalised(text).replace(" ", "")


def _street_word(word: str) -> str:
    if word in _STREET_WORDS:
        return _STREET_WORDS[word]
    for ending, whole in _STREET_ENDINGS.items():
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[: -len(ending)] + whole
    return word


def _without_marks(text: str) -> str:
    """`é` → `e`: one source has the accents, another has lost them. Other scripts keep their letters."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if not ("\u0300" <= c <= "\u036f"))
