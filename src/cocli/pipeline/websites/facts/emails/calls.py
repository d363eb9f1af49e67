"""Addresses that a page hands in pieces to a function: `mail('info', 'firm', 'de')`, in links, clicks and scripts.

What the function does is not looked at. The pieces must make an address of the site's own domain, or the function's
name must say that it is about mail.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.emails.address import Address, read_address
from cocli.pipeline.websites.facts.emails.candidate import EmailCandidate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.page.page import Page

MAX_CODE = 3_000
MAX_CALLS = 200
_STRING = r"""(?:'[^'"\n]{1,64}'|"[^'"\n]{1,64}")"""
_CALL = re.compile(rf"\(\s{{0,3}}({_STRING}(?:\s{{0,3}},\s{{0,3}}{_STRING}){{1,3}})")
_NAME = re.compile(r"[\w$]{1,40}\Z")
_BEGINNINGS = ("('", '("', "( ", "(\n", "(\t", "(\r")
"""One of these stands in every call with a string: which is seen faster than by the pattern."""
_PIECE = re.compile(_STRING)
_MAIL = re.compile(r"mail|e?addr|addy|contact|kontakt", re.IGNORECASE)
_HANDLERS = ("onclick", "onmouseover", "onmousedown", "onfocus")


def in_calls(page: Page) -> Iterator[EmailCandidate]:
    sources = [(e.get(name), e.start, e.end) for name in _HANDLERS for e in page.by_attribute.get(name, ())]
    sources += [(e.get("href"), e.start, e.end) for e in page.links if e.get("href")[:11].lower() == "javascript:"]
    sources += [(s.text, s.position, s.position) for s in page.scripts if 0 < len(s.text) <= MAX_CODE]
    for code, start, end in sources[:MAX_CALLS]:
        if not any(beginning in code for beginning in _BEGINNINGS):
            continue
        for match in _CALL.finditer(code[:MAX_CODE]):
            name = _NAME.search(code, max(0, match.start() - 40), match.start())
            pieces = [piece[1:-1] for piece in _PIECE.findall(match[1])]
            address = _put_together(name[0] if name else "", pieces, page.own_domains)
            if address:
                yield EmailCandidate(str(address), "script", "script", start, end)


def _put_together(function: str, pieces: list[str], own_domains: frozenset[str]) -> Address | None:
    first, second, *rest = [piece.strip(" .") for piece in pieces]
    if any("@" in piece or " " in piece for piece in pieces):
        return None
    forwards = f"{first}@{'.'.join((second, *rest))}"
    backwards = f"{rest[0]}@{second}.{first}" if rest else f"{second}@{first}"
    for text in (forwards, f"{first}@{second}", backwards):
        address = read_address(text)
        if address and address.registrable in own_domains:
            return address
    if _MAIL.search(function):
        return read_address(forwards)
    return None
