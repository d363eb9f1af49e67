"""Credits: "Website by", "Tvorba webu", "ホームページ制作". What stands behind one belongs to who made the site."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from cocli.pipeline.websites.page.languages import either
from cocli.pipeline.websites.page.page import host_of
from cocli.pipeline.websites.page.suffixes import registrable

if TYPE_CHECKING:
    from cocli.pipeline.websites.page.page import Page

CREDIT_CHARS = 160
MAX_LINKS = 2_000
_ALONE = either("credit.alone")
_WORK = either("credit.work")
_AND = either("credit.and")
_BY = either("credit.by")
_SITE = either("credit.site")
_START = r"(?<![a-z\u00e0-\u024f\u0430-\u044f\u03b1-\u03c9])"
_CREDIT = (
    rf"{_START}(?:{_ALONE})|(?:{_WORK})\s{{0,3}}(?:(?:{_AND}) \w+ )?(?:{_BY})(?!\w)|"
    rf"{_START}(?:{_SITE}) ?[:：](?= ?[^\W\d_])"
)
"""Of texts in lower case."""
_OWN_ADDRESS = rf"(?:{_SITE}|pages?|web) ?[:：] ?(?:https?://\S|www\.|[\w-]{{2,60}}\.[a-z]{{2,12}}(?![\w@]))\S*"
"""`Website: www.firm.com`: the address of this site, not who made it."""


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Made where the first page is read: a worker whose pages others read has no use for them, and they take long."""
    return re.compile(_CREDIT), re.compile(_OWN_ADDRESS)


@lru_cache(maxsize=8192)
def is_credit(text: str) -> bool:
    """Does a text say that somebody made the site?"""
    (credit, own_address), text = _patterns(), text.lower()
    return credit.search(text) is not None and credit.search(own_address.sub(" ", text)) is not None


def is_behind_credit(page: Page, position: int) -> bool:
    """Does a credit stand before a position, on its line or the one above?"""
    lines = page.before(position, CREDIT_CHARS).rsplit("\n", 2)[-2:]
    return is_credit("\n".join(lines))


def credited_domains(page: Page) -> frozenset[str]:
    """The domains that links behind a credit lead to, or links that are one; computed once per page."""
    kept: frozenset[str] | None = page.__dict__.get("_credited")
    if kept is None:
        kept = page.__dict__["_credited"] = frozenset(_credited(page)) - page.own_domains
    return kept


def _credited(page: Page) -> set[str]:
    found: set[str] = set()
    for element in page.links[:MAX_LINKS]:
        href = element.get("href")
        domain = registrable(host_of(href)) if href[:4].lower() == "http" else None
        if domain is None or domain in page.own_domains or domain in found:
            continue
        line = page.before(element.start, CREDIT_CHARS).rpartition("\n")[2]
        if is_credit(line[-80:] + page.text_of(element)[:80]):
            found.add(domain)
    return found
