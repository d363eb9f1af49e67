"""Addresses that a page marks up for machines: JSON-LD, microdata, RDFa, h-card and vCard classes."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.emails.candidate import EmailCandidate
from cocli.pipeline.websites.facts.emails.links import is_mailto, recipients
from cocli.pipeline.websites.facts.emails.spoken import spoken
from cocli.pipeline.websites.page.structured import Fact, facts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.page.page import Page

_NAMES = frozenset(("email", "hasemail", "mbox", "e-mail", "emailaddress"))
_SOMEONE_ELSE = frozenset(("review", "author", "comment", "reviewer", "creator", "editor"))
_MOST_FACTS = 300
_LONGEST = 300
"""Characters of a value that names an address. Elements within each other would be read again and again."""


def in_markup(page: Page) -> Iterator[EmailCandidate]:
    named = (fact for fact in facts_of(page) if fact.name in _NAMES and not _SOMEONE_ELSE.intersection(fact.path))
    for fact in islice(named, _MOST_FACTS):
        for address in _addresses(fact):
            yield EmailCandidate(address, fact.method, "data", fact.position, fact.end)


def _addresses(fact: Fact) -> Iterator[str]:
    for part in fact.value.replace(";", ",").split(",")[:10]:
        text = part.strip()[:_LONGEST]
        if is_mailto(text):
            yield from recipients(text)
        elif "@" in text:
            yield "".join(text.split()) if text.count("@") == 1 and len(text.split()) <= 3 else text
        else:
            yield from (str(address) for address, _, _ in spoken(text))
