"""What several judges of a page ask of it: how little it says, and where its scripts and frames come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.pipeline.websites.page.url import site_of_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.facts.facts import PageFacts
    from cocli.pipeline.websites.page.page import Page

THIN_CHARS = 1_500
"""Characters of text of a page that says hardly anything. The pages of companies have more."""
_CODE_CHARS = 20_000


def is_thin(page: Page, chars: int = THIN_CHARS) -> bool:
    return len(page.text) < chars


def own_links(page: Page, site: str) -> int:
    """How many links lead on within the site, up to a few."""
    found = set()
    for element in page.links[:300]:
        address = page.absolute(element.get("href"))
        if address and address.partition("#")[0] != page.url and site_of_url(address) == site:
            found.add(address.partition("#")[0])
        if len(found) > 10:
            break
    return len(found)


def has_contact(facts: PageFacts) -> bool:
    """Does it name a way to reach somebody who has to do with the site?"""
    return bool(facts.phones) or any(email.relation in ("own", "freemail") for email in facts.emails)


def embedded(page: Page) -> Iterator[str]:
    """The addresses of scripts and frames."""
    for script in page.scripts[:200]:
        if script.source:
            yield page.absolute(script.source) or ""
    for tag in ("iframe", "frame"):
        for element in page.by_tag.get(tag, ())[:20]:
            yield page.absolute(element.get("src")) or ""


def code_of(page: Page) -> str:
    """The beginning of what its scripts say, and where they come from."""
    pieces: list[str] = []
    length = 0
    for script in page.scripts[:50]:
        pieces.append(f"{script.source[:300]}\n{script.text[:2_000]}")
        length += len(pieces[-1])
        if length > _CODE_CHARS:
            break
    return "\n".join(pieces)
