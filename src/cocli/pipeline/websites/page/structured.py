"""What a page says to machines: JSON-LD, microdata, RDFa and microformats, flattened to named values with their place.

A fact's name is in lower case without a prefix (`schema:telephone` and `p-tel` are both telephone numbers here); its
item tells which thing it belongs to, so that name, title and address of one person are found together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.page.page import Page, PageElement

MAX_FACTS = 5_000
MAX_DEPTH = 40
MAX_VALUE = 2_000

_MICROFORMATS = {
    "u-email": "email",
    "p-email": "email",
    "email": "email",
    "p-tel": "telephone",
    "u-tel": "telephone",
    "tel": "telephone",
    "p-name": "name",
    "fn": "name",
    "p-job-title": "jobtitle",
    "p-role": "jobtitle",
    "title": "jobtitle",
    "role": "jobtitle",
    "p-org": "org",
    "org": "org",
    "p-street-address": "streetaddress",
    "street-address": "streetaddress",
    "p-locality": "addresslocality",
    "locality": "addresslocality",
    "p-postal-code": "postalcode",
    "postal-code": "postalcode",
    "p-region": "addressregion",
    "region": "addressregion",
    "p-country-name": "addresscountry",
    "country-name": "addresscountry",
}
_CARDS = frozenset(("vcard", "h-card", "hcard", "adr", "h-adr"))


@dataclass(frozen=True, slots=True)
class Fact:
    """One named value of one thing."""

    name: str
    value: str
    item: int
    """Facts of one thing have one number."""
    kind: str
    """What the thing is, in lower case: `person`, `postaladdress`, `localbusiness` …"""
    method: str
    position: int
    end: int
    path: tuple[str, ...] = ()
    """The names that lead to it from the outermost thing."""


def facts_of(page: Page) -> list[Fact]:
    """All facts, in the order of the page; computed once per page."""
    kept = page.__dict__.get("_facts")
    if kept is None:
        kept = page.__dict__["_facts"] = [*_json_ld(page), *_marked_elements(page)]
    found: list[Fact] = kept
    return found


# --- JSON-LD --------------------------------------------------------------------------------------------------------


def _json_ld(page: Page) -> list[Fact]:
    facts: list[Fact] = []
    for value, position in page.json_ld:
        _flatten(value, (), 0, position, facts)
    return facts


def _flatten(value: object, path: tuple[str, ...], depth: int, position: int, facts: list[Fact]) -> None:
    if depth > MAX_DEPTH or len(facts) >= MAX_FACTS:
        return
    if isinstance(value, list):
        for item in value:
            _flatten(item, path, depth + 1, position, facts)
    elif isinstance(value, dict):
        item = len(facts) + 1
        kind = _kind(value.get("@type"))
        facts.append(Fact("@type", kind, item, kind, "json-ld", position, position, path))
        for key, inner in value.items():
            name = _name(str(key))
            facts += [Fact(name, text, item, kind, "json-ld", position, position, path) for text in _texts(inner)]
            _flatten(inner, (*path[-6:], name), depth + 1, position, facts)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield unescape(value.strip())[:MAX_VALUE]
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield str(value)[:40]
    elif isinstance(value, list):
        for item in value[:500]:
            if isinstance(item, (str, int)) and not isinstance(item, bool):
                yield unescape(str(item)[:MAX_VALUE].strip())
    elif isinstance(value, dict) and isinstance(value.get("@value"), str):
        yield value["@value"][:MAX_VALUE]


def _kind(value: object) -> str:
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, str):
        return _name(first)
    return ""


@lru_cache(maxsize=2048)
def _name(text: str) -> str:
    """`https://schema.org/Person`, `schema:Person`, `Person` → `person`."""
    return text.strip().rstrip("/").replace("#", "/").rpartition("/")[2].rpartition(":")[2].lower()[:100]


# --- attributes -----------------------------------------------------------------------------------------------------


def _marked_elements(page: Page) -> list[Fact]:
    carded = _card_elements(page)
    things = (*page.by_attribute.get("itemscope", ()), *page.by_attribute.get("typeof", ()), *carded)
    items = {id(element): number for number, element in enumerate(things)}
    facts: list[Fact] = []
    for element, name, method in _named_elements(page, {id(card) for card in carded}):
        if len(facts) >= MAX_FACTS:
            break
        facts.append(_fact(page, element, name, method, items))
    return facts


def _named_elements(page: Page, cards: set[int]) -> Iterator[tuple[PageElement, str, str]]:
    for element in page.by_attribute.get("itemprop", ()):
        yield from ((element, _name(name), "microdata") for name in element.get("itemprop").split()[:5])
    for element in page.by_attribute.get("property", ()):
        if element.tag != "meta":
            yield from ((element, _name(name), "rdfa") for name in element.get("property").split()[:5])
    for element in page.by_attribute.get("class", ()):
        for name in _microformats(element.get("class")):
            if name[1:2] == "-" or any(id(up) in cards for up in _chain(element, 20)):
                yield element, _MICROFORMATS[name], "h-card"


def _card_elements(page: Page) -> list[PageElement]:
    return [element for element in page.by_attribute.get("class", ()) if _is_card(element.get("class"))]


@lru_cache(maxsize=4096)
def _microformats(classes: str) -> tuple[str, ...]:
    return tuple(name for name in classes.split() if name in _MICROFORMATS)


@lru_cache(maxsize=4096)
def _is_card(classes: str) -> bool:
    return not _CARDS.isdisjoint(classes.split())


def _fact(page: Page, element: PageElement, name: str, method: str, items: dict[int, int]) -> Fact:
    owner = _owner(element, items)
    kind = ""
    if owner:
        kind = _name((owner.get("itemtype") or owner.get("typeof") or _card_kind(owner)).split(" ")[0])
    item = -1 - items[id(owner)] if owner is not None else 0
    path = tuple(
        _name(up.get("itemprop") or up.get("property"))
        for up in _chain(element, 12)
        if "itemprop" in up.attributes or "property" in up.attributes
    )
    return Fact(name, _value(page, element, name), item, kind, method, element.start, element.end, path)


def _owner(element: PageElement, items: dict[int, int]) -> PageElement | None:
    return next((up for up in _chain(element, 60) if id(up) in items), None)


def _chain(element: PageElement, limit: int) -> Iterator[PageElement]:
    for count, up in enumerate(element.ancestors()):
        if count >= limit:
            return
        yield up


def _value(page: Page, element: PageElement, name: str) -> str:
    href = element.get("href")
    if (
        element.tag in ("a", "link", "area")
        and href
        and (name in ("email", "telephone", "sameas", "url") or not page.text_of(element).strip())
    ):
        scheme = href.partition(":")[0].lower().strip()
        if scheme in ("mailto", "tel", "http", "https"):
            return href[:MAX_VALUE]
    for attribute in ("content", "datetime", "value"):
        if element.attributes.get(attribute):
            return element.get(attribute)[:MAX_VALUE]
    text = " ".join(page.text_of(element)[:MAX_VALUE].split())
    return text or element.get("src")[:MAX_VALUE]


def _card_kind(element: PageElement) -> str:
    if {"adr", "h-adr"} & set(element.get("class").split()):
        return "postaladdress"
    return "card"
