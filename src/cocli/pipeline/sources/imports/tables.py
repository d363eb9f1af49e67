"""CSV, in the dialects that people send: comma, semicolon, tab or bar; with `sep=` lines and columns without a name."""

from __future__ import annotations

import csv
import io
from itertools import chain, islice
from typing import TYPE_CHECKING

from cocli.errors import FormatError
from cocli.models.record import TEXT_LIMIT
from cocli.pipeline.sources.imports.decoding import decode
from cocli.pipeline.sources.imports.headers import NO_HEADER, header_of, numbered
from cocli.pipeline.sources.imports.rows import ImportRow, ImportTable, RefusedRow, distinct

if TYPE_CHECKING:
    from collections.abc import Iterator

_DELIMITERS = (",", ";", "\t", "|", "\x1f")
_SNIFFED = 50
_SHOWN = 200
_TIMES = 10
"""How many times its lines are read in all, at most, for quotes that are not closed."""


def read_table(data: bytes, *, file: str) -> ImportTable:
    """The rows under a header. A row with more or fewer cells than the header is refused, never shifted; blank cells
    that a spreadsheet left at its end are none."""
    decoded = decode(data)
    text, delimiter = _declared(decoded.text)
    delimiter = delimiter or _sniff(text)
    table = ImportTable("csv", decoded.encoding, delimiter=delimiter)
    lines = _lines(text, delimiter, table)
    head = list(islice(lines, _SNIFFED))
    if not head:
        raise FormatError(file=file, line=1, reason="the file is empty: it has no header and no rows")
    position = header_of([cells for _, cells in head])
    if position == NO_HEADER:
        names = numbered(max(len(cells) for _, cells in head))
    else:
        names, head = distinct(head[position][1]), head[position + 1 :]
    table.columns = [name for name in names if name]
    for number, cells in chain(head, lines):
        if not any(cell.strip() for cell in cells):
            table.blank += 1
        elif len(cells) < len(names) or any(cell.strip() for cell in cells[len(names) :]):
            reason = f"{len(cells)} cells, but the header has {len(names)}"
            table.refused.append(RefusedRow(number, reason, delimiter.join(cells)[:_SHOWN]))
        else:
            table.rows.append(ImportRow(number, {name: cell for name, cell in zip(names, cells, strict=False) if name}))
    return table


def _declared(text: str) -> tuple[str, str | None]:
    """`sep=;` in the first line is how a spreadsheet is told the delimiter."""
    head, newline, rest = text.partition("\n")
    line = head.strip("\r\ufeff").strip('"')
    if newline and line.lower().startswith("sep=") and len(line) == 5:
        return rest, line[4]
    return text, None


def _sniff(text: str) -> str:
    """The delimiter under which most of the first rows have equally many cells, and more than one."""

    def rate(delimiter: str) -> tuple[float, int]:
        widths = [len(cells) for _, cells in zip(range(_SNIFFED), _reader(text, delimiter), strict=False) if cells]
        if not widths:
            return 0.0, 0
        usual = max(set(widths), key=lambda width: (widths.count(width), width))
        if usual < 2:
            return 0.0, 0
        return widths.count(usual) / len(widths), usual

    # Of equal ones the first stays: a comma before the others.
    return max(_DELIMITERS, key=rate)


def _reader(text: str, delimiter: str) -> Iterator[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        yield from reader
    except csv.Error:
        return  # only for the sniffing: the reading itself tells what is wrong


def _lines(text: str, delimiter: str, table: ImportTable) -> Iterator[tuple[int, list[str]]]:
    """Rows with the lines that they begin in. A quote that is not closed in its row costs that line, and no other."""
    csv.field_size_limit(max(csv.field_size_limit(), TEXT_LIMIT))
    lines = list(io.StringIO(text, newline=""))
    first, begun, again = True, 0, 0
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        line = begun + reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            ran_on = begun + reader.line_num - line
            goes_back = bool(ran_on) and again < _TIMES * len(lines)
            lost = f"; {ran_on} lines below it are not read" if ran_on and not goes_back else ""
            table.refused.append(RefusedRow(line, f"not CSV: {error}{lost}", lines[line - 1].strip()[:_SHOWN]))
            if goes_back:
                begun, again = line, again + ran_on
                reader = csv.reader(islice(lines, begun, None), delimiter=delimiter, strict=True)
            continue
        if first and not any(cell.strip() for cell in cells):
            continue  # blank lines above the header
        first = False
        yield line, cells
