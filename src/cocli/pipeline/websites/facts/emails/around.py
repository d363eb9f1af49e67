"""The address around an `@` in a running text: how far it reaches to the left and to the right, and when it is none.

Each `@` is looked at once, within the 64 and 253 characters that an address can have, so that the work grows with the
number of `@` and not with the length of what stands between them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.emails.address import MAX_DOMAIN, MAX_LOCAL, Address, read_address
from cocli.pipeline.websites.facts.emails.words import GENERAL_ROLES, LABELS, SPECIAL_ROLES
from cocli.pipeline.websites.page.languages import either
from cocli.pipeline.websites.page.suffixes import registrable

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_LATIN = "a-zA-Z\u00c0-\u024f"
_LOCAL_TAIL = re.compile(rf"[{_LATIN}0-9._+%'&~-]{{1,{MAX_LOCAL}}}\Z")
_DOMAIN_RUN = re.compile(rf"[{_LATIN}0-9.-]{{1,{MAX_DOMAIN}}}")
_ANY_SCRIPT_RUN = re.compile(r"[^\W_](?:[^\W_]|[.-](?=[^\W_])){1,120}")
_COMMA_FOR_DOT = re.compile(r",([a-z]{2,3})(?![\w@])")
_CASE_CHANGE = re.compile(r"(?<=[a-z])(?=[A-Z0-9])")
_LOCAL_GLUE = re.compile(
    rf"(?:(?i:{either('email.glued_before')})(?=[a-z])|(?i:e-?mail|mail)[.:]|[\d.-]{{6,}}(?=[a-z]))"
)
_RIGHT_GLUE = re.compile(rf"(?:{either('email.glued_after')})")
_ROLES = GENERAL_ROLES | SPECIAL_ROLES
_URL_BEFORE = re.compile(r"\S{1,120}\Z")


@dataclass(frozen=True, slots=True)
class AddressReading:
    """An address and the part of the text it was read from."""

    address: Address
    start: int
    end: int


def read_around(
    text: str,
    at: int,
    *,
    boundaries: Sequence[int] = (),
    own_domains: Collection[str] = (),
    visible: bool = True,
) -> AddressReading | None:
    """The address around the `@` at an offset. `visible`: a text for readers, in which words may be glued together."""
    local = _LOCAL_TAIL.search(text, max(0, at - MAX_LOCAL - 1), at)
    if local is None or _is_url_or_handle(text, local.start()):
        return None
    domain = _read_domain(text, at + 1, boundaries, own_domains, visible)
    if domain is None:
        return None
    name, end = domain
    if _goes_on(text, end):
        return None
    start = _after_host(text, _local_start(text, local.start(), at, boundaries, visible), at, own_domains)
    address = read_address(f"{text[start:at]}@{name}")
    if address:
        return AddressReading(address, start, end)
    return None


def _is_url_or_handle(text: str, start: int) -> bool:
    """`https://user:word@host`, `medium.com/@name`, `@name@host`: none of them a mailbox."""
    if start == 0 or text[start - 1] not in "/:@=#?":
        return False
    if text[start - 1] == "@":
        return True
    before = _URL_BEFORE.search(text, max(0, start - 120), start)
    token = before[0] if before else ""
    return "://" in token or token.startswith("/") or (text[start - 1] == "/" and "." in token and "@" not in token)


def _goes_on(text: str, end: int) -> bool:
    """A path or a second host after the domain: `hash@host/1234`, `a@b.com@c.com`."""
    if text[end : end + 1] == "@":
        return True
    if text[end : end + 1] == "/" and text[end + 1 : end + 2].isalnum():
        return "@" not in text[end : end + MAX_LOCAL]
    return False


def _local_start(text: str, start: int, at: int, boundaries: Sequence[int], visible: bool) -> int:
    if visible:
        return local_start(text, start, at, boundaries)
    return start


def local_start(text: str, start: int, at: int, boundaries: Sequence[int]) -> int:
    """Where the local part begins, without the word, the label or the number that is glued to it."""
    here = [boundary for boundary in boundaries if start < boundary < at]
    if here and _parted(text[start : here[-1]], text[here[-1] : at].lower()):
        return here[-1]
    glued = _LOCAL_GLUE.match(text, start, at)
    if not glued or glued.end() >= at:
        return start
    evident = text[glued.end() : at].lower() in _ROLES or text[glued.end() - 1] in ".:"
    if evident:
        return glued.end()
    return start


def _after_host(text: str, start: int, at: int, own_domains: Collection[str]) -> int:
    """`www.firm.deinfo@firm.de`: no mailbox begins with a host's name, so that one is glued to it."""
    local = text[start:at].lower()
    host = next((f"www.{domain}" for domain in own_domains if local.startswith(f"www.{domain}")), "")
    if len(host) < len(local):
        return start + len(host)
    return start


def _parted(left: str, right: str) -> bool:
    """`Munich|info@` are two words, `in|fo@` and `j.|smith@` are one that was split to mislead programs."""
    if (left.lower() + right) in _ROLES or not left[-1].isalnum():
        return False
    return right in _ROLES or not left.islower() or left.lower().endswith(LABELS)


def _read_domain(
    text: str, start: int, boundaries: Sequence[int], own_domains: Collection[str], visible: bool
) -> tuple[str, int] | None:
    """The domain that begins at an offset, and where it ends."""
    run = _DOMAIN_RUN.match(text, start)
    if run:
        found = _longest_domain(run[0].rstrip(".-"), start, boundaries, own_domains, visible)
        if found:
            return found, start + len(found)
        comma = _COMMA_FOR_DOT.match(text, run.end()) if visible else None
        if comma and registrable(f"{run[0]}.{comma[1]}".lower()):
            return f"{run[0]}.{comma[1]}", comma.end()
    wide = _ANY_SCRIPT_RUN.match(text, start)
    if wide and not wide[0].isascii() and registrable(wide[0].lower()):
        return wide[0], wide.end()
    return None


def _longest_domain(
    run: str, offset: int, boundaries: Sequence[int], own_domains: Collection[str], visible: bool
) -> str | None:
    if visible and (sentence := _before_sentence(run)):
        return sentence
    if registrable(run.lower()):
        return run
    if not visible:
        return None
    inside = [b - offset for b in boundaries if offset < b < offset + len(run)]
    for cut in (*reversed(inside), *(m.start() for m in _CASE_CHANGE.finditer(run, max(0, run.find("."))))):
        if registrable(run[:cut].rstrip(".-").lower()):
            return run[:cut].rstrip(".-")
    return _known_beginning(run, own_domains)


def _before_sentence(run: str) -> str | None:
    """`firm.de.Please` → `firm.de`: a capital after a dot begins a sentence, unless everything is in capitals."""
    labels = run.split(".")
    for count in range(2, len(labels)):
        beginning = ".".join(labels[:count])
        if labels[count][:1].isupper() and beginning.islower() and registrable(beginning):
            return beginning
    return None


def _known_beginning(run: str, own_domains: Collection[str]) -> str | None:
    lowered = run.lower()
    for domain in own_domains:
        if lowered.startswith(domain):
            return run[: len(domain)]
    labels = lowered.split(".")
    while len(labels) > 2:
        labels.pop()
        if registrable(".".join(labels)):
            return ".".join(labels)
    head, _, last = lowered.rpartition(".")
    for length in range(min(len(last) - 2, 6), 1, -1):
        if head and _RIGHT_GLUE.match(last, length) and registrable(f"{head}.{last[:length]}"):
            return f"{head}.{last[:length]}"
    return None


def label_before(text: str, start: int) -> bool:
    """Does a word such as `E-Mail:` stand right before?"""
    before = text[max(0, start - 30) : start].rstrip(" :\t\n-–|>").lower()
    return before.endswith(LABELS)
