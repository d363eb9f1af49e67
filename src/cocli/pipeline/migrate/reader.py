"""A file of any older format → rows by column name, and what was set aside on the way. Streaming, in bounded memory."""

from __future__ import annotations

import csv
import json
import re
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO

from cocli.formats.rejected import RejectedRow
from cocli.formats.usv_dialect import RECORD_LIMIT
from cocli.pipeline.migrate.assembly import RawRecord, assemble
from cocli.pipeline.migrate.columns import Table, misfit
from cocli.pipeline.migrate.pieces import HEAD, cut
from cocli.pipeline.migrate.repairs import mend
from cocli.pipeline.migrate.row import OldRow, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cocli.pipeline.migrate.layout import Layout

_LINE_LIMIT = 1 << 20
_CAMPAIGN = frozenset(["campaign", "campaign_name"])
_TIME = re.compile(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}[T \x1f]")
_ANYTHING = re.compile(rb"")


class AlreadyNew(Exception):
    """The file is of today's format. Never leaves this package."""


def read(source: BinaryIO, layout: Layout, *, file: str) -> Iterator[OldRow | RejectedRow]:
    """The rows of a file, by the ending of its name. Raises AlreadyNew for one that needs no migration."""
    if file.endswith(".json"):
        return _read_json(source, layout, file)
    if file.endswith(".csv"):
        return _read_csv(source, layout, file)
    return _read_usv(source, layout, file)


# USV


def _read_usv(source: BinaryIO, layout: Layout, file: str) -> Iterator[OldRow | RejectedRow]:
    pieces = cut(source)
    first = next(pieces, None)
    if first is None:
        return
    header = _header(first.data, layout)
    widths = frozenset([len(header)]) if header else layout.widths
    rest = pieces if header else chain([first], pieces)
    for record in assemble(rest, _begins(header, layout), widths):
        yield _usv_row(record, layout, header, file)


def _header(data: bytes, layout: Layout) -> tuple[str, ...] | None:
    """The names of the columns, if that is what the first record holds."""
    if layout.begins.match(data) or len(data) > HEAD:
        return None
    names = tuple(layout.name_of(cell) for cell in data.decode(errors="replace").split("\x1f"))
    names = names[:-1] if names[-1] == "" else names  # one version wrote a separator after the last name
    _refuse_new(names, layout)
    if _is_header(names, layout):
        return names
    return None


def _begins(header: tuple[str, ...] | None, layout: Layout) -> re.Pattern[bytes]:
    """What a record begins with: the identity, a time in the oldest files with a header, or else any piece does."""
    if header is None or header[0] == layout.tables[0][0].name:
        return layout.begins
    if header[0] == "created_at":
        return _TIME
    return _ANYTHING


def _is_header(names: Sequence[str], layout: Layout) -> bool:
    known = sum(name in layout.names for name in names)
    return known >= 2 and known * 2 > len(names) and len(set(names)) == len(names)


def _refuse_new(names: Sequence[str], layout: Layout) -> None:
    if layout.is_new(frozenset(names)):
        raise AlreadyNew


def _usv_row(record: RawRecord, layout: Layout, header: tuple[str, ...] | None, file: str) -> OldRow | RejectedRow:
    problem = record.problem
    try:
        text = record.raw.decode()
    except UnicodeDecodeError as error:
        problem = problem or f"not UTF-8: byte 0x{record.raw[error.start]:02x} at {error.start}"
    if problem:
        return RejectedRow(file, record.line, problem, record.raw)
    old = text.split("\x1f")
    # Blanks only: a line break at the edge of a field shows that something was joined to it that may not belong there.
    cells = [mend(cell).strip(" ") for cell in old]
    if header:
        if len(cells) == len(header) + 1 and not cells[-1].strip():
            cells.pop()
        if len(cells) != len(header):
            return RejectedRow(file, record.line, f"{len(cells)} fields, but the header has {len(header)}", record.raw)
        row = _named(OldRow(file, record.line, record.raw, dict(zip(header, cells, strict=True))), header, layout)
    else:
        fitting = _fit(layout, cells)
        if isinstance(fitting, str):
            return RejectedRow(file, record.line, fitting, record.raw)
        names = [column.name for column in fitting]
        row = OldRow(file, record.line, record.raw, dict(zip(names, cells, strict=True)))
    _note_mends(row, record, old, text)
    return row


def _named(row: OldRow, names: Iterable[str], layout: Layout) -> OldRow:
    """A row whose columns have names. Those that are not known are named, so that nothing is dropped in silence."""
    unknown = sorted(name for name in set(names) - layout.names - _CAMPAIGN if row.text(name))
    if unknown:
        row.mended(f"columns that are not read: {', '.join(unknown)[:200]}")
    return row


def _note_mends(row: OldRow, record: RawRecord, old: list[str], text: str) -> None:
    if record.joined:
        row.mended("a line break within a field")
    if '""' in text:
        row.mended("doubled quotes")
    if record.leaked or "\x1e" in old[-1]:
        row.mended("U+001E in the last column")


def _fit(layout: Layout, cells: list[str]) -> Table | str:
    """The table of columns that a row fits, or why it fits none."""
    tables = [table for table in layout.tables if len(table) == len(cells)]
    if not tables:
        expected = " or ".join(map(str, sorted(layout.widths)))
        return f"{len(cells)} fields, expected {expected}"
    reasons = [misfit(table, cells) for table in tables]
    fitting = [table for table, reason in zip(tables, reasons, strict=True) if reason is None]
    if not fitting:
        return f"{reasons[0]} ({len(cells)} fields)"
    meanings = [{column.name: cell for column, cell in zip(table, cells, strict=True) if cell} for table in fitting]
    if any(meaning != meanings[0] for meaning in meanings):
        return f"{len(cells)} fields, which can be read in two ways"
    return fitting[0]


# CSV


class _Lines:
    """The lines of a file as text, remembering those of the row that is being read."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self.taken: list[bytes] = []

    def __iter__(self) -> Iterator[str]:
        while line := self._source.readline(_LINE_LIMIT):
            self.taken.append(line[:HEAD])
            # Bytes that are not UTF-8 become lone surrogates here; the row is set aside below.
            yield line.decode(errors="surrogateescape").removeprefix("\ufeff").replace("\0", "\ufffd")


def _read_csv(source: BinaryIO, layout: Layout, file: str) -> Iterator[OldRow | RejectedRow]:
    lines = _Lines(source)
    reader = csv.reader(iter(lines))
    header: tuple[str, ...] | None = None
    while True:
        lines.taken.clear()
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield RejectedRow(file, line, f"not CSV: {error}", b"".join(lines.taken)[:HEAD])
            continue
        if cells is None:
            return
        if not cells:
            continue
        if header is None:
            header = tuple(layout.name_of(cell) for cell in cells)
            _refuse_new(header, layout)
            if not _is_header(header, layout):
                yield RejectedRow(file, line, "the header is of no known layout", b"".join(lines.taken))
                return
            continue
        row = _csv_row(cells, header, OldRow(file, line, b"".join(lines.taken), {}))
        yield row if isinstance(row, RejectedRow) else _named(row, header, layout)


def _csv_row(cells: list[str], header: tuple[str, ...], at: OldRow) -> OldRow | RejectedRow:
    if len(cells) != len(header):
        return at.rejected(f"{len(cells)} fields, but the header has {len(header)}")
    if any("\udc80" <= character <= "\udcff" for cell in cells for character in cell):
        return at.rejected("not UTF-8")
    return OldRow(at.file, at.line, at.raw, dict(zip(header, map(mend, cells), strict=True)))


# JSON


def _read_json(source: BinaryIO, layout: Layout, file: str) -> Iterator[OldRow | RejectedRow]:
    data = source.read(RECORD_LIMIT + 1)
    if len(data) > RECORD_LIMIT:
        yield RejectedRow(file, 1, f"longer than {RECORD_LIMIT} bytes", data[:HEAD])
        return
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        yield RejectedRow(file, 1, f"not JSON: {error}", data)
        return
    if not isinstance(content, dict):
        yield RejectedRow(file, 1, "not a JSON object", data)
        return
    names = {layout.name_of(name): name for name in content}
    _refuse_new(tuple(names), layout)
    try:
        values = {name: _json_value(content[written]) for name, written in names.items()}
        data.decode()
    except ValueError as error:
        yield RejectedRow(file, 1, str(error), data)
        return
    yield _named(OldRow(file, 1, data, values), values, layout)


def _json_value(value: object) -> Value:
    if value is None:
        return ""
    if isinstance(value, list):
        return tuple(str(_json_value(item)) for item in value)
    if isinstance(value, bool):
        if value:
            return "true"
        return "false"
    text = json.dumps(value) if isinstance(value, dict) else str(value)
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("a lone surrogate, which no UTF-8 file can hold")
    return text
