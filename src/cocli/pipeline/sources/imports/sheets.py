"""Spreadsheets: .xlsx, .xlsb, .xls and .ods. The rows of one sheet, below the row that names the columns."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from cocli.errors import FormatError, UsageError
from cocli.pipeline.sources.imports.cells import cell_text
from cocli.pipeline.sources.imports.domains import COLUMN, is_site
from cocli.pipeline.sources.imports.extent import check_spreadsheet
from cocli.pipeline.sources.imports.headers import NO_HEADER, header_of, numbered
from cocli.pipeline.sources.imports.rows import ImportRow, ImportTable, RefusedRow, distinct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from python_calamine import CalamineWorkbook

_SHOWN = 200
_PACKED = b"PK\x03\x04"


def read_sheet(data: bytes, *, file: str, sheet: str | None = None) -> ImportTable:
    """The rows of the sheet that is named, by its name or its number; else of the first one that has any."""
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    if data.startswith(_PACKED):
        check_spreadsheet(data, file)
    try:
        with CalamineWorkbook.from_filelike(io.BytesIO(data)) as workbook:
            name, rows = _rows(workbook, sheet, file)
    except PasswordError as error:
        raise UsageError(reason=f"{file} is protected by a password", hint="Save it without a password.") from error
    except CalamineError as error:
        raise FormatError(file=file, line=1, reason=f"the spreadsheet cannot be read: {error}") from error
    return _table(rows, file, name)


def _rows(workbook: CalamineWorkbook, sheet: str | None, file: str) -> tuple[str, list[list[Any]]]:
    names = workbook.sheet_names
    if sheet is not None:
        name = _named(names, sheet, file)
        return name, workbook.get_sheet_by_name(name).to_python(skip_empty_area=False)
    for name in names:
        found = workbook.get_sheet_by_name(name)
        if found.height:
            return name, found.to_python(skip_empty_area=False)
    raise FormatError(file=file, line=1, reason="none of its sheets has a row")


def _named(names: Sequence[str], sheet: str, file: str) -> str:
    if sheet in names:
        return sheet
    by_case = [name for name in names if name.casefold() == sheet.casefold()]
    if len(by_case) == 1:
        return by_case[0]
    if sheet.isdecimal() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    listed = ", ".join(f'"{name}"' for name in names) or "none"
    raise UsageError(reason=f'{file} has no sheet "{sheet}"', hint=f"Its sheets: {listed}")


def _table(rows: Sequence[Sequence[Any]], file: str, sheet: str) -> ImportTable:
    texts = [[cell_text(cell) for cell in row] for row in rows]
    filled = [position for position, row in enumerate(texts) if any(cell.strip() for cell in row)]
    if not filled:
        raise FormatError(file=file, line=1, reason=f'the sheet "{sheet}" has no row')
    table = ImportTable("sheet", "utf-8", sheet=sheet)
    header = _header(texts, filled)
    if header is None:
        table.columns = [COLUMN]
        for position in filled:
            _add_site(table, position, texts[position])
        return table
    names = distinct(texts[header]) if header >= 0 else numbered(max(len(row) for row in texts))
    table.columns = [name for name in names if name]
    for position, row in enumerate(texts[header + 1 :], header + 1):
        if not any(cell.strip() for cell in row):
            table.blank += 1
        else:
            cells = {name: cell for name, cell in zip(names, row, strict=False) if name}
            own = {name: cell for name, cell in zip(names, rows[position], strict=False) if name}
            table.rows.append(ImportRow(position + 1, cells, own))
    table.blank -= _trailing(texts)
    return table


def _trailing(texts: Sequence[Sequence[str]]) -> int:
    """Blank rows below the last one: a format that was given to whole columns leaves a million of them."""
    count = 0
    for row in reversed(texts):
        if any(cell.strip() for cell in row):
            break
        count += 1
    return count


def _header(texts: Sequence[Sequence[str]], filled: Sequence[int]) -> int | None:
    """The row that names the columns; None for a list of websites that has no header."""
    first = [cell.strip() for cell in texts[filled[0]] if cell.strip()]
    found = header_of(texts)
    if len(first) == 1 and is_site(first[0]) and found in (filled[0], NO_HEADER):
        return None
    return found


def _add_site(table: ImportTable, position: int, row: Sequence[str]) -> None:
    cells = [cell.strip() for cell in row if cell.strip()]
    if len(cells) == 1 and is_site(cells[0]):
        table.rows.append(ImportRow(position + 1, {COLUMN: cells[0]}))
    else:
        reason = "it is no domain and no address of a website"
        table.refused.append(RefusedRow(position + 1, reason, " ".join(cells)[:_SHOWN]))
