"""A page in the making: what goes where, and what is true of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from random import Random
from typing import Any

from benchmarks.contacts.generator.look import Look
from benchmarks.contacts.generator.words import PostalPlace, Words

LICENCE = "CC0-1.0"
LISTS = ("must", "optional", "thirdparty", "reject")


@dataclass(slots=True)
class Truth:
    """What is known of a page. Values of a kind are in four lists; the first is what has to be found."""

    emails: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in LISTS})
    phones: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in LISTS})
    socials: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in LISTS})
    primary: list[str] = field(default_factory=list)
    addresses: list[dict[str, str]] = field(default_factory=list)
    hours: list[dict[str, object]] = field(default_factory=list)
    people: list[dict[str, str]] = field(default_factory=list)

    def as_row(self) -> dict[str, Any]:
        row: dict[str, Any] = {}
        for kind in ("emails", "phones", "socials"):
            for name, values in getattr(self, kind).items():
                row[kind if name == "must" else f"{kind}_{name}"] = list(dict.fromkeys(values))
        row |= {"primary": self.primary, "addresses": self.addresses, "hours": self.hours, "people": self.people}
        return row


@dataclass(slots=True)
class Draft:
    """The parts of a page. Ingredients add to them; a look puts them together."""

    random: Random
    words: Words
    look: Look
    firm: str
    domain: str
    kind: str
    place: PostalPlace
    truth: Truth = field(default_factory=Truth)
    head: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    """What stands in the middle."""
    footer: list[str] = field(default_factory=list)
    credits: list[str] = field(default_factory=list)
    """What stands at the very end."""
    graph: dict[str, Any] = field(default_factory=dict)
    """The marked up data of the firm."""
    language_tag: str | None = None

    def say(self, topic: str) -> str:
        return self.words.any(topic, self.random)

    def label(self, topic: str) -> str:
        return escape(self.say(topic), quote=False)

    def line(self, topic: str, html: str) -> str:
        """A label and a value as this half shows them."""
        return self.look.line(self.label(topic), html)

    def number(self, *, mobile: bool = False) -> str:
        return self.words.country.number(self.random, mobile=mobile)
