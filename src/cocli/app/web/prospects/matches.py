"""The search of the browser, in Python: the same rows in the same order. Exports of exactly a view are made by it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from cocli.app.results.rows import wanted_businesses
from cocli.app.search.ranking import fold
from cocli.app.web.prospects.fields import BETWEEN, FIELDS, cells_of, chosen_fields
from cocli.app.web.prospects.folding import digits_of, folded_cells, ordered, terms_of, word_starts, words_of
from cocli.app.web.prospects.view import ALL_NEEDED, FACETS, POSITION
from cocli.app.workspace import no_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from cocli.app.indexes.indexes import Indexes
    from cocli.app.web.prospects.view import View
    from cocli.app.workspace import Progress
    from cocli.results.exports.row import ExportRow

T = TypeVar("T")
MOST_LINES = 300_000
"""Up to so many rows a browser searches lines; above, it asks an index by ranges, which finds beginnings of words."""
_NO_RATING = -1
_NO_DIGITS = re.compile("[^0-9]+")


@dataclass(frozen=True, slots=True)
class Matched(Generic[T]):
    """A row with its cells."""

    cells: dict[str, str]
    row: T
    folded: str
    order: tuple[bytes, str]
    """By name, then by hash: the order of the lines."""


def matched(cells: Sequence[str], names: Sequence[str], row: T) -> Matched[T]:
    searched = [cell for name, cell in zip(names, cells, strict=True) if FIELDS[name].searched]
    known = dict(zip(names, cells, strict=True))
    return Matched(known, row, folded_cells(searched), (ordered(fold(known["name"])), known["id"]))


def matching_rows(
    indexes: Indexes,
    view: View,
    names: Sequence[str] = (),
    progress: Progress = no_progress,
    as_of: datetime | None = None,
) -> list[ExportRow]:
    """The prospects of a campaign that a view shows, in its order; now, or as they were."""
    fields = tuple(names) or chosen_fields()
    rows, total = [], 0
    for total, row in enumerate(wanted_businesses(indexes, progress, as_of), 1):  # noqa: B007  how many there were
        cells = cells_of(row, fields)
        if _is_wanted(dict(zip(fields, cells, strict=True)), view):  # folding costs more than looking at columns
            rows.append(matched(cells, fields, row))
    return [found.row for found in matching(rows, view, by_words=total > MOST_LINES)]


def matching(rows: Iterable[Matched[T]], view: View, *, by_words: bool | None = None) -> list[Matched[T]]:
    """Those of the rows that a view shows, in its order. `by_words`: as an index finds them, not as lines do."""
    known = sorted(rows, key=lambda row: row.order)
    as_index = len(known) > MOST_LINES if by_words is None else by_words
    finds = _word_test(view) if as_index else _text_test(view)
    wanted = [row for row in known if _is_wanted(row.cells, view) and finds(row)]
    return _sorted(wanted, view, ranked=not as_index)


# --- words


def _text_test(view: View) -> Callable[[Matched[T]], bool]:
    terms = [(term, digits_of(term)) for term in terms_of(view.q)]

    def finds(row: Matched[T]) -> bool:
        return all(term in row.folded or (digits and digits in row.folded) for term, digits in terms)

    return finds


def _word_test(view: View) -> Callable[[Matched[T]], bool]:
    terms = [(words_of(term), digits_of(term)) for term in terms_of(view.q)]

    def finds(row: Matched[T]) -> bool:
        words = row_words(row.cells, row.folded)
        return all(_begins_all(words, parts) or _begins_all(words, [digits]) for parts, digits in terms)

    return finds


def _begins_all(words: set[str], beginnings: Sequence[str]) -> bool:
    """A term without any letter is in every row; an empty one asks for nothing."""
    if list(beginnings) == [""]:
        return False
    return all(any(word.startswith(start) for word in words) for start in beginnings)


def row_words(cells: dict[str, str], folded: str) -> set[str]:
    """The words that an index knows a row by. A phone is known by its last ten digits, too."""
    words = set(words_of(folded))
    digits = _NO_DIGITS.sub("", cells.get("phone", ""))
    if digits:
        words |= {digits, digits[-10:]}
    return words


# --- columns


def _is_wanted(cells: dict[str, str], view: View) -> bool:
    if any(not is_present(cells, name) for name in view.has) or any(is_present(cells, name) for name in view.lacks):
        return False
    if view.min_rating is not None and rating_of(cells) < round(view.min_rating * 100):
        return False
    for facet, wanted in view.facets.items():
        values = set(values_of(cells, facet))
        fits = values.issuperset(wanted) if facet in ALL_NEEDED else not values.isdisjoint(wanted)
        if not fits:
            return False
    return True


def is_present(cells: dict[str, str], name: str) -> bool:
    if name == POSITION:
        return bool(cells.get("lat") and cells.get("lon"))
    return bool(cells.get(name))


def values_of(cells: dict[str, str], facet: str) -> list[str]:
    cell = cells.get(FACETS[facet], "")
    return cell.split(BETWEEN) if cell else []


def rating_of(cells: dict[str, str]) -> int:
    """In hundredths, as browsers keep it."""
    rating = cells.get("rating")
    return round(float(rating) * 100) if rating else _NO_RATING


# --- order


def _sorted(rows: list[Matched[T]], view: View, *, ranked: bool) -> list[Matched[T]]:
    """Rows without a value come last, in both directions. What is equal stays in the order of the names."""
    if view.sort in ("best", "name"):
        if view.sort == "best" and (terms := terms_of(view.q)):
            rank = name_rank if ranked else _is_named_else
            return sorted(rows, key=lambda row: rank(row.folded.partition("\t")[0], terms))
        return rows[::-1] if view.desc else rows
    with_value = [row for row in rows if row.cells.get(view.sort)]
    without = [row for row in rows if not row.cells.get(view.sort)]
    if view.desc:
        with_value.reverse()  # sorting keeps the order of equals also when it is reversed: they end as they began
        ordered_rows = sorted(with_value, key=lambda row: _sort_value(row.cells, view.sort))[::-1]
    else:
        ordered_rows = sorted(with_value, key=lambda row: _sort_value(row.cells, view.sort))
    return ordered_rows + without


def _sort_value(cells: dict[str, str], sort: str) -> tuple[bytes, ...] | int:
    if sort == "city":
        return (ordered(fold(cells["city"])), ordered(cells["city"]))
    if sort == "rating":
        return rating_of(cells)
    if sort == "reviews":
        return int(cells["reviews"])
    return (cells["updated"].encode(),)


def _is_named_else(name: str, terms: Sequence[str]) -> int:
    """What an index knows of a name: whether it begins with the words."""
    return 0 if name.startswith(" ".join(terms)) else 1


def name_rank(name: str, terms: Sequence[str]) -> int:
    """0: the name begins with the words; 1: they begin words of it; 2: they are in it; 3: they are elsewhere."""
    if name.startswith(" ".join(terms)):
        return 0
    starts = list(word_starts(name))
    if all(any(name.startswith(term, start) for start in starts) for term in terms):
        return 1
    return 2 if all(term in name for term in terms) else 3
