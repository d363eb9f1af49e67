"""Addresses at the page's own domain, whatever it writes for `@` and for the dot: `info ~kringel~ firm ~punkt~ ee`.

Words for `@` are without number; but a domain that is known can be told by its parts. Who reads `firm`, something short
and `ee` on the page of `firm.ee`, and before it a mailbox, something short and a label such as "E-mail", reads an
address in any language.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.emails.around import label_before
from cocli.pipeline.websites.facts.emails.candidate import EmailCandidate
from cocli.pipeline.websites.facts.emails.words import (
    AT_WORDS,
    BARE_AT_WORDS,
    GENERAL_ROLES,
    NO_MAILBOX,
    NO_SIGN,
    SPECIAL_ROLES,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.page.page import Page

MAX_PLACES = 200
_WINDOW = 100
_OPEN, _CLOSE = r"[\[({<⟨‹«【（「*]", r"[\])}>⟩›»】）」*]"
_MARK = r"[|/\\_~#=+:!^%&$\"'“”„‘’`´–—-]"
"""What stands between words for other reasons, too."""
_LETTER = r"(?:[^\W\d_]|[\u0591-\u05c7\u064b-\u0652\u0900-\u0dff\u0e31-\u0e4e])"
"""With the marks that some scripts write their vowels in."""
_WORD = rf"[^\W\d_]{_LETTER}{{0,13}}"
_KNOWN = "|".join(re.escape(word.lower()) for word in sorted({*AT_WORDS, *BARE_AT_WORDS}, key=len, reverse=True))
_LOCAL = r"(?<![\w@.-])(?P<local>[a-z0-9](?:[a-z0-9._+-]{0,62}[a-z0-9])?)"
_WRAPPED_BEFORE = re.compile(
    rf"{_LOCAL}(?: ?{_OPEN}{{1,2}} ?(?:{_KNOWN}|@|{_LETTER}{_WORD}(?:-{_WORD})?|[\u00e0-\u00e6\u0103])"
    rf" ?{_CLOSE}{{1,2}} ?"
    rf"| ?{_MARK} ?(?:{_KNOWN}) ?{_MARK} ?| {{0,2}}@ {{0,2}})\Z"
)
_BARE_BEFORE = re.compile(rf"{_LOCAL} (?:{_KNOWN}|{_LETTER}{_WORD}(?:-{_WORD})?) \Z")
_ROLE_BEFORE = re.compile(
    rf"(?<![\w@.-])(?P<local>{'|'.join(map(re.escape, sorted(GENERAL_ROLES | SPECIAL_ROLES, key=len, reverse=True)))})"
    rf" {_WORD}(?:[ -]{_WORD}){{1,2}} \Z"
)
"""Several words for one sign: believed behind a mailbox that is known."""
_DOT = rf"(?: ?[.,·•] ?| ?(?:{_OPEN}|{_MARK}){{1,2}} ?(?:{_WORD}|\.|d[0o]t) ?(?:{_CLOSE}|{_MARK}){{1,2}} ?| {_WORD} )"
_DOT_CHARS = 24
"""More than the longest of them has."""
_BEHIND = r"(?![\w@]|\.\w|-\w)"
_PLAIN_END = re.compile(_BEHIND)
_ROLES = GENERAL_ROLES | SPECIAL_ROLES


def at_own_domain(page: Page) -> Iterator[EmailCandidate]:
    for domain in sorted(page.own_domains):
        yield from _of_domain(page, domain)


def _of_domain(page: Page, domain: str) -> Iterator[EmailCandidate]:
    stem, text = domain.partition(".")[0], page.lowered
    if len(text) != len(page.text):
        return  # some letters become two in small letters: the places would not fit
    at = -1
    for _ in range(MAX_PLACES):
        at = text.find(stem, at + 1)
        if at < 0:
            return
        if text[at - 1 : at] == "." or text[at - 2 : at] == "//" or not (end := _end_of_name(domain, text, at)):
            continue
        mailbox = _mailbox_before(text, at, is_dot_spoken=text[at:end] != domain)
        if mailbox:
            yield EmailCandidate(f"{mailbox[0]}@{domain}", "spoken", "text", mailbox[1], end)


def _end_of_name(domain: str, text: str, at: int) -> int | None:
    """Where the domain ends that stands here, in whatever spelling; its first part does. None where the rest does not.

    To compile a pattern for a domain takes longer than to read a page, and hardly a page needs it: most write their
    domain as it is, or their name without the rest of it.
    """
    if text.startswith(domain, at):
        end = at + len(domain)
        return end if _PLAIN_END.match(text, end) else None
    stem, _, rest = domain.partition(".")
    second = rest.partition(".")[0]
    behind = at + len(stem)
    if second not in text[behind : behind + _DOT_CHARS + len(second)]:
        return None
    name = _pattern(domain).match(text, at)
    return name.end() if name else None


@lru_cache(maxsize=256)
def _pattern(domain: str) -> re.Pattern[str]:
    return re.compile(_DOT.join(map(re.escape, domain.split("."))) + _BEHIND)


def _mailbox_before(text: str, at: int, *, is_dot_spoken: bool) -> tuple[str, int] | None:
    start = max(0, at - _WINDOW)
    wrapped = _WRAPPED_BEFORE.search(text, start, at)
    found = wrapped or _ROLE_BEFORE.search(text, start, at) or _BARE_BEFORE.search(text, start, at)
    if found is None or found["local"] in NO_MAILBOX:
        return None
    if wrapped is None and not NO_SIGN.isdisjoint(text[found.end("local") : at].split()):
        return None
    place = found.start("local")
    is_labelled = label_before(text, place)
    if "@" in text[found.end("local") : at]:
        is_evident = is_dot_spoken
    elif wrapped is not None:
        is_evident = is_labelled or (is_dot_spoken and found["local"] in _ROLES)
    else:
        # "Mail: our shop firm dot com" is a sentence as long as nothing else is spoken.
        is_evident = is_labelled and is_dot_spoken
    if is_evident:
        return found["local"], place
    return None
