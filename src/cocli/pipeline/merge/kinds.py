"""What a name says that a business is: `Hotel Adler` and `Restaurant Adler` are two, whatever else they share."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from cocli.keys.identities import normalised
from cocli.pipeline.merge.romanisation import romanised
from cocli.pipeline.sources.categories import packaged_synonyms

_SHORTEST_INSIDE = 2
"""Characters of a word that is looked for inside a text without spaces."""


@dataclass(frozen=True, slots=True)
class KindTable:
    """Words → families of businesses."""

    whole: dict[str, frozenset[str]] = field(default_factory=dict)
    beginnings: tuple[tuple[str, str], ...] = ()
    """The beginning of a word and its family."""
    inside: tuple[tuple[str, str], ...] = ()
    """Words of scripts that part words by nothing."""
    exclusive: frozenset[str] = frozenset()
    titles: frozenset[str] = frozenset()
    filling: frozenset[str] = frozenset()
    abbreviations: dict[str, str] = field(default_factory=dict)

    def families(self, word: str) -> frozenset[str]:
        """The families that a romanised word names."""
        found = self.whole.get(word)
        if found is not None:
            return found
        beginning = frozenset(family for head, family in self.beginnings if word.startswith(head))
        if beginning or word.isascii():
            return beginning
        return frozenset(family for part, family in self.inside if part in word)

    def rest(self, word: str) -> list[str]:
        """What such a word says beside its family, where words are not parted: `さくら歯科` is `さくら` for teeth."""
        if word.isascii():
            return []
        for part, _ in self.inside:
            word = word.replace(part, "")
        return [word] if word else []


@cache
def kind_table() -> KindTable:
    text = resources.files("cocli.pipeline.merge").joinpath("kinds.toml").read_text("utf-8")
    rows: dict[str, Any] = tomllib.loads(text)
    named = [(_family(phrase, rows) or phrase, words.split()) for phrase, words in rows["words"].items()]
    named += [(family, words.split()) for family, words in rows["exclusive"].items()]
    whole: dict[str, set[str]] = {}
    for phrase, meant in packaged_synonyms().items():
        family = _family(meant, rows)
        if family and " " not in phrase:
            whole.setdefault(romanised(phrase), set()).add(family)
    every = [(word, family) for family, words in named for word in words]
    for word, family in every:
        if word.isascii() and not word.endswith("*"):
            whole.setdefault(word, set()).add(family)
    return KindTable(
        whole={word: frozenset(families) for word, families in whole.items()},
        beginnings=tuple((word[:-1], family) for word, family in every if word.endswith("*")),
        inside=tuple(
            (romanised(word), family) for word, family in every if not word.isascii() and len(word) >= _SHORTEST_INSIDE
        ),
        exclusive=frozenset(rows["exclusive"]),
        titles=frozenset(rows["titles"]["words"].split()),
        filling=frozenset(rows["filling"]["words"].split()),
        abbreviations=rows["abbreviations"],
    )


def _family(phrase: str, rows: dict[str, Any]) -> str | None:
    if phrase in rows["neutral"]["phrases"]:
        return None
    if phrase.endswith(" restaurant"):
        return "eating"
    return next((family for family, phrases in rows["akin"].items() if phrase in phrases), phrase)


@lru_cache(maxsize=10_000)
def families_of_categories(labels: tuple[str, ...]) -> frozenset[str]:
    """What its categories say that it is, as far as the words of names say it as well."""
    table = kind_table()
    found: set[str] = set()
    for label in labels:
        for word in normalised(romanised(label.replace("_", " "))).split():
            found |= table.families(word)
    return frozenset(found)
