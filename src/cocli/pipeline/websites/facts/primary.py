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


def primary_of(emails: Iterable[SiteEmail]) -> SiteEmail | None:
    """The address to write to; never one of an agency, a platform or an authority."""
    emails = list(emails)
    ours = [email for email in emails if email.relation in _RELATIONS[:2]]
    if not ours:
        ours = [
            email
            for email in emails
            if email.relation == "other" and email.kinds & {"contact", "imprint"} and email.linked
        ]
    return min(ours, key=_rank, default=None)


def _rank(email: SiteEmail) -> tuple[int, int, int, int, int, int, str]:
    return (
        _RELATIONS.index(email.relation) if email.relation in _RELATIONS else len(_RELATIONS),
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
