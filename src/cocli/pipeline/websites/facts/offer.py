"""Is an address offered as a contact, or does it stand there in passing? By what surrounds it, in all languages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from cocli.pipeline.websites.facts.emails.around import label_before
from cocli.pipeline.websites.page.kind import kind_of
from cocli.pipeline.websites.page.languages import either

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.facts.finding import Finding
    from cocli.pipeline.websites.page.page import Page, PageElement

Offer = Literal["form", "contact-word", "contact-page", "footer", "label", "imprint"]
OFFERS: tuple[Offer, ...] = ("form", "contact-word", "contact-page", "footer", "label", "imprint")
"""Contact contexts, those first that say most."""
_HEADING_LINES = 3
_HEADING_CHARS = 60
_FOOT = re.compile(r"(?:^|[ _-])(?:foot|bottom-?bar|colophon|sub-?foot|page-?end|copyright)", re.IGNORECASE)
_PARTNER = re.compile(either("block.partner"), re.IGNORECASE)
_PARTNER_LINES = 6


def offer_of(finding: Finding, page: Page) -> Offer | None:
    """The context that says most, or None for an address in passing."""
    return next(_contexts(finding, page), None)


def _contexts(finding: Finding, page: Page) -> Iterator[Offer]:
    if _receives_a_form(finding, page):
        yield "form"
    kind = kind_of(page.url, page.title)
    if finding.where != "script" and kind != "privacy" and _is_behind_contact_word(finding, page):
        yield "contact-word"
    if kind == "contact":
        yield "contact-page"
    if any(map(_is_foot, page.enclosing(finding.position))):
        yield "footer"
    if finding.where == "text" and kind != "privacy" and label_before(page.text, finding.position):
        yield "label"
    if kind == "imprint":
        yield "imprint"


def _receives_a_form(finding: Finding, page: Page) -> bool:
    if finding.where not in ("attribute", "link"):
        return False
    if any(finding.value in form.get("action").lower() for form in page.by_tag.get("form", ())):
        return True
    hidden = (field for field in page.by_tag.get("input", ()) if field.get("type").lower() == "hidden")
    return any(field.get("value").strip().lower() == finding.value for field in hidden)


def _is_behind_contact_word(finding: Finding, page: Page) -> bool:
    lines = page.before(finding.position, 3 * _HEADING_CHARS).split("\n")
    headings = [line for line in lines[-1 - _HEADING_LINES :] if 2 < len(line.strip()) <= _HEADING_CHARS]
    shown = ""
    if finding.where == "link":
        shown = page.text[finding.position : finding.position + _HEADING_CHARS].partition("\n")[0]
    return any(kind_of("", text) == "contact" for text in (*headings, shown) if text)


def _is_foot(element: PageElement) -> bool:
    if element.tag in ("html", "body", "main"):
        return False
    return element.tag == "footer" or _FOOT.search(f"{element.get('class')} {element.get('id')}") is not None


def is_among_partners(page: Page, position: int) -> bool:
    """Does a heading over partners, sponsors or suppliers stand above, or on the same line?"""
    lines = page.before(position, 5 * _HEADING_CHARS).split("\n")[-1 - _PARTNER_LINES :]
    for line in reversed(lines):
        if len(line) <= _HEADING_CHARS and kind_of("", line) == "contact":
            return False  # a menu names both, and what follows it is the company's
        if len(line) <= _HEADING_CHARS and _PARTNER.search(line):
            return True
    return False
