"""Addresses that are written out: `info [at] firm [dot] de`, `info(ät)firma.de`, `info arroba firma punto es`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.enrich.emails.address import Address, read_address
from cocli.enrich.emails.around import label_before
from cocli.enrich.emails.candidate import Candidate
from cocli.enrich.emails.words import AT_WORDS, BARE_AT_WORDS, DOT_WORDS, GENERAL_ROLES, NO_MAILBOX, SPECIAL_ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.enrich.page import Page

MAX_PLACES = 500


def _either(words: tuple[str, ...]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


_OPEN, _CLOSE = r"[\[({<⟨【（「*]", r"[\])}>⟩】）」*]"
_AT = re.compile(
    rf"{_OPEN} ?(?:{_either(AT_WORDS)}) ?{_CLOSE}|_at_(?=\w)| (?:{_either(BARE_AT_WORDS)}) ",
    re.IGNORECASE,
)
_DOT = re.compile(
    rf" {{0,2}}{_OPEN} ?(?:{_either(DOT_WORDS)}|\.) ?{_CLOSE} {{0,2}}"
    rf"| (?:{_either(DOT_WORDS)}) |(?<=\w)_dot_(?=\w)| ?\. ?(?=[a-z]{{2,3}}\b)|\.",
    re.IGNORECASE,
)
_LABEL = re.compile(r"[^\W_](?:[^\W_]|-(?=[^\W_])){0,62}")
_LOCAL_END = re.compile(r"[a-zA-Z0-9\u00c0-\u024f](?:[a-zA-Z0-9\u00c0-\u024f+_.'-]){0,63}\Z")
_LOCAL_DOT_BEFORE = re.compile(
    rf"([a-zA-Z0-9]{{1,30}})(?: ?{_OPEN} ?(?:{_either(DOT_WORDS)}) ?{_CLOSE} ?| (?:{_either(DOT_WORDS)}) )\Z",
    re.IGNORECASE,
)


def in_spoken_text(page: Page) -> Iterator[Candidate]:
    for address, start, end in spoken(page.text, page.own_domains):
        yield Candidate(str(address), "spoken", "text", start, end)


def spoken(text: str, own_domains: frozenset[str] = frozenset()) -> Iterator[tuple[Address, int, int]]:
    """The addresses that a text writes out, with their places."""
    for count, sign in enumerate(_AT.finditer(text)):
        if count >= MAX_PLACES:
            return
        local = _local_before(text, _before_spaces(text, sign.start()))
        domain = _domain_after(text, _after_spaces(text, sign.end()))
        if local is None or domain is None:
            continue
        name, end, was_spoken = domain
        address = read_address(f"{local[0]}@{name}")
        if address and _evident(text, sign[0], address, local[1], was_spoken, own_domains):
            yield address, local[1], end


def _before_spaces(text: str, start: int) -> int:
    return start - 2 + len(text[start - 2 : start].rstrip(" ")) if start >= 2 else start


def _after_spaces(text: str, end: int) -> int:
    return end + 2 - len(text[end : end + 2].ljust(2).lstrip(" "))


def _local_before(text: str, end: int) -> tuple[str, int] | None:
    match = _LOCAL_END.search(text, max(0, end - 64), end)
    if not match:
        return None
    local, start = match[0], match.start()
    dotted = _LOCAL_DOT_BEFORE.search(text, max(0, start - 50), start)
    return (f"{dotted[1]}.{local}", dotted.start()) if dotted else (local, start)


def _domain_after(text: str, start: int) -> tuple[str, int, bool] | None:
    """Labels with dots, spoken or not, between them; the longest row that is a domain."""
    best: tuple[str, int, bool] | None = None
    labels: list[str] = []
    at, was_spoken = start, False
    for _ in range(6):
        label = _LABEL.match(text, at)
        if not label:
            break
        labels.append(label[0])
        name = ".".join(labels).lower()
        if len(labels) > 1 and read_address(f"a@{name}"):
            best = (name, label.end(), was_spoken)
        dot = _DOT.match(text, label.end())
        if not dot:
            break
        was_spoken = was_spoken or dot[0] != "."
        at = dot.end()
    return best


def _evident(text: str, sign: str, address: Address, start: int, dot_spoken: bool, own_domains: frozenset[str]) -> bool:
    """Brackets and foreign words are proof. A bare `at` is a word of English: it needs a spoken dot, or more."""
    word = sign.strip()
    if any(mark in word for mark in _BRACKETS):
        inner = word.strip(_BRACKETS + " ").lower()
        return inner not in ("a", "et") or _mailbox(address, own_domains) or label_before(text, start)
    if word.strip("_-").lower() != "at":
        return True
    if address.local in NO_MAILBOX:
        return False
    return dot_spoken or _mailbox(address, own_domains) or (word == "AT" and label_before(text, start))


def _mailbox(address: Address, own_domains: frozenset[str]) -> bool:
    return address.local in GENERAL_ROLES or address.local in SPECIAL_ROLES or address.registrable in own_domains


_BRACKETS = "[](){}<>⟨⟩【】（）「」*"
