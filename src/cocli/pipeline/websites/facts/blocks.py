"""Whose block of lines is this? Pages name who made them, who hosts them and whom they answer to, with contacts.

A heading such as "Hosting" speaks for the few lines of an address below it, until the company is named again. Where a
page is no imprint, it has to be an address: a web agency lists hosting among what it does, above its own number.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.identity import identity_of, plain
from cocli.pipeline.websites.page.kind import kind_of
from cocli.pipeline.websites.page.languages import either, set_of

if TYPE_CHECKING:
    from cocli.pipeline.websites.page.page import Page

MAX_LINES = 7
MAX_CHARS = 360
MAX_HEADING = 160
_MAKING = set_of("block.making")
"""What those do who make a site. A heading is made of these and of little words."""
_LITTLE = set_of("block.little")
_WORD = re.compile(r"[a-z-]{1,30}")
_AUTHORITY = re.compile(either("block.authority"), re.IGNORECASE)
_SERVICE = re.compile(
    r"(?:google|facebook|meta platforms|linkedin|twitter|microsoft|amazon|vimeo|youtube|hotjar|rocket science group|"
    r"automattic|cloudflare|pinterest|tiktok|adobe|stripe|paypal|newrelic|hubspot)[^\n.;]{0,25}"
    r"(?:ireland|limited|ltd|inc\b|llc|l\.?p\.?|corporation|sàrl|s\.à|europe)",
    re.IGNORECASE,
)
"""Companies whose services a site uses, by their full names, as notices on privacy have them."""
_SERVICE_CHARS = 200
_NUMBER = re.compile(r"\d")


def is_somebody_elses(page: Page, position: int) -> bool:
    """Does it lie in the lines below a heading of a maker, a host or an authority, or behind a service's name?"""
    if _SERVICE.search(page.before(position, _SERVICE_CHARS)):
        return True
    lines = [line.strip() for line in page.before(position, MAX_CHARS).split("\n")[-1 - MAX_LINES :]]
    has_address = False
    for line in reversed(lines[:-1]):
        if len(line) < MAX_HEADING and _AUTHORITY.search(line) and not line.endswith("."):
            return True
        if _is_of_makers(line):
            return has_address or kind_of(page.url, page.title) == "imprint"
        if line and _names_the_company(page, line):
            return False
        has_address = has_address or _NUMBER.search(line) is not None
    return False


def _is_of_makers(line: str) -> bool:
    if not 4 < len(line) < 80 or _NUMBER.search(line):
        return False
    said = [word.strip("-") for word in _WORD.findall(plain(line))]
    return not _MAKING.isdisjoint(said) and all(word in _MAKING or word in _LITTLE for word in said)


def _names_the_company(page: Page, line: str) -> bool:
    identity = identity_of(page)
    lowered = line.lower()
    if any(domain in lowered for domain in identity.domains):
        return True
    return len(line) < 80 and any(word in identity.names for word in plain(line).split() if len(word) > 4)
