"""The words by which pages are known: contact, imprint, privacy, team, about. Without accents, `-` for blanks.

Two kinds: words that say it plainly, and words of pages that often serve the same end (`/locations`, `/our-story`).
A page of the second kind is read after those of the first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from cocli.pipeline.websites.facts.identity import plain
from cocli.pipeline.websites.page.languages import words_of

PageKind = Literal["contact", "imprint", "about", "team", "privacy", "home", "other"]

_MARKS = {
    "{start}": r"(?<![a-z])",
    "{end}": r"(?![a-z0-9])(?!-[a-z0-9])",
    "{word-end}": r"(?![a-z])",
}
"""What the lists of words write for the beginning and the end of a word, and for the end of a whole name."""
_START = _MARKS["{start}"]


@dataclass(frozen=True, slots=True)
class Words:
    """Words for one kind of page. Those of other scripts are looked for only where a name is written in one."""

    kind: PageKind
    latin: tuple[re.Pattern[str], ...]
    others: re.Pattern[str] | None

    def are_in(self, name: str) -> bool:
        """Does a name, in lower case and without accents, have one of them?"""
        if any(pattern.search(name) for pattern in self.latin):
            return True
        return self.others is not None and not name.isascii() and self.others.search(name) is not None


def _words(kind: PageKind, topic: str) -> Words:
    words = [_marked(word) for word in words_of(topic)]
    latin = [word for word in words if word.isascii()]
    anywhere = [word for word in latin if not word.startswith(_START)]
    starting = [word.removeprefix(_START) for word in latin if word.startswith(_START)]
    patterns = [re.compile(_by_letter(anywhere))]
    if starting:
        patterns.append(re.compile(f"{_START}(?:{_by_letter(starting)})"))
    others = [re.escape(plain(word)) for word in words if not word.isascii()]
    return Words(kind, tuple(patterns), re.compile("|".join(others)) if others else None)


def _marked(word: str) -> str:
    for mark, pattern in _MARKS.items():
        word = word.replace(mark, pattern)
    return word


def _by_letter(words: list[str]) -> str:
    """Alternatives, those with the same first letter together: most letters of a name then begin none of them."""
    groups: dict[str, list[str]] = {}
    for word in words:
        plainly = word[0].isalpha() and word[1:2] not in ("?", "*", "{")
        groups.setdefault(word[0] if plainly else "", []).append(word[1:] if plainly else word)
    return "|".join(f"{letter}(?:{'|'.join(some)})" for letter, some in groups.items())


PLAIN = (
    _words("contact", "page.contact"),
    _words("imprint", "page.imprint"),
    _words("privacy", "page.privacy"),
    _words("team", "page.team"),
    _words("about", "page.about"),
)
ALSO = (_words("contact", "page.also_contact"), _words("about", "page.also_about"), _words("team", "page.also_team"))
