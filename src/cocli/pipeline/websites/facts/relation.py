"""Whose an address is, and who reads it: relation to the site, role or person. The rules are in docs/extractors.md."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from cocli.pipeline.websites.facts.blocks import BlockOwner, owner_of_block
from cocli.pipeline.websites.facts.credits import credited_domains, is_behind_credit, is_credit
from cocli.pipeline.websites.facts.emails.words import GENERAL_ROLES, PRIVACY_ROLES, SPECIAL_ROLES
from cocli.pipeline.websites.facts.identity import plain
from cocli.pipeline.websites.facts.offer import is_among_partners
from cocli.pipeline.websites.hosts.providers import is_authority, is_freemail, is_platform
from cocli.pipeline.websites.page.languages import either
from cocli.pipeline.websites.page.suffixes import registrable

if TYPE_CHECKING:
    from cocli.models.website import ContactLabel
    from cocli.pipeline.websites.facts.finding import Finding
    from cocli.pipeline.websites.facts.identity import SiteIdentity
    from cocli.pipeline.websites.page.page import Page, PageElement

Relation = Literal["own", "freemail", "agency", "platform", "authority", "other"]
Doubt = Literal["copied", "foreign", "officer", "quoted", "partner", "link-differs"]
"""The page is a copy of somebody else's; the address is that one's; who watches over privacy; a review or a comment;
partners and suppliers; a link that shows another address than it leads to."""

_BLOCKS: dict[BlockOwner, Relation] = {
    "agency": "agency",
    "authority": "authority",
    "officer": "other",
    "service": "platform",
}
_NOT_THEIRS = re.compile(either("credit.quote"), re.IGNORECASE)
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
    if (made_by := _maker(finding, page)) is not None or registered in credited_domains(page):
        return made_by or "agency"
    if registered in identity.foreign or identity.copied:
        return "other"
    if identity.fits(registered.partition(".")[0]) or finding.method in ("json-ld", "microdata", "rdfa", "meta"):
        return "own"
    # Without an address of the page, nothing contradicts what it shows as its contact.
    if not identity.domains and finding.where in ("link", "data"):
        return "own"
    return "other"


def _freemail(local: str, finding: Finding, page: Page, identity: SiteIdentity) -> Relation:
    maker = _maker(finding, page)
    if maker is not None and not (maker == "agency" and identity.fits(local)):
        return maker
    if identity.fits(local):
        return "freemail"
    if of_somebody(page, finding.position):
        return "other"
    return "freemail"


def _maker(finding: Finding, page: Page) -> Relation | None:
    """Who made the site, or watches over it, where a credit or a heading says so, or the words of the link do."""
    if finding.where in ("data", "head"):
        return None
    owner = owner_of_block(page, finding.position)
    if owner is not None:
        return _BLOCKS[owner]
    if is_behind_credit(page, finding.position):
        return "agency"
    if finding.where == "link" and is_credit(_link_text(finding, page)):
        return "agency"
    return None


def _link_text(finding: Finding, page: Page) -> str:
    element = next((up for up in page.enclosing(finding.position) if up.tag in ("a", "area")), None)
    if element is None:
        return ""
    return page.text_of(element)[:80]


def doubt_of(finding: Finding, page: Page, identity: SiteIdentity) -> Doubt | None:
    """Why an address is not offered by this site, though it stands there; None where nothing speaks against it."""
    registered = registrable(finding.value.partition("@")[2]) or ""
    if identity.owns(registered):
        return None
    if identity.copied and not identity.fits(finding.value.partition("@")[0]):
        return "copied"
    if registered in identity.foreign:
        return "foreign"
    if finding.value.partition("@")[0] in PRIVACY_ROLES:
        return "officer"
    if finding.where not in ("data", "head"):
        if owner_of_block(page, finding.position) == "officer":
            return "officer"
        if of_somebody(page, finding.position):
            return "quoted"
        if is_among_partners(page, finding.position):
            return "partner"
    return None


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
