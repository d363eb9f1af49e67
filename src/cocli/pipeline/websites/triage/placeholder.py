"""Is this page a stand-in for a website: a domain for sale, a parked one, the default page of a web host?

A phrase alone decides nothing: it has to be a page that says little else. docs/enrichment.md has the table.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.pipeline.websites.hosts.elsewhere import is_parking, is_sale
from cocli.pipeline.websites.page.languages import either
from cocli.pipeline.websites.triage.signals import code_of, embedded, has_contact, is_thin, own_links

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.facts.facts import PageFacts
    from cocli.pipeline.websites.page.page import Page

VERY_THIN = 400
_FEW_LINKS = 5

_SALE = re.compile(either("parked.sale"), re.IGNORECASE)
_PARKED = re.compile(either("parked.parked"), re.IGNORECASE)
_LANDER = re.compile(
    r"parking-lander|sedoparking|parkingcrew|bodis(?:cdn)?\.com|d38psrni17bvxu|cashparking|\bparklogic\b|/park\.js\b",
    re.IGNORECASE,
)
"""What the scripts of parking services are called."""
_SERVER_PAGE = re.compile(
    r"default web ?site page|default page|welcome to nginx|account suspended|iis windows|test page for the",
    re.IGNORECASE,
)
"""Titles of pages that come with a server. The address on them is made up from the name of the host."""
_OFFERED = re.compile(either("parked.offered"), re.IGNORECASE)
_DEFAULT = re.compile(either("parked.default"), re.IGNORECASE | re.MULTILINE)


def sale_evidence(page: Page, facts: PageFacts, site: str) -> tuple[str, ...]:
    """Why the domain is for sale; empty where it is not."""
    if is_sale(page.url):
        return (f"the page is at {page.url}",)
    return _judged(page, facts, site, _SALE, [url for url in embedded(page) if is_sale(url)])


def parking_evidence(page: Page, facts: PageFacts, site: str) -> tuple[str, ...]:
    """Why the domain is parked, or has only the page of its host; empty where it is not."""
    if is_parking(page.url):
        return (f"the page is at {page.url}",)
    lander = _LANDER.search(code_of(page)) if is_thin(page) else None
    parked = _judged(
        page,
        facts,
        site,
        _PARKED,
        [url for url in embedded(page) if is_parking(url)] or ([lander[0]] if lander else []),
    )
    return parked or _default_page(page, facts, site)


def _judged(page: Page, facts: PageFacts, site: str, phrases: re.Pattern[str], sellers: list[str]) -> tuple[str, ...]:
    """Two signs at least: who embeds it, what the title says, what the text says, that it names the domain."""
    if not is_thin(page) or any(email.relation == "own" for email in facts.emails):
        return ()
    signs = [f"it embeds {url[:200]}" for url in sellers[:1]]
    signs += [f'its {where} says "{text}"' for where, text in _phrases(page, phrases)]
    if not signs:
        return ()
    if any(is_sale(page.absolute(e.get("href")) or "") for e in page.links[:50]):
        signs.append("it links to a market place of domains")
    title = page.title.strip().lower()
    if title.removeprefix("www.") == site:
        signs.append("its title is the bare domain")
    elif site in title and _OFFERED.search(title):
        signs.append("its title offers the domain")
    if is_thin(page, VERY_THIN):
        signs.append(f"it has {len(page.text)} characters of text")
    if own_links(page, site) < _FEW_LINKS:
        signs.append("hardly a link leads on within the site")
    if len(signs) > 2 or (len(signs) > 1 and not has_contact(facts)):
        return tuple(signs)
    return ()


def _default_page(page: Page, facts: PageFacts, site: str) -> tuple[str, ...]:
    comes_with_server = _SERVER_PAGE.search(page.title) is not None and not facts.phones
    if not is_thin(page) or (has_contact(facts) and not comes_with_server):
        return ()
    if facts.addresses or own_links(page, site) >= _FEW_LINKS:
        return ()
    signs = [f'its {where} says "{text}"' for where, text in _phrases(page, _DEFAULT)]
    if signs:
        return (*signs, "it names no contact, and hardly a link leads on")
    return ()


def _phrases(page: Page, phrases: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    for where, text in (("title", page.title), ("text", page.text[:3_000])):
        match = phrases.search(text)
        if match:
            yield where, " ".join(match[0].split())[:120]
