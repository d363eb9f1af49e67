"""Tables in general: columns with types, rows of values, and what the values are in formats with and without structure.

A row is a sequence of values in the order of the columns. Which formats hold a table is `table_formats`; which columns
a prospect has is `columns`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from cocli.models.record import render_utc
from cocli.results.exports.cells import clean_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Flat = str | int | float | bool | datetime | None
"""What one cell holds."""
Value = Any
"""A flat value, a list or a map: formats with structure keep it, the others write it as one text."""
BETWEEN = "; "


class CellType(StrEnum):
    """What the values of a column are; the formats show them accordingly. Nothing (None) is of every type."""

    OWN = "own"
    """Each value as its own type says: for columns of a person's list, of which nothing else is known."""
    TEXT = "text"
    """Never taken for a number, a date or a formula."""
    PHONE = "phone"
    POSTCODE = "postcode"
    LINK = "link"
    """The address of a website; where it can be opened it is a link."""
    EMAIL = "email"
    NUMBER = "number"
    WHOLE = "whole"
    TIME = "time"
    TEXTS = "texts"
    """A list of texts."""
    DATA = "data"
    """Lists and maps of anything that JSON can say."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    name: str
    type: CellType = CellType.TEXT


class WriteTable(Protocol):
    """Writes rows as they come. Returns what a reader of the file should know, in sentences: mostly nothing."""

    def __call__(
        self, columns: Sequence[TableColumn], rows: Iterable[Sequence[Value]], out: BinaryIO, /
    ) -> list[str]: ...


# --- values


def flat(value: Value) -> Flat:
    """The value for a format without structure: a list is joined, a map is `key value` joined."""
    if isinstance(value, (list, tuple)):
        return BETWEEN.join(str(flat(item)) for item in value if item is not None) or None
    if isinstance(value, dict):
        return BETWEEN.join(f"{key} {flat(item)}" for key, item in sorted(value.items())) or None
    result: Flat = value
    return result


def flat_text(value: Value) -> str | int | float | None:
    """As `flat`, with a time as its text."""
    found = flat(value)
    if isinstance(found, datetime):
        return time_text(found)
    return found


def time_text(value: datetime) -> str:
    """`2026-11-15T18:00:00Z`; in another zone with its offset, `2026-11-15T12:00:00-06:00`; without a zone without."""
    if value.tzinfo is UTC:
        return render_utc(value)
    return value.isoformat(timespec="seconds")


def plain_data(value: Value) -> Value:
    """What JSON can say, without control characters in any text."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, datetime):
        return time_text(value)
    if isinstance(value, (list, tuple)):
        return [plain_data(item) for item in value]
    if isinstance(value, dict):
        return {clean_text(str(key)): plain_data(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON has no number for it
    return value


def distinct_names(columns: Sequence[TableColumn]) -> list[str]:
    """The names of the columns, each once, whatever the case of the letters, and none blank: a second gets `_2`."""
    names: list[str] = []
    taken: set[str] = set()
    for number, column in enumerate(columns, 1):
        name = wanted = clean_text(column.name).strip() or f"column_{number}"
        again = 1
        while name.casefold() in taken:
            again += 1
            name = f"{wanted}_{again}"
        taken.add(name.casefold())
        names.append(name)
    return names


def records(columns: Sequence[TableColumn], rows: Iterable[Sequence[Value]]) -> Iterable[Mapping[str, Value]]:
    """Rows as maps from name to value, ready for JSON."""
    names = distinct_names(columns)
    for row in rows:
        yield {name: plain_data(value) for name, value in zip(names, row, strict=True)}
