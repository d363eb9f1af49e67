"""How texts are compared: the folding of `cocli find`, told to browsers so exactly that they fold alike."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Any

from cocli.app.search.ranking import fold

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"[+(]?[0-9][0-9().+/-]*")
_BASIC = 0xFFFF
_BEYOND = re.compile("[\U00010000-\U0010ffff]")
_DIGITS = 5
"""So many digits of a number are looked for without what people write between them."""


@cache
def fold_rules() -> dict[str, Any]:
    """What a browser needs beside its own normalization: which marks are dropped, which letters fold in another way
    than to their lower case."""
    marks: list[list[int]] = []
    letters: dict[str, str] = {}
    for point in range(0x80, sys.maxunicode + 1):
        letter = chr(point)
        if unicodedata.combining(letter):
            if marks and marks[-1][1] == point - 1:
                marks[-1][1] = point
            else:
                marks.append([point, point])
        elif letter.casefold() != letter.lower() and unicodedata.normalize("NFKD", letter) == letter:
            letters[letter] = letter.casefold()
    return {"marks": marks, "letters": letters}


def folded_cells(cells: Sequence[str]) -> str:
    """The searched cells of a row, as one text."""
    return "\t".join(map(fold, cells))


def word_text(text: str) -> str:
    """A text with the words of the folded one, and with spaces as they were: faster where there are many."""
    if not text.isascii():
        text = _marks(0, _BASIC).sub("", unicodedata.normalize("NFKD", text))
        if _BEYOND.search(text):
            text = _marks(_BASIC + 1, sys.maxunicode).sub("", text)
    return text.casefold()


@cache
def _marks(least: int, most: int) -> re.Pattern[str]:
    """The marks of one part of the code points. Those of the basic plane alone are found by a table, and fast."""
    ranges = [(first, last) for first, last in fold_rules()["marks"] if least <= first <= most]
    return re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges) + "]+")


def terms_of(query: str) -> list[str]:
    return list(dict.fromkeys(fold(query).split()))


def digits_of(term: str) -> str:
    """The digits of a term that looks like a number: phones are kept without what people write between."""
    digits = "".join(letter for letter in term if letter in "0123456789")
    if _NUMBER.fullmatch(term) and len(digits) >= _DIGITS and digits != term:
        return digits
    return ""


def words_of(text: str) -> list[str]:
    """The words of a folded text."""
    return _WORD.findall(text)


def ordered(text: str) -> bytes:
    """A text as browsers compare it: by its UTF-16 units."""
    return text.encode("utf-16-be", "surrogatepass")


def word_starts(name: str) -> Iterator[int]:
    """Where words begin in a folded name."""
    for match in _WORD.finditer(name):
        yield match.start()
