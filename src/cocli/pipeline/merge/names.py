"""Whether two names can be one business's. Pure, and quick for the few names that are compared."""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from cocli.pipeline.merge.kinds import kind_table
from cocli.pipeline.merge.romanisation import is_alike, romanised, script_of, skeleton

_SHORTEST_ACRONYM = 3
_SHORTEST_WITH_ARTICLE = 4


class NameRelation(IntEnum):
    """How two names stand to each other, the nearest first."""

    EQUAL = 0
    """The same words, as far as they tell."""
    PART = 1
    """One has all the words of the other, and more."""
    SHARED = 2
    """Each has words that the other lacks, and they share some."""
    FOREIGN = 3
    """They are in scripts that cannot be compared."""
    UNRELATED = 4
    """They share no word that tells."""
    CONTRARY = 5
    """They say that they are different: a hotel and a restaurant, two doctors, hall A and hall B."""


class NameParts(NamedTuple):
    """A name taken apart."""

    words: tuple[str, ...]
    """Skeletons of what tells it from others, in their order."""
    families: frozenset[str]
    trades: tuple[tuple[str, frozenset[str]], ...]
    """The words that name a family, with what they name."""
    marks: frozenset[str]
    """What numbers and letters at its end tell apart."""
    titled: bool
    """It is a person with a title."""
    script: str


@lru_cache(maxsize=50_000)
def name_parts(name: str) -> NameParts:
    """Take a comparable name apart."""
    table = kind_table()
    words: list[str] = []
    weak: list[str] = []
    trades: list[tuple[str, frozenset[str]]] = []
    marks: set[str] = set()
    titled = False
    plain = table.with_joined(romanised(name)).split()
    for place, written in enumerate(plain):
        word = table.abbreviations.get(written, written)
        if word in table.titles:
            titled = True
        elif place and (word.isdigit() or (len(word) == 1 and word.isascii() and place == len(plain) - 1)):
            marks.add(word)
        elif found := table.families(word):
            trades.append((word, found))
            words += table.rest(word)
        elif word in table.weak:
            weak.append(skeleton(word))
        elif word not in table.filling:
            words += [_telling(part) for part in table.rest(word) or [word]]
    # A name of nothing but words that many have is told by those.
    telling = tuple(dict.fromkeys(words or weak))
    families = frozenset(family for _, found in trades for family in found)
    return NameParts(telling, families, tuple(trades), frozenset(marks), titled, script_of(name))


def _telling(word: str) -> str:
    """The skeleton of a word; Hebrew writes its article onto it."""
    if len(word) >= _SHORTEST_WITH_ARTICLE and word[0] == "ה":
        return word[1:]
    return skeleton(word)


def relation(
    name: str, other: str, city: str = "", kinds: tuple[frozenset[str], frozenset[str]] | None = None
) -> NameRelation:
    """How two comparable names stand to each other. `city` may stand in either; `kinds` are those of the categories."""
    mine, theirs = name_parts(name), name_parts(other)
    if name == other:
        return NameRelation.EQUAL
    if _is_contrary(mine, theirs, kinds):
        return NameRelation.CONTRARY
    if mine.script != theirs.script:
        return NameRelation.FOREIGN
    if name.replace(" ", "") == other.replace(" ", "") or "".join(mine.words) == "".join(theirs.words) != "":
        return NameRelation.EQUAL
    return _of_words(mine, theirs, city)


def without_towns(words: list[str], city: str) -> list[str]:
    """The words of a name that are not the town's. Where words are not parted, the town stands at the beginning."""
    towns = [skeleton(word) for word in city.split()]
    bare = [word for word in words if word not in towns]
    for town in towns:
        if not town.isascii():
            bare = [word.removeprefix(town.rstrip("市시")) or word for word in bare]
    return bare


def _of_words(mine: NameParts, theirs: NameParts, city: str) -> NameRelation:
    left, right = _ahead(mine, city), _ahead(theirs, city)
    shared = 0
    for word in tuple(left):
        match = next((candidate for candidate in right if is_alike(word, candidate)), None)
        if match is not None:
            left.remove(word)
            right.remove(match)
            shared += 1
    left, right = without_towns(left, city), without_towns(right, city)
    if not shared:
        return NameRelation.PART if _is_acronym(mine, theirs) else NameRelation.UNRELATED
    if mine.titled and theirs.titled and left and right:
        return NameRelation.CONTRARY
    if not left and not right:
        return NameRelation.EQUAL
    # A trade that only the other name has is a word that this one lacks.
    mine_has_more, theirs_has_more = left or mine.families - theirs.families, right or theirs.families - mine.families
    return NameRelation.SHARED if mine_has_more and theirs_has_more else NameRelation.PART


def _ahead(parts: NameParts, city: str) -> list[str]:
    """The words to compare: where a script parts none, the town is taken off before."""
    if parts.script == "LATIN":
        return list(parts.words)
    return without_towns(list(parts.words), city) or list(parts.words)


def _is_contrary(mine: NameParts, theirs: NameParts, kinds: tuple[frozenset[str], frozenset[str]] | None) -> bool:
    table = kind_table()
    if (mine.families & table.exclusive) != (theirs.families & table.exclusive):
        return True
    if mine.marks and theirs.marks and mine.marks != theirs.marks:
        return True
    if _are_two_trades(mine, theirs):
        return True
    if mine.titled and theirs.titled and not set(mine.words) & set(theirs.words):
        return True
    if kinds is None:
        return False
    first, second = table.widened(mine.families or kinds[0]), table.widened(theirs.families or kinds[1])
    return bool(first and second) and not first & second


def _are_two_trades(mine: NameParts, theirs: NameParts) -> bool:
    """Beside the words that both have, each names a trade: "Baker Shoes" and "Baker Cheese" are two, bakers or not."""
    if not mine.families or not theirs.families:
        return False
    if not mine.families & theirs.families:
        return True
    # The same word may be a trade or a surname.
    words, others = {word for word, _ in mine.trades}, {word for word, _ in theirs.trades}
    alone = frozenset(family for word, found in mine.trades if word not in others for family in found)
    there = frozenset(family for word, found in theirs.trades if word not in words for family in found)
    return bool(alone and there) and not alone & there


def _is_acronym(mine: NameParts, theirs: NameParts) -> bool:
    for short, long in ((mine.words, theirs.words), (theirs.words, mine.words)):
        initials = "".join(word[0] for word in long)
        if len(short) == 1 and len(short[0]) >= _SHORTEST_ACRONYM and short[0] == skeleton(initials):
            return True
    return False
