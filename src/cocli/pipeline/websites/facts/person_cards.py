"""People on a page that marks nothing up: a name, perhaps a role, and a mailbox of their own below it.

A name in passing is not guessed. It has to stand right above an address that is nobody's role, and the address has to
carry it, or it has to be set off as a name with a role under it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.identity import SiteIdentity, plain
from cocli.pipeline.websites.page.kind import kind_of
from cocli.pipeline.websites.page.languages import set_of
from cocli.pipeline.websites.page.wordlist import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cocli.pipeline.websites.facts.facts import EmailFinding
    from cocli.pipeline.websites.page.page import Page

MAX_CARDS = 200
_BEFORE = 260
_MAX_LINES = 5
_LONGEST_NAME, _LONGEST_ROLE = 50, 80
_PARTICLES = words("von van de der den di da del della la le el al bin ibn dos das du ter zu af")
_WORD = re.compile(r"[^\W\d_][^\W\d_.'’\u02bc-]*(?:[.'’\u02bc-][^\W\d_]*)*\Z")
_UNCASED = re.compile(r"[\u0590-\u06ff\u0900-\u0fff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")
_SHORT_NAME = re.compile(r"[\u4e00-\u9fff\uac00-\ud7a3]{2,5}\Z")
"""Names that are written without a blank."""
_GLUED = re.compile(r"[a-z\u00df-\u00ff][A-Z][a-z]+[a-z]{2}\Z")
_SET_OFF = frozenset(("h2", "h3", "h4", "h5", "h6", "strong", "b", "dt", "th", "figcaption"))
_CARD = re.compile(
    r"team|member|staff|person|people|employee|profile|card-title|colleague|mitarbeit|name", re.IGNORECASE
)
_PARTED = re.compile(r"\s*[:：|•·]\s*|\s+[–—-]\s+|,\s+|\s*[(（]")
_LEGAL = re.compile(
    r"\b(?:gmbh|ltd|llc|inc|s\.?r\.?o|s\.?a|s\.?r\.?l|b\.?v|oy|ab|a/s|as|kft|d\.?o\.?o|ag|kg|e\.?k|sp\. z)\b", re.I
)
_TITLES = words("dr mag dipl prof ing med msc mba phd mr mrs ms herr frau mme")
_COMMON = set_of("title.common")


@dataclass(frozen=True, slots=True)
class PersonCard:
    """A person with a mailbox."""

    name: str
    role: str | None
    email: str
    start: int
    end: int


def person_cards(page: Page, emails: Iterable[EmailFinding], identity: SiteIdentity) -> Iterator[PersonCard]:
    """The people of a page, by the addresses that are theirs."""
    for count, email in enumerate(emails):
        if count >= MAX_CARDS:
            return
        if email.label == "role" or email.where not in ("link", "text") or email.relation not in ("own", "freemail"):
            continue
        card = _card(page, email, identity)
        if card is not None:
            yield card


def _card(page: Page, email: EmailFinding, identity: SiteIdentity) -> PersonCard | None:
    below: list[str] = []
    for line, start in _lines_above(page, email.position):
        if not line or _is_label(line):
            continue
        if "@" in line:
            return None  # what stands above it is said of that one
        for name, rest in _names_in(line, identity):
            role = next((text for text in (rest, *reversed(below)) if text and _is_role(text)), None)
            if _carries(email.value, name) or (role and (email.label == "person" or _is_set_off(page, start))):
                return PersonCard(name, role, email.value, start, start + len(line))
        below.append(line)
    return None


def _lines_above(page: Page, position: int) -> list[tuple[str, int]]:
    """The last lines before a position, the nearest first, each with its place."""
    begin = max(0, position - _BEFORE)
    lines: list[tuple[str, int]] = []
    at = begin
    for line in page.text[begin:position].split("\n"):
        lines.append((line.strip(), at + len(line) - len(line.lstrip())))
        at += len(line) + 1
    return lines[::-1][: _MAX_LINES + 1]


def _is_label(line: str) -> bool:
    """`E-Mail:`, a phone number: what stands between a name and an address."""
    return line.endswith((":", "：")) or sum(map(str.isdigit, line)) > 5


def _names_in(line: str, identity: SiteIdentity) -> Iterator[tuple[str, str]]:
    """The name that a line is, or begins or ends with, and what else it says."""
    if len(line) > _LONGEST_NAME + _LONGEST_ROLE:
        return
    pieces = [piece.strip(" )）") for piece in _PARTED.split(line) if piece.strip(" )）")]
    if _is_name(line, identity):
        yield line, ""
    elif len(pieces) == 2:
        for name, rest in (pieces, reversed(pieces)):
            if _is_name(name, identity):
                yield name, rest


def _is_name(text: str, identity: SiteIdentity) -> bool:
    if not 2 <= len(text) <= _LONGEST_NAME or _LEGAL.search(text) or kind_of("", text) != "other":
        return False
    if len(text) > 4 and text.endswith((".", "。")):
        return False  # a sentence
    parts = [word for word in text.replace(",", " ").split() if plain(word).strip(".") not in _TITLES]
    if len(parts) == 1 and not _SHORT_NAME.match(parts[0]):
        return False
    if not 1 <= len(parts) <= 4 or not all(_WORD.match(word) for word in parts):
        return False
    if any(len(word) > 2 and word.isupper() for word in parts) and not text.isupper():
        return False  # an abbreviation: of a building, a company
    if any(_GLUED.search(word) for word in parts):
        return False  # two texts that run into each other
    said = [plain(word) for word in parts]
    if any(word in _COMMON for word in said) or "".join(said) in identity.names:
        return False
    return all(word[0].isupper() or word.lower() in _PARTICLES or _UNCASED.match(word) for word in parts)


def _is_role(text: str) -> bool:
    return 1 < len(text) <= _LONGEST_ROLE and "@" not in text and "http" not in text and not text.endswith((".", "!"))


def _carries(email: str, name: str) -> bool:
    """Does the mailbox carry the name? `anna.tann@` does that of Anna Tann, and so does `atann@`."""
    local = re.sub(r"[^a-z]", "", plain(email.partition("@")[0]))
    parts = [re.sub(r"[^a-z]", "", plain(word)) for word in name.split()]
    return any(len(part) > 2 and part in local for part in parts)


def _is_set_off(page: Page, position: int) -> bool:
    """As a heading, in bold, or in an element that is called after people."""
    for depth, element in enumerate(page.enclosing(position)):
        if depth > 3:
            return False
        if element.tag in _SET_OFF or _CARD.search(f"{element.get('class')} {element.get('id')}"):
            return True
    return False
