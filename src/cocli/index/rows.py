"""Rows as they stand in a shard: the key of a line, the record of a line, the same line under another header.

Most rows are only ever copied. So a line is taken apart no further than is needed, and never parsed to be moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from cocli.errors import FormatError
from cocli.formats.columns import Cell, Column, columns_of
from cocli.formats.plan import RowPlan
from cocli.formats.usv_dialect import NULL, SEPARATOR, cell_of, escape, unescape
from cocli.models.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cocli.index.spec import IndexSpec

R = TypeVar("R", bound=Record)

Header = tuple[str, ...]
_CUT = SEPARATOR.encode()


def read_header(line: bytes, *, file: str) -> Header:
    try:
        return tuple(map(unescape, line.decode().split(SEPARATOR)))
    except ValueError as error:
        raise FormatError(file=file, line=1, reason=f"the header is damaged: {error}") from error


def render_header(header: Header) -> bytes:
    return SEPARATOR.join(map(escape, header)).encode()


def standard_header(model: type[Record]) -> Header:
    return tuple(column.name for column in columns_of(model))


class RowReader(Generic[R]):
    """How the lines under one header are read.

    `plans` are those of other files, by header: making one takes longer than reading a record, and it fits any file.
    """

    def __init__(
        self, spec: IndexSpec[R], header: Header, *, file: str, plans: dict[Header, RowPlan[R]] | None = None
    ) -> None:
        self.header = header
        self._file = file
        self._model = spec.model
        self._key_text = spec.key_text
        self._plan = (plans or {}).get(header) or RowPlan(spec.model, header, file=file, trusted=True)
        if plans is not None:
            plans[header] = self._plan
        self._key_columns = [header.index(name) for name in spec.model.key]
        self._cuts = max(self._key_columns) + 1

    def key(self, line: bytes) -> str:
        try:
            if self._cuts == 1:  # the key is the first column, as in most indexes: nothing else is looked at
                first, _, _ = line.partition(_CUT)
                return self._key_text(unescape(first.decode()))
            fields = line.split(_CUT, self._cuts)
            return self._key_text(*[unescape(fields[at].decode()) for at in self._key_columns])
        except (LookupError, ValueError) as error:
            raise FormatError(file=self._file, line=0, reason=f"a row has no key: {error}") from error

    def record(self, line: bytes) -> R:
        return self.records([line])[0]

    def records(self, lines: Sequence[bytes]) -> list[R]:
        """The records of some lines, in their order. A row that does not fit is a FormatError."""
        try:
            rows = [self._fields(line) for line in lines]
            cells = [_cells(column) for column in zip(*rows, strict=True)]
        except ValueError as error:
            raise FormatError(file=self._file, line=0, reason=str(error)) from error
        if not rows:
            return []
        table, bad = self._plan.parse(cells, len(rows))
        for reason in bad.values():
            raise FormatError(file=self._file, line=0, reason=reason)
        return self._plan.records(table)

    def _fields(self, line: bytes) -> list[str]:
        fields = line.decode().split(SEPARATOR)
        if len(fields) != len(self.header):
            raise ValueError(f"{len(fields)} fields, but the header has {len(self.header)}")
        if b"\r" in line or b"\x1e" in line:
            raise ValueError("a bare control character")
        return fields


def _cells(fields: Sequence[str]) -> Sequence[Cell]:
    if "\\" not in "".join(fields):
        return fields
    return [cell_of(field) if "\\" in field else field for field in fields]


def common_header(model: type[Record], headers: Sequence[Header]) -> Header:
    """One header for lines of several: theirs if they agree, else the model's own columns and everybody's extras."""
    if len(set(headers)) == 1:
        return headers[0]
    standard = standard_header(model)
    extras = dict.fromkeys(name for header in headers for name in header if name not in standard)
    return (*standard, *extras)


def mapped(model: type[Record], body: bytes, header: Header, wanted: Header) -> bytes:
    """The same lines under another header that has at least their columns; new columns get their default."""
    if header == wanted:
        return body
    move = _mover(model, header, wanted)
    return b"".join([move(line) + b"\n" for line in body[:-1].split(b"\n")])


def _mover(model: type[Record], header: Header, wanted: Header) -> Callable[[bytes], bytes]:
    at = {name: index for index, name in enumerate(header)}
    defaults = {column.name: _default(column) for column in columns_of(model)}
    sources = [(at.get(name), defaults.get(name, NULL.encode())) for name in wanted]

    def move(line: bytes) -> bytes:
        fields = line.split(_CUT)
        return _CUT.join([default if index is None else fields[index] for index, default in sources])

    return move


def _default(column: Column) -> bytes:
    cell = None if column.default is None else column.render([column.default()])[0]
    text = NULL if cell is None else escape(cell)
    return text.encode()
