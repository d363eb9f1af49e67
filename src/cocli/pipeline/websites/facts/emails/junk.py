"""Addresses that are well formed and still nobody's: placeholders, demos, hashes, mailboxes that nobody reads.

Decided by what the words of the address mean. The words are in the files of the languages, the domains that website
builders and themes fill in are in the table of hosts; a site's own domain is never a placeholder.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.emails.words import GENERAL_ROLES, UNATTENDED
from cocli.pipeline.websites.hosts.providers import is_freemail
from cocli.pipeline.websites.hosts.table import hosts_of, listed
from cocli.pipeline.websites.page.languages import either, set_of
from cocli.pipeline.websites.page.wordlist import words

if TYPE_CHECKING:
    from cocli.pipeline.websites.facts.emails.address import Address

_WORDS = set_of("placeholder.word")
_LONGEST_WORD = max(map(len, _WORDS))
_WEAK = set_of("placeholder.weak")
"""A name made of these alone may be somebody's: mail.ru, web.de, thebar.com."""

_PLACEHOLDER_LOCALS = set_of("placeholder.local")
_SHARED_NAMES = set_of("placeholder.first_name")

_TECHNICAL_LOCALS = words("git svn hg ssh root npm cvs rsync www-data localhost nobody daemon")
_HASH = re.compile(r"(?=.*\d)(?:[0-9a-f]{16,}|[0-9a-f]{8}-[0-9a-f]{4}-.*|[0-9a-f-]{24,})\Z")
_TECHNICAL_HOST = re.compile(
    r"(?:^|\.)(?:sentry(?:-next|-viewer)?|ingest|bugsnag|rollbar)\.|(?:^|\.)(?:localhost|internal|local)\b"
)
_NOBODY_READS = re.compile(either("email.unattended_start"))
_NUMBERED = re.compile(r"\d+(?:\.\d+)+\Z")
"""`20230101.123456@host`: the number of a message."""
_WHOSE = set_of("placeholder.whose")
_WHAT = set_of("placeholder.what")


def junk_reason(address: Address, own_domains: frozenset[str]) -> str | None:
    """Why an address is nobody's, or None where nothing speaks against it."""
    if address.local in UNATTENDED or _NOBODY_READS.match(address.local):
        return "unattended"
    if _HASH.match(address.local) or _is_a_machine(address.domain):
        return "technical"
    if address.local in _TECHNICAL_LOCALS or _NUMBERED.match(address.local):
        return "technical"
    if address.local in _PLACEHOLDER_LOCALS and not (
        address.registrable in own_domains and address.local in _OWN_MAY_USE
    ):
        return "placeholder"
    if address.registrable in own_domains:
        return None
    if _is_a_blank(address.local):
        return "placeholder"
    if is_freemail(address.registrable) and _no_private_mailbox(address):
        return "placeholder"
    if address.registrable in hosts_of("filler") or placeholder_domain(address.registrable):
        return "placeholder"
    if len(address.local) == 1 and len(address.registrable.partition(".")[0]) == 1:
        return "placeholder"
    label = address.registrable.partition(".")[0]
    if label == address.local and label in _WORDS | _SHARED_NAMES and label not in _REAL_TWINS:
        return "placeholder"
    return None


def _is_a_machine(domain: str) -> bool:
    """Mail that programs send and receive: by the name of the host, or by the service that it belongs to."""
    return _TECHNICAL_HOST.search(domain) is not None or listed(domain, "machine") is not None


def _is_a_blank(local: str) -> bool:
    """`mon.adresse`, `your_email`: whose, and what."""
    letters = re.sub(r"[._-]", "", local)
    return any(letters.startswith(whose) and letters[len(whose) :] in _WHAT for whose in _WHOSE)


def _no_private_mailbox(address: Address) -> bool:
    """`info@gmail.com`: nobody can have it. Where everybody is a customer, roles are reserved or an example."""
    too_short = address.registrable == "gmail.com" and len(address.local.replace(".", "")) < _GMAIL_SHORTEST
    return too_short or address.local in GENERAL_ROLES or address.local in _SHARED_NAMES


_GMAIL_SHORTEST = 6
_OWN_MAY_USE = set_of("placeholder.own_local")
_REAL_TWINS = frozenset(("mail", "info"))


@lru_cache(maxsize=4096)
def placeholder_domain(registrable: str) -> bool:
    """Is the name put together of nothing but words such as your, company, example?"""
    label = registrable.partition(".")[0]
    parts = [part for part in re.split(r"[-_\d]+", label) if part]
    if not parts:
        return False
    words = [_segmented(part) for part in parts]
    if not all(words):
        return False
    flat = [word for some in words for word in some or ()]
    return not _WEAK.issuperset(flat)


def _segmented(text: str) -> list[str] | None:
    """A text as a row of placeholder words, longest first; None where it is not one. At most 63 characters long."""
    reach: list[list[str] | None] = [[], *[None] * len(text)]
    for end in range(1, len(text) + 1):
        for start in range(max(0, end - _LONGEST_WORD), end):
            before = reach[start]
            if before is not None and text[start:end] in _WORDS:
                reach[end] = [*before, text[start:end]]
                break
    return reach[len(text)]
