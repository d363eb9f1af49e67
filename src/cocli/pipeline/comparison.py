"""Names and addresses as they are compared, never as they are stored: two spellings of one thing give one text.

Built on `identities.normalised`, whose result is frozen because hashes depend on it; what is here may be improved.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from cocli.keys.identities import normalised

if TYPE_CHECKING:
    from collections.abc import Mapping

_LEGAL_FORMS = frozenset([
    "ab", "ag", "aps", "as", "asi", "bhd", "bt", "bv", "co", "company", "corp", "corporation", "doo", "dooel", "ehf",
    "eirl", "ek", "eood", "epe", "ev", "fop", "gbr", "gmbh", "ike", "inc", "incorporated", "kda", "kft", "kg", "kk",
    "lda", "limited", "llc", "llp", "lp", "ltd", "ltda", "mbh", "mei", "nv", "ofi", "ohg", "ood", "ooo", "oy", "oyj",
    "plc", "pte", "pty", "pvt", "sa", "sarl", "sas", "sca", "sdn", "sia", "sl", "slu", "snc", "sp", "sprl", "srl",
    "srls", "sro", "sti", "tov", "uab", "ug",
    "vof", "zao", "zrt", "ао", "ад", "зао", "еоод", "оод", "ооо", "тов", "фоп", "αε", "επε", "ικε",
])  # fmt: skip
"""Words that a source writes behind a name, or does not. Dropped at the end of a name only: "AG Hairdressers" stays."""

_DOTTED_FORMS = (" s a r l", " sp z o o", " ε π ε", " ι κ ε", " d o o", " l l c", " s n c", " s p a", " s r l",
                 " s r o", " v o s", " ltd sti", " a s", " b v", " e k", " e u", " e v", " n v", " s a", " s l", " α ε",
                 " בע מ")  # fmt: skip
"""Legal forms with dots, as they come out. A single letter at the end is no legal form: it may tell two halls apart."""

_LEADING_FORMS = ("cong ty tnhh ", "cong ty co phan ", "cong ty ", "pt ", "cv ", "uab ", "sia ", "тов ", "ооо ", "оао ",
                  "зао ", "пао ", "фоп ", "ип ", "ет ", "شركة ", "주식회사 ")  # fmt: skip
"""What stands before the name in some languages."""

_INNER_FORMS = ("股份有限公司", "有限公司", "株式会社", "有限会社", "合同会社", "주식회사", "(주)", "㈜", "㈱")
"""What is written onto the name, before or behind it, where words are not parted."""

_STREET_WORDS: Mapping[str, str] = {
    # English
    "st": "street", "str": "street", "rd": "road", "ave": "avenue", "av": "avenue", "blvd": "boulevard", "dr": "drive",
    "ln": "lane", "hwy": "highway", "pkwy": "parkway", "sq": "square", "ct": "court", "pl": "place", "ste": "suite",
    "n": "north", "s": "south", "e": "east", "w": "west",
    # French, Spanish, Italian, Portuguese
    "bd": "boulevard", "avda": "avenida", "c": "calle", "v": "via", "pza": "plaza", "pzza": "piazza", "r": "rua",
    # Romanian, Hungarian, Indonesian
    "strada": "street", "u": "utca", "jl": "jalan", "jln": "jalan",
}  # fmt: skip
"""An abbreviation and its word. Either side of a comparison is expanded, so a wrong expansion hurts nobody."""

_STREET_NOISE = frozenset([
    "ul", "ulica", "ulice", "ulitsa", "ул", "улица", "вул", "вулиця", "g", "gatve", "duong", "đuong", "no", "nr",
    "شارع", "רחוב", "רח",
])  # fmt: skip
"""What some countries write before a street's name or its number, and others leave out."""

_STREET_ENDINGS: Mapping[str, str] = {"straat": "strasse", "str": "strasse", "pl": "platz", "wg": "weg"}
"""German and Dutch write them onto the name: `Hauptstr.` is `Hauptstraße`, which case folding makes `hauptstrasse`."""

_UNIT_WORDS = frozenset(["suite", "unit", "apt", "apartment", "floor", "fl", "room", "rm"])


_SHORTEST_PHONE = 6
"""Digits of a number that somebody may share by chance, if there are fewer."""


def comparable_name(name: str) -> str:
    """`Müller & Söhne GmbH` and `MULLER + SOHNE` compare alike. The empty text compares with nothing."""
    text = normalised(_without_marks(_without_inner_forms(name).replace("'", "").replace("\u2019", "")))
    for form in _DOTTED_FORMS:
        if text.endswith(form):
            text = text.removesuffix(form)
            break
    for form in _LEADING_FORMS:
        if text.startswith(form):
            text = text.removeprefix(form)
            break
    words = [word for word in text.split() if word not in ("and", "und", "et")]
    while len(words) > 1 and words[-1] in _LEGAL_FORMS:
        words.pop()
    if len(words) > 1 and words[0] == "the":
        words = words[1:]
    return " ".join(words)


def _without_inner_forms(name: str) -> str:
    if name.isascii():
        return name
    bare = name
    for form in _INNER_FORMS:
        bare = bare.replace(form, " ")
    return bare if bare.strip() else name


def comparable_phone(e164: str | None, phone: str | None = None) -> str:
    """The digits of a number, in E.164 where it is known: without its plus, a national one without its zeros."""
    digits = "".join(digit for digit in e164 or phone or "" if digit in "0123456789")
    return digits.lstrip("0")


def is_same_phone(phone: str, other: str) -> bool:
    """Whether two comparable numbers are one: a national number is the end of the international one."""
    shorter = min(len(phone), len(other))
    return shorter >= _SHORTEST_PHONE and (phone.endswith(other) or other.endswith(phone))


_SHORTEST_ABBREVIATION = 4
_NUMBER_ON_STREET = re.compile(r"(?<=[^\W\d_\x00-\x7f])(?=\d)|(?<=\d)(?=[^\W\d_\x00-\x7f])")
"""Where a number stands onto a word of a script that parts words by nothing: `중앙로21`."""


def comparable_street(street: str | None) -> str:
    """`12 Main St., Suite 4` and `12 main street` compare alike: sources differ in whether they name the unit."""
    parted = _NUMBER_ON_STREET.sub(" ", _without_marks(street or ""))
    words = [_street_word(word) for word in normalised(parted).split()]
    words = [word for word in words if word not in _STREET_NOISE] or words
    for position, word in enumerate(words):
        if word in _UNIT_WORDS and position >= 2:
            words = words[:position]
            break
    # A number stands before the street's name in some countries and behind it in others.
    return " ".join(sorted(words, key=lambda word: not word[0].isdigit()))


def is_one_street(street: str, other: str) -> bool:
    """Whether two comparable streets are one: the same numbers, and every word of either is, or begins, one of both."""
    if street == other:
        return True
    words, others = street.split(), other.split()
    if len(words) != len(others):
        return False
    return all(_is_one_word(word, there) for word, there in zip(words, others, strict=True))


def _is_one_word(word: str, other: str) -> bool:
    """`storg` is short for `storgatan`; a number is short for nothing."""
    if word == other:
        return True
    shorter = min(len(word), len(other))
    is_number = word[0].isdigit() or other[0].isdigit()
    return not is_number and shorter >= _SHORTEST_ABBREVIATION and (word.startswith(other) or other.startswith(word))


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
