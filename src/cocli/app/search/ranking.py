"""Fuzzy matching: which of many lines a few typed letters mean, the best first. Pure: texts in, numbers out.

A line has a head (what the thing is called) and a rest (numbers, addresses). A term matches a line that has it, or
whose head has its letters in order, as in `fzf`; several terms must all match. A hundred thousand lines are searched
at every key press, so the work is done by the interpreter's own string search over one long text, from the most to
the least telling kind of match, and only until there are enough lines; those few are then scored.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ENOUGH = 400
"""Lines that are looked at closely. More than fit on a screen, few enough to be scored between two key presses."""

_MATCH, _WORD_START, _LINE_START, _WHOLE_WORD, _ADJACENT = 16, 10, 6, 8, 6
_GAP = 1
_LATE = 12
"""Letters by which a match may stand further right before it costs a point: the name comes first in a line."""


def fold(text: str) -> str:
    """A text as it is searched: lower case, without accents, in one line."""
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return " ".join(text.casefold().split())


class Lines:
    """Many folded lines, each a head and a rest, ready to be searched."""

    def __init__(self, lines: Sequence[tuple[str, str]]) -> None:
        self._heads = _Text([head for head, _ in lines])
        self._whole = _Text([f"{head} {rest}" for head, rest in lines])

    def __len__(self) -> int:
        return len(self._whole.lines)

    def best(self, query: str, limit: int) -> tuple[list[int], bool]:
        """The numbers of the best lines, best first, and whether there are more that match."""
        terms = fold(query).split()
        if not terms:
            return list(range(min(limit, len(self)))), len(self) > limit
        found: dict[int, None] = {}
        for number in self._candidates(terms):
            found[number] = None
            if len(found) > max(ENOUGH, limit):
                break
        lines, heads = self._whole.lines, self._heads.lines
        scored = sorted(found, key=lambda number: (-_total(lines[number], terms), len(heads[number]), number))
        return scored[:limit], len(scored) > limit

    def _candidates(self, terms: list[str]) -> Iterator[int]:
        """Lines that match, the more telling kinds first; one line may come more than once."""
        if any(letter not in self._whole.text for term in terms for letter in term):
            return
        counts = {term: self._whole.text.count(term) for term in terms}
        rarest = min((term for term in terms if counts[term]), key=counts.__getitem__, default=None)
        if rarest is not None:
            yield from self._having(rarest, list(counts))
        digits = [term for term in counts if term.isdigit()]
        if digits:  # those that are strewn over a line mean nothing
            needed = min(digits, key=counts.__getitem__)
            if needed != rarest and counts[needed]:
                yield from self._having(needed, list(counts))
            return
        yield from self._heads.in_order(terms)
        if rarest is not None and len(counts) > 1:  # one may be strewn over the head, another stand in the rest
            chosen = max(counts, key=len)
            yield from self._having(chosen, list(counts))
            yield from self._matching(self._heads.in_order([chosen]), chosen, list(counts))

    def _having(self, needed: str, terms: list[str]) -> Iterator[int]:
        """Lines that have one term as it is, and match the others: where it begins a line, a word, anywhere."""
        for start in ("\n", " ", ""):
            yield from self._matching(self._whole.containing(start + needed, len(start)), needed, terms)

    def _matching(self, numbers: Iterator[int], known: str, terms: list[str]) -> Iterator[int]:
        """Those of the lines that match the other terms as well."""
        others = [(term, _in_order([term])) for term in terms if term != known]
        for number in numbers:
            line, head = self._whole.lines[number], self._heads.lines[number]
            if all(term in line or (pattern.match(head) and not term.isdigit()) for term, pattern in others):
                yield number


class _Text:
    """Lines as one long text: a search over all of them is one call."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.text = "\n" + "\n".join(lines) + "\n"
        self._starts = list(accumulate((len(line) + 1 for line in lines), initial=1))

    def containing(self, text: str, skipped: int = 0) -> Iterator[int]:
        """The lines that have a text; its first `skipped` letters may be the line feed before the line."""
        position = self.text.find(text)
        while position >= 0:
            number = bisect_right(self._starts, position + skipped) - 1
            if number == len(self.lines):  # the line feed at the very end
                return
            yield number
            position = self.text.find(text, self._starts[number + 1] - 1)

    def in_order(self, terms: Sequence[str]) -> Iterator[int]:
        """The lines that have the letters of every term in order."""
        pattern = _in_order(terms)
        rarest = min({letter for term in terms for letter in term}, key=self.text.count)
        if self.text.count(rarest) * 3 < len(self.lines):
            yield from (number for number in self.containing(rarest) if pattern.match(self.lines[number]))
            return
        for match in pattern.finditer(self.text, 1):
            yield bisect_right(self._starts, match.start()) - 1


def _total(line: str, terms: Sequence[str]) -> int:
    return sum(score(line, term) for term in terms)


def score(line: str, term: str) -> int:
    """How well a term fits a line that has its letters in order: whole words before beginnings before scattered."""
    best = -1
    position = line.find(term)
    while position >= 0:
        best = max(best, _score_at(line, term, position))
        position = line.find(term, position + 1)
    if best >= 0:
        return best
    return _score_scattered(line, term)


def _score_at(line: str, term: str, position: int) -> int:
    end = position + len(term)
    points = len(term) * _MATCH + (len(term) - 1) * _ADJACENT - position // _LATE
    if position == 0:
        points += _LINE_START
    if position == 0 or not line[position - 1].isalnum():
        points += _WORD_START
        if end == len(line) or not line[end].isalnum():
            points += _WHOLE_WORD
    return points


def _score_scattered(line: str, term: str) -> int:
    """Letter by letter from the left, then drawn together from the right, so that the tightest end is counted."""
    end = -1
    for letter in term:
        end = line.find(letter, end + 1)
        if end < 0:
            return 0
    positions = [end]
    for letter in reversed(term[:-1]):
        positions.append(line.rfind(letter, 0, positions[-1]))
    positions.reverse()
    points = len(term) * _MATCH - positions[0] // _LATE
    for before, here in zip([-1, *positions], positions, strict=False):
        if here == 0 or not line[here - 1].isalnum():
            points += _WORD_START
        if before >= 0:
            points += _ADJACENT if here == before + 1 else -_GAP * min(here - before - 1, _MATCH)
    return max(points, 1)


def _in_order(terms: Sequence[str]) -> re.Pattern[str]:
    """Lines that have the letters of every term in order. Nothing is tried twice, so the time grows with the text."""
    ahead = "".join(f"(?={_letters(term)})" for term in terms)
    return re.compile(f"^{ahead}" if len(terms) > 1 else f"^{_letters(terms[0])}", re.MULTILINE)


def _letters(term: str) -> str:
    return "".join(rf"[^{re.escape(letter)}\n]*+{re.escape(letter)}" for letter in term)
