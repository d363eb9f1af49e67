"""What a page of a language and of a country is made of: words, made-up firms, numbers and addresses."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Literal

import phonenumbers

HERE = Path(__file__).parent
Half = Literal["open", "apart"]
HALVES: tuple[Half, ...] = ("open", "apart")
SEEDS: dict[Half, int] = {"open": 20261117, "apart": 7_040_311}
_DISTINCT = 4
"""Digits of a number that differ, at least: people who see 111111 know that nobody has it."""


@dataclass(frozen=True, slots=True)
class PostalPlace:
    """A made-up address in its parts, and the lines in which its country writes it."""

    street: str
    postcode: str
    city: str
    region: str
    country: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Country:
    """How a country writes numbers, addresses, days and prices."""

    code: str
    fixed: str
    mobile: str
    lines: str
    days: tuple[str, ...]
    money: str

    def number(self, random: Random, *, mobile: bool = False) -> str:
        """A valid number in E.164. Nobody is known to have it."""
        head, digits = (self.mobile if mobile else self.fixed).split()
        while True:
            # No exchange begins with a 0 or a 1: people would take it for a code.
            tail = str(random.randrange(2, 10)) + "".join(str(random.randrange(10)) for _ in range(int(digits) - 1))
            parsed = phonenumbers.parse(head + tail)
            if (
                len(set(tail)) >= min(_DISTINCT, len(tail))
                and "555" not in tail
                and phonenumbers.is_valid_number(parsed)
            ):
                return head + tail


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one language in one half. A topic has one wording or several."""

    language: str
    country: Country
    topics: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def every(self, topic: str) -> tuple[str, ...]:
        return self.topics[topic]

    def any(self, topic: str, random: Random) -> str:
        return random.choice(self.topics[topic])

    def place(self, random: Random) -> PostalPlace:
        street, postcode, city, region = random.choice(self.topics["places"]).split("/")
        shown = self.country.lines.format(street=street, postcode=postcode, city=city, region=region)
        return PostalPlace(street, postcode, city, region, self.country.code, tuple(shown.split("/")))


def national(number: str) -> str:
    """A number as people of its country write it."""
    return phonenumbers.format_number(phonenumbers.parse(number), phonenumbers.PhoneNumberFormat.NATIONAL)


def international(number: str) -> str:
    return phonenumbers.format_number(phonenumbers.parse(number), phonenumbers.PhoneNumberFormat.INTERNATIONAL)


@cache
def countries() -> dict[str, Country]:
    rows = tomllib.loads((HERE / "countries.toml").read_text("utf-8"))
    return {
        code: Country(code, row["fixed"], row["mobile"], row["lines"], tuple(row["days"].split()), row["money"])
        for code, row in rows.items()
    }


@cache
def words_of(half: Half) -> dict[str, Words]:
    """Language → its words."""
    rows = tomllib.loads((HERE / half / "words.toml").read_text("utf-8"))
    return {
        language: Words(
            language,
            countries()[row["country"]],
            {topic: tuple(part.strip() for part in text.split("|")) for topic, text in row.items()},
        )
        for language, row in rows.items()
    }
