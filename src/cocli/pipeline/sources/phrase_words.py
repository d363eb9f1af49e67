"""The words of a phrase: for comparison, and which of them say what is looked for.

"Emergency plumber", "plumbers near me" and "Klempner Notdienst" look for a plumber: what says how soon, how near or how
good is no part of a trade. The words themselves are data: `phrase_words.csv`.
"""

from __future__ import annotations

import csv
import io
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from cocli.keys.identities import normalised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


def words_of(text: str) -> frozenset[str]:
    """The words of a text for comparison: case folded, letters and digits only, plurals as their singular."""
    return frozenset(_words(text))


def phrase_key(phrase: str) -> str:
    """One spelling per phrase: `Plumbers` is `plumber`."""
    return " ".join(_words(phrase))


def meant_words(phrase: str) -> frozenset[str]:
    """The words that say what is looked for; all of them, where none would be left."""
    return frozenset(_without_extras(_words(phrase))) or words_of(phrase)


def taken_key(phrase: str, is_known: Callable[[str], bool]) -> str | None:
    """What a phrase is taken for in a table that does not have it as it is; None where it is not clear.

    First without the words that say how soon, how near, how good. Then its end, because what is looked for comes last
    ("pediatric dentist"); then its beginning before a word that joins ("dentist for children"). Never a part from
    within, because a school uniform is no school; and not where two trades are named.
    """
    for before, key in _shorter(phrase):
        if is_known(key):
            return None if any(map(is_known, before)) else key
    return None


def _shorter(phrase: str) -> Iterator[tuple[Sequence[str], str]]:
    """Parts of a phrase, the longest first, each with the words that were left out before it."""
    words = _without_extras(_words(phrase))
    joint = next((number for number, word in enumerate(words) if word in _data("joint")), len(words))
    if joint < len(words):
        yield (), " ".join(words)
    for start in range(joint):
        yield words[:start], " ".join(words[start:joint])


def _words(text: str) -> list[str]:
    return [_singular(word) for word in normalised(text.replace("_", " ")).split()]


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _without_extras(words: Sequence[str]) -> list[str]:
    """Longer sayings first: `near me` is one, and `me` alone is none."""
    left = list(words)
    for saying in sorted(_data("extra"), key=lambda text: -text.count(" ")):
        parts = saying.split(" ")
        at = 0
        while at + len(parts) <= len(left):
            if left[at : at + len(parts)] == parts:
                del left[at : at + len(parts)]
            else:
                at += 1
    return left


@cache
def _data(kind: str) -> frozenset[str]:
    text = resources.files("cocli.pipeline.sources").joinpath("phrase_words.csv").read_text("utf-8")
    rows = csv.DictReader(io.StringIO(text))
    return frozenset(phrase_key(row["words"]) for row in rows if row["kind"] == kind)
