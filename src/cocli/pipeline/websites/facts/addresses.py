"""Postal addresses: marked up for machines, in an `address` element, or as lines of text around a postcode."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.country import country_of
from cocli.pipeline.websites.page.digits import rows_of_digits
from cocli.pipeline.websites.page.structured import Fact, facts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.page.digits import Row
    from cocli.pipeline.websites.page.page import Page

MAX_ADDRESSES = 50
MAX_POSTCODES = 1_000
_POSTCODES = {
    "DE": r"\d{5}",
    "FR": r"\d{5}",
    "IT": r"\d{5}",
    "ES": r"\d{5}",
    "FI": r"\d{5}",
    "TR": r"\d{5}",
    "UA": r"\d{5}",
    "MX": r"\d{5}",
    "AT": r"\d{4}",
    "CH": r"\d{4}",
    "BE": r"\d{4}",
    "LU": r"\d{4}",
    "DK": r"\d{4}",
    "NO": r"\d{4}",
    "HU": r"\d{4}",
    "BG": r"\d{4}",
    "SI": r"\d{4}",
    "NL": r"\d{4} ?[A-Z]{2}",
    "PL": r"\d{2}-\d{3}",
    "PT": r"\d{4}-\d{3}",
    "GR": r"\d{3} ?\d{2}",
    "SE": r"\d{3} ?\d{2}",
    "CZ": r"\d{3} ?\d{2}",
    "SK": r"\d{3} ?\d{2}",
    "GB": r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}",
    "US": r"[A-Z]{2},? \d{5}(?:-\d{4})?",
    "CA": r"[A-Z]{2},? [A-Z]\d[A-Z] ?\d[A-Z]\d",
    "AU": r"[A-Z]{2,3},? \d{4}",
}
_FIRST_DIGITS = {
    **dict.fromkeys(("DE", "FR", "IT", "ES", "FI", "TR", "UA", "MX", "US"), (5,)),
    **dict.fromkeys(("AT", "CH", "BE", "LU", "DK", "NO", "HU", "BG", "SI", "NL", "PT", "AU"), (4,)),
    **dict.fromkeys(("GR", "SE", "CZ", "SK"), (3, 5)),
    "PL": (2,),
    "GB": (1, 2, 3),
    "CA": (1,),
}
"""How many digits stand together where a postcode's first one stands."""
_LETTERS_BEFORE = 5
"""Characters of a postcode before its first digit, at most."""
_CITY_FIRST = frozenset(("GB", "US", "CA", "AU"))
_CITY = r"[^\W\d_][^\d,;|\n•·]{1,40}"
_CITY_AFTER = re.compile(rf",? {{1,2}}({_CITY})")
_CITY_BEFORE = re.compile(rf"(?:^|[,;|\n•·\t]) *({_CITY}),? *\Z")
_STREET = re.compile(r"(?=.*[^\W\d_]{2})(?=.*\d)[\w .,'’/&°º-]{5,80}\Z")
_NAMES = {
    "streetaddress": "street",
    "postalcode": "postcode",
    "addresslocality": "city",
    "addressregion": "region",
    "addresscountry": "country",
}


@dataclass(frozen=True, slots=True)
class AddressFinding:
    full: str
    street: str | None
    postcode: str | None
    city: str | None
    region: str | None
    country: str | None
    method: str
    context: str
    position: int


def find_addresses(page: Page, country: str | None = None) -> tuple[AddressFinding, ...]:
    """The addresses of a page. What is marked up comes first; text is read only where nothing is."""
    found: dict[str, AddressFinding] = {}
    for finding in _in_markup(page):
        found.setdefault(finding.full.lower(), finding)
    if not found:
        for finding in (*_in_elements(page, country), *_in_text(page, country)):
            known = any(
                finding.street == other.street and finding.postcode == other.postcode for other in found.values()
            )
            if not known and len(found) < MAX_ADDRESSES:
                found.setdefault(finding.full.lower(), finding)
    return tuple(found.values())[:MAX_ADDRESSES]


def _in_markup(page: Page) -> Iterator[AddressFinding]:
    groups: dict[tuple[str, int], list[Fact]] = defaultdict(list)
    for fact in facts_of(page):
        if fact.name in _NAMES and fact.value:
            groups[(fact.method, fact.item)].append(fact)
    for facts in groups.values():
        parts = {_NAMES[fact.name]: " ".join(fact.value.split())[:200] for fact in reversed(facts)}
        if "street" in parts or ("city" in parts and "postcode" in parts):
            yield _address(page, parts, facts[0].method, facts[0].position, facts[0].end)


def _address(page: Page, parts: dict[str, str], method: str, start: int, end: int) -> AddressFinding:
    town = " ".join(part for part in (parts.get("postcode"), parts.get("city")) if part)
    lines = (parts.get("street"), town, parts.get("region"), parts.get("country"))
    return AddressFinding(
        full=", ".join(line for line in lines if line),
        street=parts.get("street"),
        postcode=parts.get("postcode"),
        city=parts.get("city"),
        region=parts.get("region"),
        country=parts.get("country"),
        method=method,
        context=page.context(start, end),
        position=start,
    )


def _in_elements(page: Page, country: str | None) -> Iterator[AddressFinding]:
    for element in page.by_tag.get("address", ()):
        if 10 < element.end - element.start < 400:
            text = page.text_of(element)
            inner = list(_in_lines(page, text, element.start, country, "address-element", rows_of_digits(text)))
            yield from inner


def _in_text(page: Page, country: str | None) -> Iterator[AddressFinding]:
    yield from _in_lines(page, page.text, 0, country, "text", page.digits)


def _in_lines(
    page: Page, text: str, offset: int, country: str | None, method: str, digits: list[Row]
) -> Iterator[AddressFinding]:
    region = country_of(page, country) or ""
    for count, match in enumerate(_postcodes(text, digits, region)):
        if count >= MAX_POSTCODES:
            return
        town = _city_before(text, match.start()) if region in _CITY_FIRST else _city_after(text, match.end())
        street = _street_before(text, match.start() if town is None or region not in _CITY_FIRST else town[1])
        if town and street:
            parts = {"street": street, "postcode": match[1], "city": town[0], "country": region}
            if region in ("US", "CA", "AU"):
                parts["region"], _, parts["postcode"] = match[1].replace(",", "").partition(" ")
            yield _address(page, parts, method, offset + match.start(), offset + match.end())


def _postcodes(text: str, digits: list[Row], region: str) -> Iterator[re.Match[str]]:
    """The postcodes of a text. They begin shortly before some digits, and digits are found much faster than they."""
    pattern, lengths = _postcode_pattern(region), _FIRST_DIGITS.get(region)
    end = 0
    for start, after in digits:
        if pattern is None or start < end or (lengths and after - start not in lengths):
            continue
        for at in range(max(end, start - _LETTERS_BEFORE), start + 1):
            match = pattern.match(text, at)
            if match is not None:
                end = match.end()
                yield match
                break


@cache
def _postcode_pattern(region: str) -> re.Pattern[str] | None:
    postcode = _POSTCODES.get(region)
    if postcode is None:
        return None
    prefix = "" if region in _CITY_FIRST else f"(?:{region}-)?"
    return re.compile(rf"(?<![\w-]){prefix}({postcode})(?![\w-])")


def _city_after(text: str, end: int) -> tuple[str, int] | None:
    match = _CITY_AFTER.match(text, end)
    if match:
        return (match[1].strip(" ,.-–\t"), match.start(1))
    return None


def _city_before(text: str, start: int) -> tuple[str, int] | None:
    match = _CITY_BEFORE.search(text[max(0, start - 50) : start])
    if match:
        return (match[1].strip(" ,.-–\t"), max(0, start - 50) + match.start(1))
    return None


def _street_before(text: str, start: int) -> str | None:
    """The piece of text before a town: on the same line, or the line above."""
    pieces = [piece.strip(" \t–-|·•:") for piece in re.split(r"[\n,;|•·]", text[max(0, start - 120) : start])]
    pieces = [piece for piece in pieces if piece]
    if not pieces:
        return None
    last = pieces[-1].rpartition(":")[2].strip()
    if _STREET.match(last):
        return last
    return None
