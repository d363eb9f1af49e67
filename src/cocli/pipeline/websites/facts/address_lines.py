"""Addresses in lines of text, by how people of a country write them: `data/addresses.toml`.

A postcode is looked for, then the town beside it and the street before or after them. A street has letters and a
number; everything else that looks like a postcode is none.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocli.pipeline.websites.page.languages import either, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.page.digits import Row

FILE = Path(__file__).parents[1] / "data" / "addresses.toml"
MAX_POSTCODES = 1_000
_LETTERS_BEFORE = 10
"""Characters of a postcode before its first digit, at most, with the sign of its country."""
_SIGNS_BEFORE = 4
_LETTER_FIRST = re.compile(r"\[A-Z\](?!\?)|[A-Z]")
_REACH = 130
"""How far from a postcode the rest of its address stands."""
_SEPARATORS = re.compile(r"[\n,;|•·،、\t]")
_TOWN = re.compile(r"[^\W\d_][^\d@:：]{1,40}\Z")
_STREET = re.compile(r"(?=[^\d]*\d)(?=(?:[\W\d_]*[^\W\d_]){2})[\w .,'’\"“”„/&°ºª№#:()–-]{4,80}\Z")
_NO_STREET = re.compile(
    r"@|https?:|www\.|©|\d{7,}|\d{1,2}[.:]\d\d ?[-–] ?\d{1,2}[.:]\d\d|(?:19|20)\d\d ?[-–] ?(?:19|20)?\d\d|"
    r"(?<=\s)(?:19|20)\d\d\s+[^\W\d_]{2}"
)
_IN_BRACKETS = re.compile(r"\s*\(([^()]{1,30})\)?\s*\Z")
_LABEL = re.compile(rf"\A(?:{either('address.label')})(?:\s*[:：]\s*|\s+(?=\S))", re.IGNORECASE)
_WORDS = [word for word in words_of("phone.phone") if word not in ("office", "contact", "kontakt", "ruf")]
_PHONE = re.compile(
    rf"(?<!\w)(?:(?:{'|'.join(filter(str.isascii, _WORDS))})(?!\w)|"
    rf"(?:{'|'.join(word for word in _WORDS if not word.isascii())})\w{{0,6}}(?!\w))",
    re.IGNORECASE,
)
"""A word for phones; those of other scripts are written as their beginning."""
_NAME = re.compile(r"[^\W\d_]{3}|[^\W\d_a-zA-Z]{2}")
"""What a street has besides a number: `2º B` is a door."""
_HOUSE_NUMBER = re.compile(r"\d{1,5} ?[a-zA-Z]{0,3}\Z")
_DISTRICT = re.compile(r"(?:\s+cedex)?\s+\d{1,2}\.?\Z|\s+cedex\Z", re.IGNORECASE)
"""`Praha 1`, `Paris Cedex 02`"""
_LONGEST_NUMBER = 4
_WORDS_OF_TOWN = 5
_LONGEST_PIECES = 3


@dataclass(frozen=True, slots=True)
class AddressForm:
    """How addresses of one country are written."""

    country: str
    postcode: re.Pattern[str] | None
    digits: tuple[int, ...]
    layouts: tuple[str, ...]
    has_region: bool
    whole: re.Pattern[str] | None
    begins_with_letter: bool = False


@dataclass(frozen=True, slots=True)
class WrittenAddress:
    """The parts of an address, and the part of the text that tells its place."""

    parts: dict[str, str]
    start: int
    end: int


@cache
def forms() -> dict[str, AddressForm]:
    """By country."""
    return {country: _form(country, data) for country, data in tomllib.loads(FILE.read_text("utf-8")).items()}


def _form(country: str, data: dict[str, Any]) -> AddressForm:
    postcode, whole = data.get("postcode"), data.get("whole")
    return AddressForm(
        country,
        re.compile(rf"(?<![\w-])(?:[A-Z]{{1,3}}[-–] ?)?({postcode})(?![\w-])") if postcode else None,
        tuple(data.get("digits", ())),
        tuple(data.get("layouts", ())),
        bool(data.get("region")),
        re.compile(whole) if whole else None,
        postcode is not None and _LETTER_FIRST.match(postcode) is not None,
    )


def addresses_in(text: str, digits: list[Row], country: str) -> Iterator[WrittenAddress]:
    """The addresses of a country that a text has."""
    form = forms().get(country)
    if form is None:
        return
    if form.whole is not None:
        yield from _whole(form.whole, text)
        return
    for count, code in enumerate(_postcodes(text, digits, form)):
        if count >= MAX_POSTCODES:
            return
        for layout in form.layouts:
            parts = _LAYOUTS[layout](text, code)
            if parts is not None:
                yield WrittenAddress(_with_code(parts, code[1], form), code.start(), code.end())
                break


def _whole(pattern: re.Pattern[str], text: str) -> Iterator[WrittenAddress]:
    for count, match in enumerate(pattern.finditer(text)):
        if count >= MAX_POSTCODES:
            return
        parts = {name: value.strip() for name, value in match.groupdict().items() if value}
        yield WrittenAddress(parts, match.start(), match.end())


def _postcodes(text: str, digits: list[Row], form: AddressForm) -> Iterator[re.Match[str]]:
    """The postcodes of a text. They begin shortly before some digits, and digits are found much faster than they."""
    end = 0
    for start, after in digits:
        if form.postcode is None or start < end or after - start not in form.digits:
            continue
        for at in _beginnings(text, start, end, form):
            match = form.postcode.match(text, at)
            if match is not None:
                end = match.end()
                yield match
                break


def _beginnings(text: str, start: int, end: int, form: AddressForm) -> range:
    """Where a postcode may begin whose first digit stands at `start`: mostly there, or nowhere."""
    before = text[max(0, start - _SIGNS_BEFORE) : start]
    if form.begins_with_letter:
        likely = any("A" <= sign <= "Z" for sign in before)
        return range(max(end, start - _LETTERS_BEFORE), start + 1 if likely else 0)
    if "-" in before or "–" in before or before[-1:].isalpha():
        return range(max(end, start - _LETTERS_BEFORE), start + 1)
    return range(start, start + 1)


def _with_code(parts: dict[str, str], code: str, form: AddressForm) -> dict[str, str]:
    if form.has_region:
        region, _, code = code.replace(",", "").partition(" ")
        parts["region"] = region
    bracketed = _IN_BRACKETS.search(parts["city"])
    if bracketed:
        parts["city"] = parts["city"][: bracketed.start()]
        parts.setdefault("region", bracketed[1].strip())
    return {**parts, "postcode": code}


# --- layouts ---------------------------------------------------------------------------------------------------------


def _street_town(text: str, code: re.Match[str]) -> dict[str, str] | None:
    """`Hauptstr. 5, 10115 Berlin`"""
    town = _town(_pieces_after(text, code.end())[:1])
    street = _street_at_end(_pieces_before(text, code.start()))
    return _parts(street, town)


def _town_code(text: str, code: re.Match[str]) -> dict[str, str] | None:
    """`5 High Street, Bath BA2 3HX`"""
    pieces = _pieces_before(text, code.start())
    for last in (1, 2):
        town = _town(pieces[-last : len(pieces) - last + 1])
        street = _street_at_end(pieces[:-last], named=True) if town else None
        if street:
            return _parts(street, town)
    return None


def _code_street(text: str, code: re.Match[str]) -> dict[str, str] | None:
    """`6720 Szeged, Fő utca 21`"""
    pieces = _pieces_after(text, code.end())
    return _parts(_street_at_start(pieces[1:]), _town(pieces[:1]))


_LAYOUTS = {"street-town": _street_town, "town-code": _town_code, "code-street": _code_street}


def _parts(street: str | None, town: str | None) -> dict[str, str] | None:
    if street is None or town is None:
        return None
    return {"street": street, "city": town}


def _pieces_before(text: str, end: int) -> list[str]:
    return _pieces(text[max(0, end - _REACH) : end])


def _pieces_after(text: str, start: int) -> list[str]:
    return _pieces(text[start : start + _REACH])


def _pieces(text: str) -> list[str]:
    pieces = (piece.strip(" \t–-|·•:()\u200e\u200f") for piece in _SEPARATORS.split(text))
    return [piece for piece in pieces if piece]


def _town(pieces: list[str]) -> str | None:
    if not pieces:
        return None
    said = _PHONE.search(pieces[0])
    town = _LABEL.sub("", pieces[0][: said.start()] if said else pieces[0]).strip(" ,.-–\t")
    town = _DISTRICT.sub("", re.split(r" [-–] |\s{2,}|(?<=\w{4})\. ", town)[0])
    if _TOWN.match(town) and len(town.split()) <= _WORDS_OF_TOWN:
        return town
    return None


def _street_at_end(pieces: list[str], *, named: bool = False) -> str | None:
    """The last piece; with those before it, where the number of the house stands apart. `named`: houses have names."""
    for count in range(1, min(_LONGEST_PIECES, len(pieces)) + 1):
        first = pieces[-count]
        if street := _street(", ".join(pieces[-count:])):
            return street
        if len(first) > _LONGEST_NUMBER and _NAME.search(first) and not named and not _follows_number(pieces, count):
            return None
    return None


def _follows_number(pieces: list[str], count: int) -> bool:
    """Is what stands before a piece the number of a house? `12 bis, rue de la Paix`"""
    return len(pieces) > count and _HOUSE_NUMBER.match(pieces[-count - 1]) is not None


def _street_at_start(pieces: list[str]) -> str | None:
    """The first piece; with the one behind it, where that is the number of the house."""
    for count in range(1, min(_LONGEST_PIECES - 1, len(pieces)) + 1):
        if street := _street(", ".join(pieces[:count])):
            return street
    return None


def _street(text: str) -> str | None:
    text = _LABEL.sub("", text).strip(" .,")
    after_label = text.rpartition(":")[2].strip()
    before_dash = re.split(r" [-–] (?=[^\W\d_])", text)[0]
    for candidate in dict.fromkeys((after_label, before_dash, text)):
        if _is_street(candidate):
            return candidate
    return None


def _is_street(text: str) -> bool:
    if _STREET.match(text) is None or _NAME.search(text) is None:
        return False
    return _NO_STREET.search(text) is None and _PHONE.search(text) is None
