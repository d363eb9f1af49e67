"""The terms of all rows, sorted, each with the rows that have it. A term is

- a word of the folded text;
- `\x01FACET=VALUE` and `\x01has=COLUMN`: the rows that a filter leaves.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cocli.app.web.prospects.fields import BETWEEN
from cocli.app.web.prospects.folding import word_text
from cocli.app.web.prospects.matches import row_words
from cocli.app.web.prospects.view import FACETS, POSITION, PRESENCES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from cocli.app.web.prospects.tables import ProspectTable

CROWD = 4_000
"""A beginning that more words have than this is a crowd: its rows are kept as one list."""
_LONGEST_CROWD = 12
_FIRST_WORD = "\x02"
_LAST_LETTER = "\U0010ffff"
_ROW_BITS = 32


class TermNumbers(dict[str, int]):
    """A number for each term, in the order in which they come."""

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self)
        return number


@dataclass(frozen=True, slots=True)
class Beginning:
    """Words that begin alike: those from `first` up to, without, `last`."""

    text: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class SortedTerms:
    """Terms in the order of their bytes. Those of one place have `rows[bounds[place]:bounds[place + 1]]`."""

    terms: list[str]
    rows: NDArray[np.uint32]
    bounds: NDArray[np.int64]
    count: int
    """Of all rows."""

    def rows_of(self, term: str) -> NDArray[np.uint32]:
        place = bisect_left(self.terms, term)
        if place == len(self.terms) or self.terms[place] != term:
            return self.rows[:0]
        return self.rows[self.bounds[place] : self.bounds[place + 1]]

    def rows_between(self, first: int, last: int) -> NDArray[np.uint32]:
        """The rows of several terms, each row once."""
        marks = np.zeros(self.count, np.bool_)
        marks[self.rows[self.bounds[first] : self.bounds[last]]] = True
        return np.flatnonzero(marks).astype(np.uint32)

    def crowds(self) -> Iterator[Beginning]:
        """The beginnings that many words have, however long they are."""
        waiting = [Beginning("", bisect_left(self.terms, _FIRST_WORD), len(self.terms))]
        while waiting:
            crowd = waiting.pop()
            if crowd.text:
                yield crowd
            if len(crowd.text) < _LONGEST_CROWD:
                waiting += [longer for longer in self._longer(crowd) if longer.last - longer.first > CROWD]

    def _longer(self, crowd: Beginning) -> Iterator[Beginning]:
        """The beginnings with one letter more."""
        place = crowd.first
        while place < crowd.last:
            text = self.terms[place][: len(crowd.text) + 1]
            if text == crowd.text:  # the word itself: nothing follows
                place += 1
                continue
            end = bisect_left(self.terms, text + _LAST_LETTER, place, crowd.last)
            yield Beginning(text, place, end)
            place = end


def sorted_terms(table: ProspectTable) -> SortedTerms:
    """Term and row are one number, so that all pairs are sorted at once: some hundred megabytes for a million rows."""
    numbers, found, counts = TermNumbers(), array("I"), array("I")
    of_row = _RowTerms(table, numbers).of
    for row in table.rows:
        terms = of_row(row)
        found.fromlist(terms)
        counts.append(len(terms))
    known = list(numbers)
    del numbers
    order = np.array(sorted(range(len(known)), key=known.__getitem__), np.int64)
    ids = np.frombuffer(found, np.uint32)
    ranks = np.empty(len(known), np.uint64)
    ranks[order] = np.arange(len(known), dtype=np.uint64)
    pairs = ranks[ids]
    pairs <<= np.uint64(_ROW_BITS)
    pairs |= np.repeat(np.arange(len(table.rows), dtype=np.uint32), np.frombuffer(counts, np.uint32))
    pairs.sort()
    sizes = np.bincount(ids, minlength=len(known))[order]
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
    return SortedTerms([known[place] for place in order], pairs.astype(np.uint32), bounds, len(table.rows))


class _RowTerms:
    """The numbers of each row's terms. What many rows have in common is made once."""

    def __init__(self, table: ProspectTable, numbers: TermNumbers) -> None:
        self._numbers = numbers
        self._searched = table.searched
        self._phone = table.names.index("phone") if "phone" in table.names else None
        self._facets = [(table.names.index(FACETS[facet]), _CellTerms(facet, numbers)) for facet in table.facets()]
        needed = {name: ("lat", "lon") if name == POSITION else (name,) for name in PRESENCES}
        self._of_filled: dict[tuple[bool, ...], list[int]] = {}
        self._has = [
            (filter_term("has", name), [table.names.index(column) for column in columns])
            for name, columns in needed.items()
            if set(columns) <= set(table.names)
        ]

    def of(self, row: list[str]) -> list[int]:
        """Folded as one text: words are the same as those of each cell."""
        phone = {"phone": row[self._phone]} if self._phone is not None else {}
        words = row_words(phone, word_text("\t".join(row[: self._searched])))
        found = list(map(self._numbers.__getitem__, words))
        for place, cells in self._facets:
            found += cells[row[place]]
        return found + self._presences(tuple(map(bool, row)))

    def _presences(self, filled: tuple[bool, ...]) -> list[int]:
        known = self._of_filled.get(filled)
        if known is None:
            has = [term for term, places in self._has if all(filled[place] for place in places)]
            known = self._of_filled[filled] = [self._numbers[term] for term in has]
        return known


class _CellTerms(dict[str, list[int]]):
    """A facet's cell → the numbers of its values."""

    def __init__(self, facet: str, numbers: TermNumbers) -> None:
        super().__init__({"": []})
        self._facet = facet
        self._numbers = numbers

    def __missing__(self, cell: str) -> list[int]:
        values = dict.fromkeys(cell.split(BETWEEN))
        known = self[cell] = [self._numbers[filter_term(self._facet, value)] for value in values]
        return known


def filter_term(name: str, value: str) -> str:
    return f"\x01{name}={value}"
