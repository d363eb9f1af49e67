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
_SHORTEST_STEM, _LONGEST_ENDING = 6, 2
_FIRST_LETTERS = 3


@dataclass(frozen=True, slots=True)
class KindTable:
    """Words → families of businesses."""

    whole: dict[str, frozenset[str]] = field(default_factory=dict)
    beginnings: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """The first letters of a word → how it may begin, and its family."""
    inside: tuple[tuple[str, str], ...] = ()
    """Words of scripts that part words by nothing."""
    exclusive: frozenset[str] = frozenset()
    titles: frozenset[str] = frozenset()
    filling: frozenset[str] = frozenset()
    abbreviations: dict[str, str] = field(default_factory=dict)
    weak: frozenset[str] = frozenset()
    """Words that tell nothing while another word does."""
    weak_inside: tuple[str, ...] = ()
    joined: tuple[tuple[str, str], ...] = ()
    """Words that name a trade together, and the one that stands for them."""
    wide: dict[str, str] = field(default_factory=dict)

    def families(self, word: str) -> frozenset[str]:
        """The families that a romanised word names."""
        found = self.whole.get(word)
        if found is not None:
            return found
        beginning = frozenset(
            family for head, family in self.beginnings.get(word[:_FIRST_LETTERS], ()) if word.startswith(head)
        )
        if beginning:
            return beginning
        if word.isascii():
            return self._inflected(word)
        return frozenset(family for part, family in self.inside if part in word)

    def widened(self, families: frozenset[str]) -> frozenset[str]:
        """Families as the categories of sources tell them apart."""
        return frozenset(self.wide.get(family, family) for family in families)

    def with_joined(self, name: str) -> str:
        """A romanised name with one word for those that belong together."""
        if " " not in name:
            return name
        framed = f" {name} "
        for words, word in self.joined:
            if words in framed:
                framed = framed.replace(words, word)
        return framed.strip()

    def _inflected(self, word: str) -> frozenset[str]:
        """`barbers` is `barber`: a word of some length may have another ending."""
        for length in range(len(word) - 1, max(len(word) - _LONGEST_ENDING, _SHORTEST_STEM) - 1, -1):
            if found := self.whole.get(word[:length]):
                return found
        return frozenset()

    def rest(self, word: str) -> list[str]:
        """What such a word says beside its family, where words are not parted: `さくら歯科` is `さくら` for teeth."""
        if word.isascii():
            return []
        for part, _ in self.inside:
            word = word.replace(part, "")
        for part in self.weak_inside:
            word = word.removesuffix(part).removeprefix(part)
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
        if romanised(word).isascii() and not word.endswith("*"):
            whole.setdefault(romanised(word), set()).add(family)
    return KindTable(
        whole={word: frozenset(families) for word, families in whole.items()},
        beginnings=_beginnings(every),
        inside=tuple(
            sorted(
                (
                    (romanised(word.rstrip("*")), family)
                    for word, family in every
                    if not romanised(word).isascii() and len(word) >= _SHORTEST_INSIDE
                ),
                key=lambda pair: -len(pair[0]),
            )
        ),
        joined=tuple((f" {romanised(words)} ", f" {romanised(word)} ") for words, word in rows["joined"].items()),
        wide={family: wide for wide, families in rows["wide"].items() for family in families},
        weak=frozenset(romanised(word) for word in rows["weak"]["words"].split()),
        weak_inside=tuple(
            sorted(
                {romanised(word) for word in rows["weak"]["words"].split() if not word.isascii()},
                key=lambda part: (-len(part), part),
            )
        ),
        exclusive=frozenset(rows["exclusive"]),
        titles=frozenset(rows["titles"]["words"].split()),
        filling=frozenset(rows["filling"]["words"].split()),
        abbreviations=rows["abbreviations"],
    )


def _beginnings(every: list[tuple[str, str]]) -> dict[str, tuple[tuple[str, str], ...]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for word, family in every:
        head = romanised(word.removesuffix("*"))
        if word.endswith("*") and head.isascii():
            found.setdefault(head[:_FIRST_LETTERS], []).append((head, family))
    return {first: tuple(heads) for first, heads in found.items()}


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
