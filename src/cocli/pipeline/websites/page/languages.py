"""The words of languages, `data/words/*.toml`: one file per language. They are read once, when first asked for.

A topic is a section and a key of these files, such as `email.dot`. What a topic means, and how a language is added, is
written in `data/README.md`. What is made of the words (patterns, sets) stands in the modules that ask for them.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1] / "data" / "words"
OF_ALL = "any"
"""The file of words that many languages have, and of marks that belong to none."""


class LanguageWords(NamedTuple):
    """One file."""

    codes: tuple[str, ...]
    """As pages declare it (`<html lang>`); the file is called by the first."""
    name: str
    country: str | None
    """Where numbers of a page are dialled that says nothing but its language."""
    words: dict[str, tuple[str, ...]]
    """By topic."""


@cache
def languages() -> tuple[LanguageWords, ...]:
    """All languages, by the names of their files."""
    return tuple(_read(path) for path in sorted(FOLDER.glob("*.toml")))


def _read(path: Path) -> LanguageWords:
    data = tomllib.loads(path.read_text("utf-8"))
    sections = {name: section for name, section in data.items() if isinstance(section, dict)}
    words = {
        f"{section}.{key}": tuple(value.split()) if isinstance(value, str) else tuple(value)
        for section, keys in sections.items()
        for key, value in keys.items()
    }
    return LanguageWords((path.stem, *data.get("also", "").split()), data.get("name", ""), data.get("country"), words)


@cache
def _topics() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for language in languages():
        for topic, words in language.words.items():
            found.setdefault(topic, {}).update(dict.fromkeys(words))
    return {topic: tuple(words) for topic, words in found.items()}


def words_of(topic: str) -> tuple[str, ...]:
    """The words of all languages, each once. A topic that no language has is a mistake of who asks: `KeyError`."""
    return _topics()[topic]


def set_of(topic: str) -> frozenset[str]:
    return frozenset(words_of(topic))


def either(topic: str) -> str:
    """The words as alternatives of a pattern. They are patterns themselves: a dot in one stands for any letter."""
    return "|".join(words_of(topic))
