"""CSV: made harmless for those who open it in a spreadsheet, or raw for programs."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any, BinaryIO

from cocli.formats.spreadsheets import is_taken_for_number
from cocli.results.exports.cells import clean_text, harmless, readable_phone
from cocli.results.exports.tables import CellType, TableColumn, flat_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Cell = str | int | float | None

UTF_8_MARK = b"\xef\xbb\xbf"
"""At the beginning of a file it tells Excel that the file is UTF-8."""


def write_csv_table(columns: Sequence[TableColumn], rows: Iterable[Sequence[Any]], out: BinaryIO) -> list[str]:
    """For a spreadsheet: no formulas, one line per cell, phones and postcodes that stay."""
    types = [column.type for column in columns]
    with _writer(out) as write:
        write([_harmless(column.name) for column in columns])
        for row in rows:
            write([_as_shown(type_, flat_text(value)) for type_, value in zip(types, row, strict=True)])
    return []


def write_marked_csv_table(columns: Sequence[TableColumn], rows: Iterable[Sequence[Any]], out: BinaryIO) -> list[str]:
    """The same with the mark of UTF-8 in front, wherever it is written to."""
    out.write(UTF_8_MARK)
    return write_csv_table(columns, rows, out)


def write_raw_csv_table(columns: Sequence[TableColumn], rows: Iterable[Sequence[Any]], out: BinaryIO) -> list[str]:
    """RFC 4180 in UTF-8, values as they are but for control characters: for programs, not for spreadsheets."""
    with _writer(out) as write:
        write([clean_text(column.name) for column in columns])
        for row in rows:
            write([_plain(flat_text(value)) for value in row])
    return []


def write_plain_phones_csv_table(
    columns: Sequence[TableColumn], rows: Iterable[Sequence[Any]], out: BinaryIO
) -> list[str]:
    """For programs that people look over in a spreadsheet first: no formulas, and phones and postcodes untouched."""
    with _writer(out) as write:
        write([_harmless(column.name) for column in columns])
        for row in rows:
            write([_harmless(flat_text(value)) for value in row])
    return []


def _plain(value: Cell) -> Cell:
    if isinstance(value, str):
        return clean_text(value)
    return value


def _harmless(value: Cell) -> Cell:
    return harmless(value) if isinstance(value, str) else value  # a number is a number: -89.65 stays one


def _as_shown(type_: CellType, value: Cell) -> Cell:
    """As a spreadsheet shows it: texts that it would take for numbers or dates are marked as texts."""
    safe = _harmless(value)
    if not isinstance(safe, str):
        return safe
    if type_ is CellType.PHONE and safe.startswith("+"):
        return readable_phone(safe)
    if type_ is not CellType.TIME and is_taken_for_number(safe):
        return f"'{safe}"
    return safe


class _writer:  # noqa: N801  a context manager, used as a function
    """Rows → lines of bytes, as they come."""

    def __init__(self, out: BinaryIO) -> None:
        self._text = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=False)

    def __enter__(self) -> Callable[[Sequence[Cell]], object]:
        return csv.writer(self._text, lineterminator="\r\n").writerow

    def __exit__(self, *_: object) -> None:
        self._text.flush()
        self._text.detach()  # the file is the caller's to close
