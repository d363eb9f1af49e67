"""Addresses that are written out: `info [at] firm [dot] de`, `info(ät)firma.de`, `info arroba firma punto es`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.emails.address import Address, read_address
from cocli.pipeline.websites.facts.emails.around import label_before, local_start, read_around
from cocli.pipeline.websites.facts.emails.candidate import EmailCandidate
from cocli.pipeline.websites.facts.emails.own_domain import at_own_domain
from cocli.pipeline.websites.facts.emails.words import (
    AT_WORDS,
    BARE_AT_WORDS,
    DOT_WORDS,
    GENERAL_ROLES,
    NO_MAILBOX,
    SPECIAL_ROLES,
    UNSURE_AT,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.page.page import Page

MAX_PLACES = 500
MAX_REPLACED = 20
MAX_BEGINNINGS = 50_000
"""So many brackets, or other beginnings of one kind, are looked at: no page for people has them."""
_INSTEAD = re.compile(r"([^\w\s@.,:;()（）「」『』\[\]-])[」』\])]?(?:を|は)[^\n@]{0,10}@[」』\])]?(?:マーク)?に")


def _either(words: tuple[str, ...]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


_OPEN, _CLOSE = r"[\[({<⟨‹【（「*]", r"[\])}>⟩›】）」*]"
_AT = re.compile(
    rf"{_OPEN}{{1,2}} ?(?:{_either(AT_WORDS)}) ?{_CLOSE}{{1,2}}|_at_(?=\w)| (?:{_either(BARE_AT_WORDS)}) |"
    r"[|#\"'“‘~=:+!^«] ?at ?[|#\"'”’~=:+!^»]|[/\\–—-] ?at ?[/\\–—-]|&#0{0,4}64;|&#x0{0,3}40;|&commat;",
    re.IGNORECASE,
)
_BEGINNINGS = (
    *("[", "(", "{", "<", "⟨", "‹", "【", "（", "「", "*", "_at_", "&#", "&commat;"),
    *(f" {word} " for word in BARE_AT_WORDS),
    *(f"{mark}{space}at" for mark in "|#\"'“‘~=:+!^«/\\–—-" for space in ("", " ")),
)
"""How everything begins that `_AT` finds, in lower case: such parts are found much faster than by a pattern."""
_DOT = re.compile(
    rf" {{0,2}}{_OPEN}{{1,2}} ?(?:{_either(DOT_WORDS)}|\.) ?{_CLOSE}{{1,2}} {{0,2}}"
    r"| ?[|#\"'“‘~=:+!^«/\\–—-] ?dot ?[|#\"'”’~=:+!^»/\\–—-] ?"
    rf"| (?:{_either(DOT_WORDS)}) |(?<=\w)_dot_(?=\w)| ?\. ?(?=[a-z]{{2,3}}\b)|\.",
    re.IGNORECASE,
)
_LABEL = re.compile(r"[^\W_](?:[^\W_]|-(?=[^\W_])){0,62}")
_LOCAL_END = re.compile(r"[a-zA-Z0-9\u00c0-\u024f](?:[a-zA-Z0-9\u00c0-\u024f+_.'-]){0,63}\Z")
_LOCAL_DOT_BEFORE = re.compile(
    rf"([a-zA-Z0-9]{{1,30}})(?: ?{_OPEN} ?(?:{_either(DOT_WORDS)}) ?{_CLOSE} ?| (?:{_either(DOT_WORDS)}) )\Z",
    re.IGNORECASE,
)


def in_spoken_text(page: Page) -> Iterator[EmailCandidate]:
    for address, start, end in spoken(page.text, page.own_domains, page.lowered):
        begins = _after_label(page, address, start)
        value = str(address)[begins - start :]
        yield EmailCandidate(value, "spoken", "text", begins, end)
    yield from _with_another_sign(page)
    yield from at_own_domain(page)


def _after_label(page: Page, address: Address, start: int) -> int:
    """Where the mailbox begins, if the element before is glued to it: `<b>E-Mail</b><span>info (at) firm.de</span>`."""
    end = start + len(address.local)
    edges = page.boundaries_within(start, end)
    if edges and page.lowered[start:end] == address.local:
        return local_start(page.text, start, end, edges)
    return start


def _with_another_sign(page: Page) -> Iterator[EmailCandidate]:
    """`info★firm.jp（★を@に変えてください）`: the page says which sign to replace."""
    rule = _INSTEAD.search(page.text) if "に" in page.text else None
    if not rule:
        return
    at = -1
    for _ in range(MAX_REPLACED):
        at = page.text.find(rule[1], at + 1)
        if at < 0:
            return
        start, end = max(0, at - 64), at + 1 + 253
        reading = read_around(f"{page.text[start:at]}@{page.text[at + 1 : end]}", at - start)
        if reading:
            yield EmailCandidate(str(reading.address), "spoken", "text", start + reading.start, start + reading.end)


def spoken(
    text: str, own_domains: frozenset[str] = frozenset(), lowered: str | None = None
) -> Iterator[tuple[Address, int, int]]:
    """The addresses that a text writes out, with their places. Who has it in lower case already passes that, too."""
    for count, sign in enumerate(_signs(text, text.lower() if lowered is None else lowered)):
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


def _signs(text: str, lowered: str) -> Iterator[re.Match[str]]:
    """What `_AT` finds in a text."""
    if len(lowered) != len(text):
        yield from _AT.finditer(text)  # some letters become two in lower case: the places would not fit
        return
    end = 0
    likely = [beginning for beginning in _BEGINNINGS if beginning[0] in lowered]
    for place in sorted({place for beginning in likely for place in _places(lowered, beginning)}):
        if place >= end and (sign := _AT.match(text, place)):
            end = sign.end()
            yield sign


def _places(text: str, part: str) -> Iterator[int]:
    place = -1
    for _ in range(MAX_BEGINNINGS):
        place = text.find(part, place + 1)
        if place < 0:
            return
        yield place


def _before_spaces(text: str, start: int) -> int:
    if start >= 2:
        return start - 2 + len(text[start - 2 : start].rstrip(" "))
    return start


def _after_spaces(text: str, end: int) -> int:
    return end + 2 - len(text[end : end + 2].ljust(2).lstrip(" "))


def _local_before(text: str, end: int) -> tuple[str, int] | None:
    match = _LOCAL_END.search(text, max(0, end - 64), end)
    if not match:
        return None
    local, start = match[0], match.start()
    dotted = _LOCAL_DOT_BEFORE.search(text, max(0, start - 50), start)
    if dotted:
        return (f"{dotted[1]}.{local}", dotted.start())
    return (local, start)


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
    if word[0] in _STROKES:
        is_own = address.registrable in own_domains
        return is_own or (dot_spoken and _mailbox(address, own_domains) and label_before(text, start))
    if word[0] in _QUOTES:
        return dot_spoken or _mailbox(address, own_domains) or label_before(text, start)
    if any(mark in word for mark in _BRACKETS):
        inner = word.strip(_BRACKETS + " ").lower()
        return inner not in UNSURE_AT or _mailbox(address, own_domains) or label_before(text, start)
    if word.strip("_-").lower() != "at":
        return True
    if address.local in NO_MAILBOX:
        return False
    labelled = label_before(text, start)
    if word == "AT" or "_" in word:
        return dot_spoken or labelled or _mailbox(address, own_domains)
    # In a sentence, "our office at firm.de" is a place: the address must stand by itself.
    return (dot_spoken or _mailbox(address, own_domains)) and (labelled or _begins(text, start))


def _begins(text: str, start: int) -> bool:
    """Does nothing of a sentence stand before it on its line?"""
    before = text[max(0, start - 3) : start].rstrip(" ")
    return not before or not (before[-1].isalnum() or before[-1] in "'’")


def _mailbox(address: Address, own_domains: frozenset[str]) -> bool:
    return address.local in GENERAL_ROLES or address.local in SPECIAL_ROLES or address.registrable in own_domains


_STROKES = "/\\-–—"
_QUOTES = "\"'“‘=:+!^«"
"""Signs that stand between words as well: more than the sign has to say that it is an address."""
_BRACKETS = "[](){}<>⟨⟩‹›【】（）「」*|#\"'“”‘’~;"
