"""Which address of a site is the one to write to. The rule is one sort key, explained in docs/extractors.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.emails.words import GENERAL_ROLES
from cocli.pipeline.websites.page.languages import set_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.pipeline.websites.page.kind import PageKind
    from cocli.pipeline.websites.site.facts import SiteEmail

_RELATIONS = ("own", "freemail", "other")
PAGES: tuple[PageKind, ...] = ("contact", "imprint", "home", "about", "team", "other", "privacy")
"""Kinds of pages, those first on which an address is most likely the one to write to."""
_METHODS = ("mailto", "json-ld", "microdata", "rdfa", "h-card", "text")
_SELLING = set_of("email.selling_role")
_GENERAL, _SELLS, _UNCLEAR, _PERSON, _SPECIAL = range(5)
_READERS = ("for everybody", "for buyers", "its reader is not known", "a person's", "for a special matter")


def primary_of(emails: Iterable[SiteEmail]) -> SiteEmail | None:
    """The address to write to, of those that are delivered: never one of an agency, a platform or an authority."""
    return min((email for email in emails if email.delivered), key=_rank, default=None)


def reason_of(email: SiteEmail) -> str:
    """Why it is the primary address, in words."""
    best = min((PAGES.index(kind) for kind in email.kinds), default=PAGES.index("other"))
    return f"{email.reason}; {_READERS[_reader(email)]}; page: {PAGES[best]}; found as {email.method}"


def _rank(email: SiteEmail) -> tuple[int, bool, int, int, int, int, int, str]:
    return (
        _RELATIONS.index(email.relation) if email.relation in _RELATIONS else len(_RELATIONS),
        email.doubt is not None,
        _reader(email),
        min((PAGES.index(kind) for kind in email.kinds), default=len(PAGES)),
        _METHODS.index(email.method) if email.method in _METHODS else len(_METHODS),
        -email.pages_seen,
        email.position,
        email.value,
    )


def _reader(email: SiteEmail) -> int:
    if email.label == "person":
        return _PERSON
    if email.label is None:
        return _UNCLEAR
    if email.name in GENERAL_ROLES:
        return _GENERAL
    if email.name in _SELLING:
        return _SELLS
    return _SPECIAL
