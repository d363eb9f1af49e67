"""Excel workbooks (.xlsx), written row by row: typed cells, links, widths, a header that stays. No formula, ever.

Nothing that comes from data is handed to a function of the library that guesses: texts are written as texts, so a
phone keeps its plus and a postcode its zeros. The limits of Excel are kept: a text that is too long for a cell is cut
and counted, links beyond the number that a sheet may have are texts, and a table with too many rows is refused.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, BinaryIO

from cocli.errors import UsageError
from cocli.results.exports.cells import clean_text, mail_address, web_address
from cocli.results.exports.tables import CellType, TableColumn, distinct_names, flat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from xlsxwriter.format import Format
    from xlsxwriter.workbook import Workbook
    from xlsxwriter.worksheet import Worksheet

MOST_ROWS = 1_048_575
"""Beside the header."""
MOST_COLUMNS = 16_384
MOST_LINKS = 65_530
_LONGEST_TEXT = 32_767
_LONGEST_LINK = 2_000
_CUT = " … (cut: too long for Excel)"
_EXACT = 1 << 53
"""Whole numbers beyond are rounded by Excel."""
_MEASURED_ROWS = 1_000
_NARROWEST, _WIDEST = 8, 50
_EARLIEST = datetime(1900, 3, 1)  # noqa: DTZ001  cells know no zone; before, Excel counts a day that never was
_UNDATED = datetime(2000, 1, 1)  # noqa: DTZ001  when a workbook without times was made: the same table, the same bytes


def write_xlsx_table(
    columns: Sequence[TableColumn],
    rows: Iterable[Sequence[Any]],
    out: BinaryIO,
    whom: Callable[[], Sequence[str]],
) -> list[str]:
    """One sheet, and one of credits where there are some; returns what a reader should know of what did not fit."""
    import xlsxwriter
    from xlsxwriter.exceptions import XlsxFileError

    if len(columns) > MOST_COLUMNS:
        raise UsageError(reason=f"A sheet of Excel has {MOST_COLUMNS:,} columns, and this table {len(columns):,}")
    with tempfile.TemporaryDirectory(prefix="cocli-xlsx-") as folder:
        target = os.path.join(folder, "table.xlsx")  # a broken pipe is met while copying, not inside the library
        workbook = xlsxwriter.Workbook(target, {"constant_memory": True, "tmpdir": folder, "use_zip64": True})
        try:
            sheet = _Sheet(workbook, columns)
            for row in rows:
                sheet.write(row)
            sheet.finish()
            _add_credits(workbook, whom())
            workbook.close()
        except XlsxFileError as error:
            if isinstance(error.__context__, OSError):
                raise error.__context__ from error  # as every other format fails where a disk is full
            raise
        finally:
            _close(workbook)
        with open(target, "rb") as made:
            shutil.copyfileobj(made, out, 1 << 20)
    return sheet.notes()


def _add_credits(workbook: Workbook, whom: Sequence[str]) -> None:
    """A sheet that says whom to name with the list, and under which licence."""
    if not whom:
        return
    sheet = workbook.add_worksheet("Licences")
    sheet.set_column(0, 0, 120)
    for number, credit in enumerate(("Name with this list:", *whom)):
        sheet.write_string(number, 0, clean_text(credit))


def _close(workbook: Workbook) -> None:
    """Close the file of the rows also where a row could not be read: the workbook itself is not finished then."""
    for sheet in workbook.worksheets():
        if not sheet.row_data_fh.closed:
            sheet.row_data_fh.close()
    workbook.fileclosed = 1


class _Sheet:
    """The sheet that is being written."""

    def __init__(self, workbook: Workbook, columns: Sequence[TableColumn]) -> None:
        self._workbook = workbook
        self._columns = columns
        self._sheet: Worksheet = workbook.add_worksheet("Businesses")
        self._formats = _Formats.of(workbook)
        self._row = 0
        self._links = 0
        self._unlinked = 0
        self._cut = 0
        self._newest = _UNDATED
        names = distinct_names(columns)
        self._widths = [len(name) + 3 for name in names]  # room for the button of the filter
        for number, name in enumerate(names):
            self._text(number, name, self._formats.header)
        self._writers = [self._writer(column.type) for column in columns]

    def write(self, row: Sequence[Any]) -> None:
        self._row += 1
        if self._row > MOST_ROWS:
            raise UsageError(
                reason=f"A sheet of Excel holds {MOST_ROWS:,} rows, and there are more",
                hint="Write a .csv or .parquet file, or choose fewer rows.",
            )
        for number, (write, value) in enumerate(zip(self._writers, row, strict=True)):
            cell = flat(value)
            if cell is not None and cell != "":
                write(number, cell)

    def finish(self) -> None:
        last = max(len(self._columns) - 1, 0)
        for number, width in enumerate(self._widths):
            self._sheet.set_column(number, number, min(max(width, _NARROWEST), _WIDEST))
        self._sheet.freeze_panes(1, 1)
        if self._columns:
            self._sheet.autofilter(0, 0, self._row, last)
            self._sheet.ignore_errors({"number_stored_as_text": f"A1:{_letters(last)}{self._row + 1}"})
        self._workbook.set_properties({"created": self._newest})

    def notes(self) -> list[str]:
        notes = []
        if self._cut:
            notes.append(
                f"{self._cut:,} texts were longer than a cell of Excel and are cut; a .csv file has them whole."
            )
        if self._unlinked:
            notes.append(f"A sheet of Excel has {MOST_LINKS:,} links at most; {self._unlinked:,} more are plain texts.")
        return notes

    # --- cells

    def _writer(self, type_: CellType) -> Callable[[int, Any], None]:
        found = {
            CellType.OWN: self._own,
            CellType.NUMBER: self._number,
            CellType.WHOLE: self._number,
            CellType.TIME: self._time,
            CellType.LINK: self._link,
            CellType.EMAIL: self._email,
        }
        return found.get(type_, self._text)

    def _text(self, column: int, value: Any, format_: Format | None = None) -> None:
        text = self._fitting(clean_text(str(value)))
        if text:
            self._measure(column, len(text.partition("\n")[0]))
            self._sheet.write_string(self._row, column, text, format_)

    def _own(self, column: int, value: Any) -> None:
        if isinstance(value, bool):
            self._sheet.write_boolean(self._row, column, value)
        elif isinstance(value, (int, float)):
            self._number(column, value)
        elif isinstance(value, datetime):
            self._time(column, value)
        else:
            self._text(column, value)

    def _number(self, column: int, value: Any) -> None:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or abs(value) > _EXACT:
            self._text(column, value)
            return
        self._measure(column, len(str(value)))
        self._sheet.write_number(self._row, column, value)

    def _time(self, column: int, value: Any) -> None:
        """As clocks show it in the zone of the value: a cell knows no zone."""
        if not isinstance(value, datetime):
            self._text(column, value)
            return
        plain = value.replace(tzinfo=None)
        if plain < _EARLIEST:
            self._text(column, plain.isoformat(" "))
            return
        self._newest = max(self._newest, plain)
        self._measure(column, len("2026-11-15 12:00"))
        self._sheet.write_datetime(self._row, column, plain, self._formats.time)

    def _link(self, column: int, value: Any) -> None:
        self._linked(column, str(value), web_address(str(value)))

    def _email(self, column: int, value: Any) -> None:
        self._linked(column, str(value), mail_address(str(value)))

    def _linked(self, column: int, value: str, address: str | None) -> None:
        if address is None or len(address) > _LONGEST_LINK or not address.isprintable():
            self._text(column, value)
            return
        if self._links >= MOST_LINKS:
            self._unlinked += 1
            self._text(column, value)
            return
        text = self._fitting(clean_text(value))
        self._links += 1
        self._measure(column, len(text))
        self._sheet.write_url(self._row, column, address, self._formats.link, text)

    def _fitting(self, text: str) -> str:
        """A text that a cell can hold, and that the library takes for nothing but a text."""
        if len(text) * 2 > _LONGEST_TEXT and len(text.encode("utf-16-le")) // 2 > _LONGEST_TEXT:
            self._cut += 1
            room = (_LONGEST_TEXT - len(_CUT)) * 2
            text = text.encode("utf-16-le")[:room].decode("utf-16-le", "ignore") + _CUT
        if text.startswith("<r>") and text.endswith("</r>"):
            return f"{text} "  # what looks like this is written unescaped, as the markup of a rich text
        return text

    def _measure(self, column: int, width: int) -> None:
        if self._row <= _MEASURED_ROWS and width + 1 > self._widths[column]:
            self._widths[column] = width + 1


@dataclass(frozen=True, slots=True)
class _Formats:
    header: Format
    time: Format
    link: Format

    @classmethod
    def of(cls, workbook: Workbook) -> _Formats:
        return cls(
            workbook.add_format({"bold": True, "bg_color": "#E7EAE5", "bottom": 1, "valign": "top"}),
            workbook.add_format({"num_format": "yyyy-mm-dd hh:mm", "align": "left"}),
            workbook.add_format({"font_color": "#0563C1", "underline": 1}),
        )


def _letters(column: int) -> str:
    from xlsxwriter.utility import xl_col_to_name

    name: str = xl_col_to_name(column)
    return name
