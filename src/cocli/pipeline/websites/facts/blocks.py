"""Whose block of lines is this? Pages name who made them, who hosts them and whom they answer to, with contacts.

A heading such as "Hosting" speaks for the few lines of an address below it, until the company is named again. Where a
page is no imprint, it has to be an address: a web agency lists hosting among what it does, above its own number. The
same holds for registers and chambers: most imprints name theirs, and go on with the company's own number.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from cocli.pipeline.websites.facts.identity import identity_of, plain
from cocli.pipeline.websites.page.kind import kind_of
from cocli.pipeline.websites.page.languages import either, set_of

if TYPE_CHECKING:
    from cocli.pipeline.websites.page.page import Page

BlockOwner = Literal["agency", "authority", "officer", "service"]
"""Who made or hosts the site; a public body, a chamber or a register; who watches over privacy; a service it uses."""
MAX_LINES = 7
MAX_CHARS = 360
MAX_HEADING = 160
_NEAR = 120
_MAKING = set_of("block.making")
"""What those do who make a site. A heading is made of these and of little words."""
_LITTLE = set_of("block.little")
_WORD = re.compile(r"[a-z-]{1,30}")
_AUTHORITY = re.compile(either("block.authority"))
_REGISTRY = re.compile(either("block.registry"))
_OFFICER = re.compile(either("block.officer"))
_SERVICE = re.compile(
    r"(?:google|facebook|meta platforms|linkedin|twitter|microsoft|amazon|vimeo|youtube|hotjar|rocket science group|"
    r"automattic|cloudflare|pinterest|tiktok|adobe|stripe|paypal|newrelic|hubspot)[^\n.;]{0,25}"
    r"(?:ireland|limited|ltd|inc\b|llc|l\.?p\.?|corporation|sàrl|s\.à|europe)",
    re.IGNORECASE,
)
"""Companies whose services a site uses, by their full names, as notices on privacy have them."""
_SERVICE_CHARS = 200
_NUMBER = re.compile(r"\d")
_SENTENCE_END = re.compile(r"[.!?] (?=[^\W\d_a-z])")


def is_somebody_elses(page: Page, position: int) -> bool:
    """Does it lie in the lines below a heading of a maker, a host or an authority, or behind a service's name?"""
    return owner_of_block(page, position) is not None


def owner_of_block(page: Page, position: int) -> BlockOwner | None:
    """Whose the lines are in which a position lies; None where they are the company's. Found out once per position."""
    known: dict[int, BlockOwner | None] = page.__dict__.setdefault("_block_owners", {})
    if position not in known:
        known[position] = _owner(page, position)
    return known[position]


def _owner(page: Page, position: int) -> BlockOwner | None:
    if _SERVICE.search(page.before(position, _SERVICE_CHARS)):
        return "service"
    lines = [line.strip() for line in page.before(position, MAX_CHARS).split("\n")[-1 - MAX_LINES :]]
    return _of_line(lines[-1]) or _of_lines_above(page, lines[:-1])


def is_said_on_line(page: Page, position: int) -> bool:
    """Whether the same line says whose it is."""
    return _of_line(page.before(position, _NEAR).rpartition("\n")[2]) is not None


def _of_line(before: str) -> BlockOwner | None:
    """What the same line says shortly before, without a sentence that ends in between."""
    said = _said_in(_SENTENCE_END.split(before[-_NEAR:])[-1])
    if said == "registry":
        return "authority"
    return said


@lru_cache(maxsize=8192)
def _said_in(line: str) -> Literal["officer", "authority", "registry"] | None:
    """Whom a line names. Remembered: the lines above one contact are those above the next."""
    line = line.lower()
    if _OFFICER.search(line):
        return "officer"
    if _AUTHORITY.search(line):
        return "authority"
    if _REGISTRY.search(line):
        return "registry"
    return None


def _of_lines_above(page: Page, lines: list[str]) -> BlockOwner | None:
    has_address = False
    for line in reversed(lines):
        if len(line) < MAX_HEADING and not line.endswith("."):
            said = _said_in(line)
            # The name of a register, not the number under which it keeps the company.
            if said == "registry" and has_address and _NUMBER.search(line) is None:
                return "authority"
            if said is not None and said != "registry":
                return said
        if _is_of_makers(line):
            return "agency" if has_address or kind_of(page.url, page.title) == "imprint" else None
        if line and _names_the_company(page, line):
            return None
        has_address = has_address or _NUMBER.search(line) is not None
    return None


def _is_of_makers(line: str) -> bool:
    if not 4 < len(line) < 80 or _NUMBER.search(line):
        return False
    return _is_made_of_making(line)


@lru_cache(maxsize=8192)
def _is_made_of_making(line: str) -> bool:
    said = [word.strip("-") for word in _WORD.findall(plain(line))]
    return not _MAKING.isdisjoint(said) and all(word in _MAKING or word in _LITTLE for word in said)


@lru_cache(maxsize=8192)
def _long_words(line: str) -> frozenset[str]:
    return frozenset(word for word in plain(line).split() if len(word) > 4)


def _names_the_company(page: Page, line: str) -> bool:
    identity = identity_of(page)
    lowered = line.lower()
    if any(domain in lowered for domain in identity.domains):
        return True
    return len(line) < 80 and not identity.names.isdisjoint(_long_words(line))
