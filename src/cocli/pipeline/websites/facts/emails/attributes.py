"""Addresses in attributes: plain, encoded, or in two parts that a script of the page puts together."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from cocli.pipeline.websites.facts.emails.address import Address, read_address
from cocli.pipeline.websites.facts.emails.candidate import EmailCandidate
from cocli.pipeline.websites.facts.emails.cloaks import CLOAK_ATTRIBUTES, data_cloak
from cocli.pipeline.websites.facts.emails.embedded import embedded
from cocli.pipeline.websites.facts.emails.links import is_mailto, recipients
from cocli.pipeline.websites.facts.emails.spoken import spoken
from cocli.pipeline.websites.page.encodings import from_base64, rot13, unescaped
from cocli.pipeline.websites.page.wordlist import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.page.page import Page, PageElement

MAX_VALUE = 200_000

_SKIPPED = words(
    """
    class id style src srcset href rel type width height target placeholder sizes loading role lang dir alt for name d
    viewbox fill stroke points transform color bgcolor align valign border cellpadding cellspacing pattern integrity
    crossorigin tabindex method enctype autocomplete itemtype itemscope itemprop property typeof data-src data-srcset
    data-lazy-src data-original data-bg data-placeholder data-cfemail
    """
)
_READABLE = frozenset(("title", "aria-label", "content", "summary", "label", "datetime"))
_USERS = words(
    """
    user name local u first part1 mailbox account username login before prefix left a
    """
)
_DOMAINS = words("domain host d last part2 site website server hostname after dom right b")
_ENDINGS = words("tld ext suffix extension topleveldomain part3 c")
_FIELDS = frozenset(("input", "textarea", "select", "label"))
_HINT = re.compile(r"mail|enc|rot|crypt|obf|cloak|protect|addr|contact|spam|hidden|href|e-?m", re.IGNORECASE)


def in_attributes(page: Page) -> Iterator[EmailCandidate]:
    for name, elements in page.by_attribute.items():
        if name.startswith("data-") and name.rsplit("-", 1)[-1] in _USERS:
            for element in elements:
                yield from _in_parts(element)
        if name in CLOAK_ATTRIBUTES:
            for element in elements:
                yield from _at(element, data_cloak(element), "link")
        if name in _SKIPPED or name.startswith("on"):
            continue
        for element in elements:
            value = element.attributes[name]
            if value and 3 < len(value) <= MAX_VALUE:
                yield from _in_value(element, name, value, page.own_domains)


def in_alternatives(page: Page) -> Iterator[EmailCandidate]:
    """An image whose alternative text is the address that it shows."""
    for element in page.by_attribute.get("alt", ()):
        text = element.get("alt")
        if "@" in text and len(text) <= 320:
            address = read_address(text.strip()) or read_address(text.rpartition(":")[2].strip())
            if address:
                yield EmailCandidate(str(address), "attribute", "attribute", element.start, element.end)


def _at(element: PageElement, found: Iterator[tuple[str, str]], where: str) -> Iterator[EmailCandidate]:
    for address, method in found:
        yield EmailCandidate(address, method, where, element.start, element.end)


def _in_value(element: PageElement, name: str, value: str, own_domains: frozenset[str]) -> Iterator[EmailCandidate]:
    if (name == "value" or element.tag in _FIELDS) and not _is_prefilled_on_purpose(element):
        return
    if is_mailto(value):
        yield from _at(element, ((address, "attribute") for address in recipients(value)), "attribute")
    elif name == "action" and read_address(unquote(value.partition("?")[0].rpartition("/")[2])):
        # Services that forward forms take the address at the end of theirs.
        address = unquote(value.partition("?")[0].rpartition("/")[2])
        yield EmailCandidate(address, "attribute", "attribute", element.start, element.end)
    elif _has_sign(value):
        yield from _signed(element, name, value, own_domains)
    elif name.startswith("data-") and len(value) <= 400:
        yield from _at(element, _hidden(name, value), "attribute")


def _has_sign(value: str) -> bool:
    return "@" in value or "%40" in value or "0040" in value or "\\x40" in value or "64;" in value or "&commat" in value


def _signed(element: PageElement, name: str, value: str, own_domains: frozenset[str]) -> Iterator[EmailCandidate]:
    found = False
    for address, context in embedded(value):
        found = True
        method = "meta" if element.tag == "meta" else "attribute"
        where = "head" if element.tag == "meta" else "attribute"
        yield EmailCandidate(address, method, where, element.start, element.end, context if len(value) > 320 else None)
    if not found and name.startswith("data-") and len(value) <= 320:
        yield from _at(element, _disguised(name, unescaped(value), own_domains), "attribute")


def _is_prefilled_on_purpose(element: PageElement) -> bool:
    """A recipient in a hidden field or a choice is an address; what stands in a visible field is an example.

    A field that nobody can change is there to be copied.
    """
    if element.tag in ("option", "button", "param", "data") or element.get("type").lower() == "hidden":
        return True
    return "readonly" in element.attributes


def _hidden(name: str, value: str) -> Iterator[tuple[str, str]]:
    """No sign to be seen: base64, or written out."""
    decoded = from_base64(value) if len(value) >= 8 else None
    if decoded and ("@" in decoded or "%40" in decoded):
        text = unquote(decoded)
        if is_mailto(text):
            yield from ((address, "base64") for address in recipients(text))
        else:
            yield from ((address, "base64") for address, _ in embedded(text))
    elif _HINT.search(name):
        for address, _, _ in spoken(value):
            yield str(address), "attribute"
        if "[at]" in value.lower() or "(at)" in value.lower():
            decoded = rot13(re.sub(r"[\[(]at[\])]", "@", value, flags=re.IGNORECASE))
            if read_address(decoded):
                yield decoded, "rot13"


def _disguised(name: str, value: str, own_domains: frozenset[str]) -> Iterator[tuple[str, str]]:
    """A sign, but no domain after it: backwards, or ROT13."""
    for method, decoded in (("reversed", value.strip()[::-1]), ("rot13", rot13(value.strip()))):
        address = read_address(decoded.removeprefix("mailto:"))
        if address and (_HINT.search(name) or address.registrable in own_domains):
            yield str(address), method
            return


def _in_parts(element: PageElement) -> Iterator[EmailCandidate]:
    """`data-user="info" data-domain="firm.de"`, also in three parts, also each part in base64 or backwards."""
    parts: dict[str, str] = {}
    for name in element.attributes:
        last = name.rsplit("-", 1)[-1] if name.startswith("data-") else ""
        for kind, known in (("user", _USERS), ("domain", _DOMAINS), ("ending", _ENDINGS)):
            if last in known:
                parts.setdefault(kind, (element.get(name)).strip())
    if "user" not in parts or "domain" not in parts or "@" in parts["user"]:
        return
    address = _joined(parts)
    if address:
        yield EmailCandidate(str(address), "data-parts", "attribute", element.start, element.end)


def _joined(parts: dict[str, str]) -> Address | None:
    user, domain, ending = parts["user"], parts["domain"].lstrip("@"), parts.get("ending", "").lstrip(".")
    plain = f"{user}@{domain}.{ending}" if ending else f"{user}@{domain}"
    decoded = (from_base64(user), from_base64(domain))
    encoded = f"{decoded[0]}@{decoded[1]}" if all(decoded) else ""
    for text in (plain, plain.replace(f".{ending}", "") if ending else "", encoded):
        address = read_address(text) if text else None
        if address:
            return address
    backwards = f"{user[::-1]}@{domain[::-1]}"
    return read_address(backwards)
