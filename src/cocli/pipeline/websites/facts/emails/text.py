"""Addresses in the visible text: plain, spaced, with a comma for the dot, backwards."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.emails.address import read_address
from cocli.pipeline.websites.facts.emails.around import AddressReading, label_before, read_around
from cocli.pipeline.websites.facts.emails.candidate import EmailCandidate
from cocli.pipeline.websites.facts.emails.words import GENERAL_ROLES, NO_MAILBOX, SPECIAL_ROLES
from cocli.pipeline.websites.page.encodings import rot13

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.page.page import Page

MAX_SIGNS = 3000
"""`@` signs of one text that are looked at."""

_SPACED = re.compile(r"(?<![\w.@/-])([\w.+-]{1,64})( {0,2})@( {0,2})([a-zA-Z\u00c0-\u024f0-9][\w.-]{2,120})")
_BROKEN = re.compile(r"@\n?([a-zA-Z\u00c0-\u024f0-9-]{2,63}) ?\. ?((?:co\.)?[a-zA-Z]{2,6})(?![\w@.-])")
_RUN = re.compile(r"[\w.+-]{1,64}@[\w.+-]{1,64}")


def in_text(page: Page) -> Iterator[EmailCandidate]:
    text, at = page.text, -1
    for _ in range(MAX_SIGNS):
        at = text.find("@", at + 1)
        if at < 0:
            return
        boundaries = page.boundaries_within(at - 64, at + 253)
        reading = read_around(text, at, boundaries=boundaries, own_domains=page.own_domains)
        if reading:
            yield EmailCandidate(str(reading.address), "text", "text", reading.start, reading.end)
        else:
            yield from _unusual(page, at)


def _unusual(page: Page, at: int) -> Iterator[EmailCandidate]:
    text = page.text
    parted = _parted(text, at, page.own_domains)
    if parted:
        yield EmailCandidate(str(parted.address), "spaced", "text", parted.start, parted.end)
        return
    if text[at - 1 : at] == " " or text[at + 1 : at + 2] == " ":
        spaced = _spaced(text, at, page.own_domains)
        if spaced:
            yield EmailCandidate(str(spaced.address), "spaced", "text", spaced.start, spaced.end)
        return
    start = at - len(_tail(text, at))
    run = _RUN.match(text, start)
    if not run or text[start - 1 : start] in ("/", "@"):
        return
    for method, decoded in (("reversed", run[0][::-1]), ("rot13", rot13(run[0]))):
        address = read_address(decoded.strip(".-+"))
        if address and (method == "reversed" or _convincing(address.local, address.registrable, page.own_domains)):
            yield EmailCandidate(str(address), method, "text", run.start(), run.end())
            return


def _parted(text: str, at: int, own_domains: frozenset[str]) -> AddressReading | None:
    """`info@firm .de`, `info@` and `firm.de` on two lines: slips, believed for what is evidently a mailbox."""
    match = _BROKEN.match(text, at)
    local = _tail(text, at) if match else ""
    if match is None or not local or not (" " in match[0] or "\n" in match[0]):
        return None
    address = read_address(f"{local}@{match[1]}.{match[2]}")
    start = at - len(local)
    if address is None or not (
        address.registrable in own_domains or (address.local in GENERAL_ROLES and label_before(text, start))
    ):
        return None
    return AddressReading(address, start, match.end())


def _tail(text: str, at: int) -> str:
    match = re.search(r"[\w.+-]{1,64}\Z", text[max(0, at - 64) : at])
    if match:
        return match[0]
    return ""


def _spaced(text: str, at: int, own_domains: frozenset[str]) -> AddressReading | None:
    """`info @ firm.de`, but not "meet us @ firm.de": the word before must be a mailbox, or a label must say so."""
    line_start = max(text.rfind("\n", 0, at) + 1, at - 70)
    match = next(
        (m for m in _SPACED.finditer(text, line_start, min(len(text), at + 130)) if m.start(3) - 1 == at), None
    )
    if match is None:
        return None
    joined = f"{match[1]}@{match[4]}"
    inner = read_around(joined, len(match[1]), own_domains=own_domains)
    if inner is None or inner.address.local in NO_MAILBOX:
        return None
    evident = _convincing(inner.address.local, inner.address.registrable, own_domains)
    if not evident and not label_before(text, match.start()):
        return None
    return AddressReading(inner.address, match.start(), match.end())


def _convincing(local: str, registrable: str, own_domains: frozenset[str]) -> bool:
    return local in GENERAL_ROLES or local in SPECIAL_ROLES or registrable in own_domains
