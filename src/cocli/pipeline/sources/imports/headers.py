"""Which of the first rows names the columns: a title may stand above it, or there may be none at all."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cocli.pipeline.sources.imports.columns.kinds import Kind, kind_of
from cocli.pipeline.sources.imports.fields import readings, recognised

if TYPE_CHECKING:
    from collections.abc import Sequence

_WITHIN = 10
"""So many rows may stand above the header: a title, a date, a remark."""
_LOOKED_AT = 50
_VALUES = frozenset(
    {Kind.MAP_LINK, Kind.PLACE_ID, Kind.EMAIL, Kind.URL, Kind.PHONE, Kind.POINT, Kind.DEGREES, Kind.SOCIAL}
)
"""Nobody calls a column so."""
NO_HEADER = -1


def header_of(rows: Sequence[Sequence[str]]) -> int:
    """The position of the row that names the columns; `NO_HEADER` where the first row is one of the values.

    Of the first rows it is the one with most names that are known; where none is known, the first that is as wide as
    most rows are.
    """
    filled = [position for position, row in enumerate(rows[:_LOOKED_AT]) if any(cell.strip() for cell in row)]
    if not filled:
        return 0
    known = recognised()

    def hits(position: int) -> int:
        names = [cell for cell in rows[position] if cell.strip() and not _is_value(cell)]
        return sum(any(name in known for name in readings(cell)) for cell in names)

    best = max(filled[:_WITHIN], key=hits)
    if hits(best):
        return best
    widths = Counter(_width(rows[position]) for position in filled)
    usual = max(widths, key=lambda width: (widths[width], width))
    first = next((position for position in filled[:_WITHIN] if _width(rows[position]) >= usual), filled[0])
    if sum(_is_value(cell) for cell in rows[first]) > 0 and _repeats_below(rows, filled, first):
        return NO_HEADER
    return first


def numbered(width: int) -> list[str]:
    """Names for columns that have none."""
    return [f"column {number}" for number in range(1, width + 1)]


def _is_value(cell: str) -> bool:
    text = cell.strip()
    return bool(text) and kind_of(text) in _VALUES


def _width(row: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in row)


def _repeats_below(rows: Sequence[Sequence[str]], filled: Sequence[int], first: int) -> bool:
    """The rows below have values of the same kind in the same places; one row alone may be anything."""
    places = [place for place, cell in enumerate(rows[first]) if _is_value(cell)]
    below = [rows[position] for position in filled if position > first]
    return any(place < len(row) and _is_value(row[place]) for row in below for place in places)
