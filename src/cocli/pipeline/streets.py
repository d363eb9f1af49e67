"""Streets as they are compared, never as they are stored: `Bahnhofstr. 21 a, 2. OG` is `Bahnhofstraße 21a`."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

from cocli.pipeline.comparison import is_letter

_NUMBER_ON_STREET = re.compile(r"(?<=[^\W\d_\x00-\x7f])(?=\d)|(?<=\d)(?=[^\W\d_\x00-\x7f])")
"""Where a number stands onto a word of a script that parts words by nothing: `중앙로21`."""
_NUMBER_ALONE = re.compile(r"\s*(?:n[or°º.]{0,3}\s*)?\d{1,5}\s?[a-zA-Z]?\s*(?:[-/–]\s?\d{1,5}\s?[a-zA-Z]?\s*)?\Z")
_ABBREVIATION = re.compile(r"\b([^\W\d_]{1,3})\.([^\W\d_]{2,4})\b")
"""`V.le`, `P.zza`: one word."""
_GLUED = ("ถนน", "ซอย")
"""What Thai writes onto a street's name, or does not."""
_SHORTEST_BEGINNING = 4
"""Letters of a word that may be the beginning of another one without being known as its abbreviation."""
_LONGEST_CONTRACTION = 7


@dataclass(frozen=True, slots=True)
class StreetWords:
    """What words of streets mean, of all languages. Either side of a comparison is asked."""

    meanings: dict[str, frozenset[str]]
    """A word or an abbreviation → all that it may stand for: `st` is a street, or a saint."""
    kinds: frozenset[str]
    """Meanings that say what kind of street it is: one source writes them, another leaves them out."""
    noise: frozenset[str]
    """What some write before a street's name or its number, and others do not."""
    units: frozenset[str]
    """What begins the part of a house: all from there on is left out."""
    endings: tuple[tuple[str, str], ...]
    """What German, Dutch and the Nordic languages write onto the name: `Hauptstr.` is `Hauptstraße`."""


@cache
def street_words() -> StreetWords:
    rows = tomllib.loads(resources.files("cocli.pipeline").joinpath("streets.toml").read_text("utf-8"))
    meanings: dict[str, set[str]] = {}
    for table in ("kinds", "names"):
        for meaning, words in rows[table].items():
            for word in words.split():
                meanings.setdefault(word, set()).add(meaning)
    return StreetWords(
        meanings={word: frozenset(meant) for word, meant in meanings.items()},
        kinds=frozenset(rows["kinds"]),
        noise=frozenset(rows["noise"]["words"].split()),
        units=frozenset(rows["units"]["words"].split()),
        endings=tuple(sorted(rows["endings"].items(), key=lambda pair: -len(pair[0]))),
    )


def comparable_street(street: str | None) -> str:
    """`12 Main St., Suite 4` and `12 main street` compare alike: sources differ in whether they name the unit."""
    if not street:
        return ""
    table = street_words()
    whole = _ABBREVIATION.sub(r"\1\2", _without_unit(street))
    words = _words(_NUMBER_ON_STREET.sub(" ", whole))
    words = [word for word in words if word not in table.noise] or words
    words = _joined([_spelled(word, table) for word in _before_unit(words, table)])
    # A number stands before the street's name in some countries and behind it in others.
    return " ".join(sorted(words, key=lambda word: not word[0].isdigit()))


def is_one_street(street: str, other: str) -> bool:
    """Whether two comparable streets are one: the same numbers, and words that mean, shorten or begin each other."""
    if street == other:
        return True
    words, others = street.split(), other.split()
    if _numbers(words) != _numbers(others):
        return False
    names, other_names = _names(words), _names(others)
    if not names or not other_names:
        return False
    return _fits(names, other_names) or _fits_without_kinds(names, other_names)


def has_number(street: str) -> bool:
    """Whether a comparable street says which house."""
    return bool(street) and street[0].isdigit()


def _words(text: str) -> list[str]:
    """Letters and digits of any script with the marks that belong to them, in small letters and without accents."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    kept = (letter if is_letter(letter) else " " for letter in folded if not "\u0300" <= letter <= "\u036f")
    return unicodedata.normalize("NFC", "".join(kept)).split()


def _without_unit(street: str) -> str:
    """What stands behind a comma, once a name and a number have been said, is a floor, a flat or a district."""
    if "," not in street:
        return street
    parts = street.split(",")
    kept = parts[0]
    for part in parts[1:]:
        has_name = any(letter.isalpha() for letter in kept)
        if has_name and any(letter.isdigit() for letter in kept) and not _NUMBER_ALONE.match(part):
            break
        kept = f"{kept} {part}"
    return kept


def _before_unit(words: list[str], table: StreetWords) -> list[str]:
    for position, word in enumerate(words):
        if position >= 2 and word in table.units and _begins_unit(words, position):
            head = words[:position]
            # "Main 5 2 og": the floor's number stands before its word.
            if len(_numbers(head)) > 1 and head[-1].isdigit() and not head[0].isdigit():
                head = head[:-1]
            return head
    return words


def _begins_unit(words: list[str], position: int) -> bool:
    """ "Suite 4" and "2 OG", but not the `et` of "12 rue Pierre et Marie Curie"."""
    if not _numbers(words[:position]):
        return False
    following = words[position + 1 : position + 2]
    is_last = not following
    return is_last or following[0][0].isdigit() or len(following[0]) == 1 or words[position - 1][0].isdigit()


def _joined(words: list[str]) -> list[str]:
    """`21 a` behind a name is `21a`. Before a name it is a point of the compass: `12 S Main`."""
    found: list[str] = []
    for position, word in enumerate(words):
        is_letter = len(word) == 1 and word.isascii() and word.isalpha()
        if is_letter and position >= 2 and found[-1].isdigit() and position == len(words) - 1:
            found[-1] += word
        else:
            found.append(word)
    return found


def _spelled(word: str, table: StreetWords) -> str:
    if word[0] in "ถซ":
        for head in _GLUED:
            word = word.removeprefix(head) or word
    for ending, whole in table.endings:
        if word.endswith(ending) and len(word) > len(ending) + 2 and not word.endswith(whole):
            return word[: -len(ending)] + whole
    return word


def _numbers(words: list[str]) -> list[str]:
    return sorted(word.lstrip("0") for word in words if word[0].isdigit())


def _names(words: list[str]) -> list[str]:
    return [word for word in words if not word[0].isdigit()]


def _fits_without_kinds(words: list[str], others: list[str]) -> bool:
    """One of the two leaves out what kind of street it is."""
    bare, other_bare = [word for word in words if not _is_kind(word)], [word for word in others if not _is_kind(word)]
    if not bare or not other_bare:
        return False
    if len(bare) < len(words) and len(other_bare) < len(others):
        return False  # both say it, and not the same
    return _fits(bare, other_bare)


def _is_kind(word: str) -> bool:
    table = street_words()
    return bool(table.meanings.get(word, frozenset()) & table.kinds)


def _fits(words: list[str], others: list[str]) -> bool:
    if len(words) == len(others):
        return all(_is_one_word(word, other) for word, other in zip(words, others, strict=True))
    # "sdr gade" and "søndergade"; a longer name that begins with a shorter one is another street
    short, long = sorted(("".join(words), "".join(others)), key=len)
    return not long.startswith(short) and 2 * len(short) > len(long) and is_contraction(short, long)


@lru_cache(maxsize=50_000)
def _is_one_word(word: str, other: str) -> bool:
    if word == other:
        return True
    meanings = street_words().meanings
    if meanings.get(word, frozenset((word,))) & meanings.get(other, frozenset((other,))):
        return True
    short, long = sorted((word, other), key=len)
    if long.startswith(short):
        # One letter stands for a first name; two or three for too much, unless they are listed.
        return len(short) >= _SHORTEST_BEGINNING or len(short) == 1
    return is_contraction(short, long)


def is_contraction(word: str, other: str) -> bool:
    """`vle` is short for `viale`, `storgt` for `storgata`: the letters of one stand in the other, in their order."""
    short, long = sorted((word, other), key=len)
    if not 3 <= len(short) <= max(_LONGEST_CONTRACTION, len(long) // 2) or len(long) < len(short) + 2:
        return False
    if short[0] != long[0] or not short.isalpha():
        return False
    letters = iter(long)
    return all(letter in letters for letter in short)
