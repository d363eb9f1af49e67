"""Pages of one company that campaigns know under different hashes: a list brought it in, and a search found it too.

Sure enough to share a page is who has the same website to itself, the same phone number and the same name, and whose
addresses do not contradict. Branches of a chain have all of that in common but the address, so there are three guards
more: two companies of one campaign are never one, since the campaign has compared them with all its evidence; neither
is a company that fits several pages, nor one of several companies that fit a page.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from cocli.keys.identities import normalised

if TYPE_CHECKING:
    from cocli.models.company import CompanyFacts
    from cocli.models.prospect import Prospect
    from cocli.results.companies.pages import CompanyPage

_DOMAIN = re.compile(rb"^  domain: \"([^\"\\]+)\"\r?$", re.MULTILINE)
_PHONE = re.compile(rb"^  phone_e164: \"(\+[0-9]+)\"\r?$", re.MULTILINE)
_DIGITS = re.compile(r"[0-9]+")

Contact = tuple[str, str]
"""A domain and a phone number."""


class Likeness:
    """The pages of a store by website and phone number: seen without taking the files apart."""

    def __init__(self) -> None:
        self._pages: dict[Contact, dict[str, CompanyPage]] = {}
        self._rivals: Counter[Contact] = Counter()

    def know(self, page: CompanyPage) -> None:
        """A page that is there, or that has changed."""
        if contact := _contact_on(page):
            self._pages.setdefault(contact, {})[page.slug] = page

    def forget(self, page: CompanyPage) -> None:
        if contact := _contact_on(page):
            self._pages.get(contact, {}).pop(page.slug, None)

    def count(self, prospect: Prospect) -> None:
        """One of the companies of the campaign that is refreshed now."""
        if contact := _contact(prospect.domain, prospect.phone_e164):
            self._rivals[contact] += 1

    def begin(self) -> None:
        """Another campaign is refreshed from now on."""
        self._rivals.clear()

    def page_of(self, facts: CompanyFacts, own: CompanyPage | None) -> CompanyPage | None:
        """The page that is surely about the company of these facts, other than the one that it has."""
        contact = _contact(facts.domain, facts.phone_e164)
        if contact is None or self._rivals[contact] > 1:
            return None
        campaigns = set(facts.campaigns)
        if own and own.facts:
            campaigns.update(own.facts.campaigns)
        others = [page for slug, page in self._pages.get(contact, {}).items() if own is None or slug != own.slug]
        if len(others) == 1 and _is_one(others[0], facts, campaigns):
            return others[0]
        return None


def _contact_on(page: CompanyPage) -> Contact | None:
    data = page.stored.data
    domain, phone = _DOMAIN.search(data), _PHONE.search(data)
    if domain and phone:
        return domain[1].decode("utf-8", "replace"), phone[1].decode()
    return None


def _contact(domain: str | None, phone: str | None) -> Contact | None:
    if domain and phone:
        return domain, phone
    return None


def _is_one(page: CompanyPage, facts: CompanyFacts, campaigns: set[str]) -> bool:
    known = page.facts
    if known is None or not known.name or not facts.name or campaigns & set(known.campaigns):
        return False
    same_name = normalised(known.name) == normalised(facts.name)
    return same_name and _may_be_one_address(known.address, facts.address)


def _may_be_one_address(known: str | None, found: str | None) -> bool:
    """Whether they share a number of a house or a postcode, or one of them names none."""
    ours, theirs = set(_DIGITS.findall(known or "")), set(_DIGITS.findall(found or ""))
    return not ours or not theirs or bool(ours & theirs)
