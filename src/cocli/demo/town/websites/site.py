"""A business' website, as it is planned: what it is, in which language, and in which form it shows its addresses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from cocli.demo.town.websites.negatives import Negative, Relation

SiteKind = Literal[
    "ordinary",
    "form-only",
    "image-only",
    "sitemap-only",
    "script-shell",
    "robots-closed",
    "robots-contact",
    "bot-wall",
    "parked",
    "for-sale",
    "no-such-name",
    "refused",
    "missing",
    "broken",
    "silent",
    "moved",
    "taken-over",
    "social",
    "directory",
]
SiteStatus = Literal[
    "alive",
    "dead",
    "parked",
    "for-sale",
    "social-only",
    "directory",
    "redirected",
    "blocked",
    "script-shell",
    "refused",
]
SitePage = Literal["home", "contact", "imprint", "about", "team"]
Charset = Literal["utf-8", "windows-1252", "utf-16", "meta-only"]

_STATUSES: dict[SiteKind, SiteStatus] = {
    "script-shell": "script-shell",
    "robots-closed": "refused",
    "bot-wall": "blocked",
    "parked": "parked",
    "for-sale": "for-sale",
    "no-such-name": "dead",
    "refused": "dead",
    "missing": "dead",
    "broken": "dead",
    "silent": "dead",
    "taken-over": "redirected",
    "social": "social-only",
    "directory": "directory",
}
_READABLE: tuple[SiteKind, ...] = ("ordinary", "form-only", "image-only", "sitemap-only", "moved")


@dataclass(frozen=True, slots=True)
class TownEmail:
    """An address that the site shows."""

    address: str
    relation: Relation
    form: str
    page: SitePage
    label: Literal["role", "person"] | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """One address of a chain, as its website lists it."""

    street: str
    city: str
    phone: str


@dataclass(frozen=True, slots=True)
class TownSite:
    """One website under one host name."""

    host: str
    domain: str
    kind: SiteKind
    language: str
    name: str
    phone: str | None
    address: str | None = None
    emails: tuple[TownEmail, ...] = ()
    """The first is the one to write to."""
    negatives: tuple[Negative, ...] = ()
    pages: tuple[SitePage, ...] = ("home", "contact", "about")
    charset: Charset = "utf-8"
    compressed: bool = False
    crawl_delay: int | None = None
    unicode_domain: str | None = None
    target: str | None = None
    """The host that a site which moved, or was taken over, sends its visitors to."""
    facebook: str | None = None
    branches: tuple[Branch, ...] = ()

    @property
    def url(self) -> str:
        return f"http://{self.host}/"

    @property
    def status(self) -> SiteStatus:
        """What triage has to find out."""
        return _STATUSES.get(self.kind, "alive")

    @property
    def readable_emails(self) -> tuple[TownEmail, ...]:
        """What a reader without a browser, who keeps to robots.txt, can find."""
        if self.kind in _READABLE:
            return self.emails
        return ()
