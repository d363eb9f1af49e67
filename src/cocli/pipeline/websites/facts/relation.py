"""Whose an address is, and who reads it: relation to the site, role or person. The rules are in docs/extractors.md."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from cocli.pipeline.websites.facts.blocks import is_somebody_elses
from cocli.pipeline.websites.facts.emails.words import GENERAL_ROLES, SPECIAL_ROLES
from cocli.pipeline.websites.facts.identity import plain
from cocli.pipeline.websites.hosts.providers import is_authority, is_freemail, is_platform
from cocli.pipeline.websites.page.languages import either
from cocli.pipeline.websites.page.suffixes import registrable

if TYPE_CHECKING:
    from cocli.models.website import ContactLabel
    from cocli.pipeline.websites.facts.finding import Finding
    from cocli.pipeline.websites.facts.identity import SiteIdentity
    from cocli.pipeline.websites.page.page import Page, PageElement

Relation = Literal["own", "freemail", "agency", "platform", "authority", "other"]

_CREDIT = re.compile(
    rf"{either('credit.alone')}|(?:{either('credit.work')})\s{{0,3}}(?:(?:{either('credit.and')}) \w+ )?"
    rf"(?:{either('credit.by')})",
    re.IGNORECASE,
)
_NOT_THEIRS = re.compile(either("credit.quote"), re.IGNORECASE)
_CREDIT_CHARS = 160
_PERSON = re.compile(r"([a-z\u00df-\u024f]{2,})[._-]([a-z\u00df-\u024f-]{2,})\Z")


def relation_of(finding: Finding, page: Page, identity: SiteIdentity) -> Relation:
    """Whose the address is, as seen from one page of the site."""
    local, _, domain = finding.value.partition("@")
    registered = registrable(domain) or domain
    if identity.owns(registered):
        return "own"
    if is_authority(domain, registered):
        return "authority"
    if is_platform(registered):
        return "platform"
    if is_freemail(registered):
        return _freemail(local, finding, page, identity)
    if _is_credit(finding, page):
        return "agency"
    if identity.fits(registered.partition(".")[0]) or finding.method in ("json-ld", "microdata", "rdfa", "meta"):
        return "own"
    # Without an address of the page, nothing contradicts what it shows as its contact.
    if not identity.domains and finding.where in ("link", "data"):
        return "own"
    return "other"


def _freemail(local: str, finding: Finding, page: Page, identity: SiteIdentity) -> Relation:
    if identity.fits(local):
        return "freemail"
    if _is_credit(finding, page):
        return "agency"
    if of_somebody(page, finding.position):
        return "other"
    return "freemail"


def _is_credit(finding: Finding, page: Page) -> bool:
    """Does a credit such as "Website by" stand before it, on its line or the one above, or as a heading over it?"""
    before = page.before(finding.position, _CREDIT_CHARS)
    lines = before.rsplit("\n", 2)[-2:]
    return _CREDIT.search("\n".join(lines)) is not None or is_somebody_elses(page, finding.position)


def of_somebody(page: Page, position: int) -> bool:
    """Inside a review, a comment or a quotation."""
    return any(_quotes(element) for element in page.enclosing(position))


def _quotes(element: PageElement) -> bool:
    return element.tag in ("blockquote", "cite") or (
        # What a whole page is called says nothing of its parts: `<body class="comments-closed">`.
        element.tag not in ("html", "body", "main")
        and _NOT_THEIRS.search(element.get("class") + " " + element.get("id")) is not None
    )


def label_of(address: str, identity: SiteIdentity) -> tuple[ContactLabel | None, str | None]:
    """Role or person, with its name: `("role", "sales")`, `("person", "Wilma Tann")`; twice None where unclear."""
    local = address.partition("@")[0].partition("+")[0]
    first = re.split(r"[._-]", local)[0]
    for name in (local, first):
        if name in GENERAL_ROLES or name in SPECIAL_ROLES:
            return "role", name
    if identity.fits(plain(local)):
        return None, None
    person = _PERSON.match(local)
    if person:
        return "person", " ".join(part.capitalize() for part in person.groups())
    return None, None
