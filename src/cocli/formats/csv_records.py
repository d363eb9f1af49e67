r"""CSV, for the namespaces that say so (target tiles, witnesses): RFC 4180 by the standard library, lossless.

CSV knows no null. Here null is written `\N`, as in USV; a text that reads `\N` gets one more backslash, and
so does one that reads `\\N`, so that each can be told from the others. Everything else stands as it is.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from cocli.errors import FormatError, RecordError
from cocli.formats.columns import columns_of
from cocli.formats.plan import RowPlan
from cocli.formats.rejected import RejectedRow
from cocli.models.record import TEXT_LIMIT, Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cocli.formats.columns import Cell

NULL = "\\N"
_LOOKS_NULL = re.compile(r"\\+N")

R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class CsvTable(Generic[R]):
    """What a file held, and what of it did not fit."""

    records: list[R]
    rejected: list[RejectedRow] = field(default_factory=list)
    unknown_columns: tuple[str, ...] = ()


def read(model: type[R], data: bytes, *, file: str = "<memory>") -> CsvTable[R]:
    """Read a whole file: these files are small, one tile each."""
    rejected: list[RejectedRow] = []
    rows = _rows(data, file, rejected)
    header = next(rows, None)
    if header is None:
        raise FormatError(file=file, line=1, reason="the file is empty; expected a header")
    names = [_text(name) or "" for name in header.cells]
    plan: RowPlan[R] = RowPlan(model, names, file=file)
    good = []
    for row in rows:
        if len(row.cells) == plan.width:
            good.append(row)
        else:
            rejected.append(row.rejected(file, f"{len(row.cells)} fields, but the header has {plan.width}"))
    table, bad = plan.parse(_columns(good, plan.width), len(good))
    if bad:
        rejected.extend(good[index].rejected(file, bad[index]) for index in sorted(bad))
        good = [row for index, row in enumerate(good) if index not in bad]
        table, _ = plan.parse(_columns(good, plan.width), len(good))
    return CsvTable(plan.records(table), sorted(rejected, key=lambda row: row.line), plan.unknown)


def read_one(model: type[R], data: bytes, *, file: str = "<memory>") -> R:
    """The record of a file that holds exactly one."""
    table = read(model, data, file=file)
    for rejected in table.rejected:
        raise FormatError(file=file, line=rejected.line, reason=rejected.reason)
    if len(table.records) != 1:
        raise FormatError(file=file, line=1, reason=f"expected one record, found {len(table.records)}")
    return table.records[0]


def render(model: type[R], records: Iterable[R]) -> bytes:
    """Records → the bytes of a file, with every extra column that any of them carries."""
    records = list(records)
    extra_columns = list(dict.fromkeys(name for record in records for name in record.extras))
    columns = columns_of(model)
    try:
        cells = [column.render([record.__dict__[column.name] for record in records]) for column in columns]
        cells.extend([record.extras.get(name) for record in records] for name in extra_columns)
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow([_field(name) for name in [*(column.name for column in columns), *extra_columns]])
        writer.writerows([_field(cell) for cell in row] for row in zip(*cells, strict=True))
        return out.getvalue().encode()
    except UnicodeEncodeError as error:
        reason = "a text contains a lone surrogate, which no UTF-8 file can hold"
        raise RecordError(model=model.__name__, reason=reason) from error
    except (KeyError, TypeError, ValueError, AttributeError, csv.Error) as error:
        raise RecordError(model=model.__name__, reason=str(error) or type(error).__name__) from error


def _field(cell: Cell) -> str:
    if cell is None:
        return NULL
    if _LOOKS_NULL.fullmatch(cell):
        return f"\\{cell}"
    return cell


def _text(field_text: str) -> Cell:
    if field_text == NULL:
        return None
    if _LOOKS_NULL.fullmatch(field_text):
        return field_text[1:]
    return field_text


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    cells: list[str]

    def rejected(self, file: str, reason: str) -> RejectedRow:
        raw = io.StringIO(newline="")
        csv.writer(raw).writerow(self.cells)
        return RejectedRow(file, self.line, reason, raw.getvalue().encode("utf-8", "surrogateescape"))


def _rows(data: bytes, file: str, rejected: list[RejectedRow]) -> Iterator[_Row]:
    # The module's own limit (128 kB) is a setting of the whole process; it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), TEXT_LIMIT))
    # Bytes that are no UTF-8 become surrogates here, which no text may contain: so their row can be told and set aside.
    text = data.decode("utf-8-sig", "surrogateescape")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = _Row(line, next(reader))
        except StopIteration:
            return
        except csv.Error as error:
            rejected.append(RejectedRow(file, line, f"not CSV: {error}", b""))
            continue
        if all(map(_is_unicode, row.cells)):
            yield row
        else:
            rejected.append(row.rejected(file, "not UTF-8"))


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _columns(rows: Sequence[_Row], width: int) -> list[Sequence[Cell]]:
    columns: list[Sequence[Cell]] = [
        list(map(_text, column)) for column in zip(*(row.cells for row in rows), strict=True)
    ]
    return columns or [[] for _ in range(width)]
