"""What every reader of a file hands out: rows of named texts, and the rows that cannot be read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(slots=True)
class ImportRow:
    """One entry of a file: its number as a person counts (the line of a table, the card, the placemark)."""

    number: int
    cells: Mapping[str, str]
    """Column → text. A column that occurs twice has a number behind its second name."""
    own: Mapping[str, Any] | None = None
    """The same with the types that a spreadsheet gave them."""

    def keep_own(self) -> None:
        """What is added to the cells from now on is not given back."""
        if self.own is None:
            self.own = dict(self.cells)

    @property
    def values(self) -> Mapping[str, Any]:
        """What to give back to the person whose row it is."""
        return self.cells if self.own is None else self.own


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """An entry that is not imported, and why."""

    number: int
    reason: str
    text: str = ""
    """What stood there, shortened."""


@dataclass(slots=True)
class ImportTable:
    """A file, read: its columns in their order, its rows, and what did not fit."""

    format: str
    encoding: str
    columns: list[str] = field(default_factory=list)
    rows: list[ImportRow] = field(default_factory=list)
    refused: list[RefusedRow] = field(default_factory=list)
    blank: int = 0
    """Rows without anything in them."""
    delimiter: str | None = None
    sheet: str | None = None
    """Which sheet of a spreadsheet it is."""
    derived: list[str] = field(default_factory=list)
    """Columns that the file does not have: parts of JSON in its cells."""
    _seen: set[str] = field(default_factory=set)

    def see(self, columns: Mapping[str, str]) -> None:
        """Note the columns of a row, for files that have no header."""
        self.columns += [name for name in columns if name not in self._seen]
        self._seen.update(columns)


def distinct(names: list[str]) -> list[str]:
    """Names of columns of which no two are the same, and none is empty but those that have no name at all."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        text = " ".join(name.replace("\ufeff", "").split())
        seen[text] = seen.get(text, 0) + 1
        found.append(text if seen[text] == 1 or not text else f"{text} {seen[text]}")
    return found
