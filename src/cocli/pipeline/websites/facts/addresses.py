"""Postal addresses: marked up for machines, in an `address` element, or as lines of text around a postcode."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.address_lines import addresses_in
from cocli.pipeline.websites.facts.blocks import is_somebody_elses
from cocli.pipeline.websites.facts.country import country_of
from cocli.pipeline.websites.page.digits import rows_of_digits
from cocli.pipeline.websites.page.structured import Fact, facts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.page.digits import Row
    from cocli.pipeline.websites.page.page import Page

MAX_ADDRESSES = 50
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
    if not any(finding.street for finding in found.values()):
        for finding in (*_in_elements(page, country), *_in_text(page, country)):
            known = any(_same(finding, other) for other in found.values())
            if not known and len(found) < MAX_ADDRESSES and not is_somebody_elses(page, finding.position):
                found.setdefault(finding.full.lower(), finding)
    return tuple(found.values())[:MAX_ADDRESSES]


def _same(finding: AddressFinding, other: AddressFinding) -> bool:
    """The same street, and no other postcode."""
    return finding.street == other.street and (finding.postcode or other.postcode) == (
        other.postcode or finding.postcode
    )


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
    for written in addresses_in(text, digits, region):
        yield _address(page, {**written.parts, "country": region}, method, offset + written.start, offset + written.end)
