"""How a half shows things. Each half has a look of its own, so that nobody can fit extractors to the other's markup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Parts:
    """A page, ready to be put into its frame."""

    language: str
    title: str
    menu: Sequence[str]
    heading: str
    texts: Sequence[str]
    head: Sequence[str]
    body: Sequence[str]
    footer: Sequence[str]
    credits: Sequence[str]


class Look(Protocol):
    """Fragments in one style. What they are given is HTML already."""

    random: Random

    def line(self, label: str, value: str) -> str: ...
    def link(self, href: str, text: str) -> str: ...
    def block(self, lines: Sequence[str]) -> str: ...
    def section(self, heading: str, lines: Sequence[str]) -> str: ...
    def card(self, name: str, role: str, mail: str) -> str: ...
    def form(self, action: str, placeholder: str) -> str: ...
    def credit(self, words: str, agency: str, href: str, mail: str) -> str: ...
    def opening(self, heading: str, rows: Sequence[tuple[str, str]]) -> str: ...
    def microdata(self, name: str, parts: dict[str, str]) -> str: ...
    def address(self, lines: Sequence[str]) -> str: ...
    def icons(self, links: Sequence[tuple[str, str]]) -> str: ...
    def page(self, parts: Parts) -> str: ...
