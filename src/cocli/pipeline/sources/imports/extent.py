"""How far the cells of a spreadsheet reach, seen before they are laid out in memory: one in the far corner is enough to
fill it, and so is one that is repeated a million times."""

from __future__ import annotations

import re

from cocli.errors import UsageError
from cocli.pipeline.sources.imports.unpacking import check_members, member_content, opened_archive

MAX_CELLS = 50_000_000
"""Cells of a sheet, from its corner to its last one: empty ones take room too."""
_SHEET_FILE = re.compile(r"xl/worksheets/[^/]+\.xml")
_OPEN_SHEETS = "content.xml"
_CELL = re.compile(rb'\sr="([A-Z]{1,3})([0-9]{1,7})"')
_ELEMENT = re.compile(rb"<table:(table|table-row|table-cell|covered-table-cell)(?=[\s/>])([^<>]*)>")
_REPEATED = re.compile(rb'table:number-(?:rows|columns)-repeated="([0-9]{1,9})')


def check_spreadsheet(data: bytes, file: str) -> None:
    """Refuse a packed spreadsheet that unpacks to too much, or is laid out over more cells than memory has."""
    check_members(data, file)
    with opened_archive(data, file) as archive:
        names = archive.namelist()
    extents = [_extent(member_content(data, name, file)) for name in names if _SHEET_FILE.fullmatch(name)]
    if _OPEN_SHEETS in names:
        extents.append(_open_extent(member_content(data, _OPEN_SHEETS, file)))
    for height, width in extents:
        if height * width > MAX_CELLS:
            raise UsageError(
                reason=f"{file} spreads its cells over {height:,} rows and {width:,} columns",
                hint="Copy the list itself into a new spreadsheet, or save it as CSV.",
            )


def _extent(content: bytes) -> tuple[int, int]:
    width, height = 0, 0
    for match in _CELL.finditer(content):
        width, height = max(width, _column_number(match[1])), max(height, int(match[2]))
    return height, width


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number


def _open_extent(content: bytes) -> tuple[int, int]:
    """Of all sheets of an OpenDocument together. Empty cells at the end of a row, and empty rows, reach nowhere."""
    height = width = 0
    below = times = column = 0
    for match in _ELEMENT.finditer(content):
        kind, attributes = match[1], match[2]
        found = _REPEATED.search(attributes)
        count = int(found[1]) if found else 1
        if kind == b"table":
            below = times = column = 0
        elif kind == b"table-row":
            below, times, column = below + times, count, 0
        else:
            column += count
            if not attributes.endswith(b"/"):
                width, height = max(width, column), max(height, below + times)
    return height, width
