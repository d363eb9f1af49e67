"""Reading USV: a stream of bytes → records, and what was set aside on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, TypeVar

from cocli.errors import FormatError
from cocli.formats.plan import RowPlan, RowTable
from cocli.formats.rejected import RejectedRow
from cocli.formats.usv_dialect import RECORD_LIMIT, SEPARATOR, cell_of, unescape
from cocli.models.record import Record

if TYPE_CHECKING:
    from cocli.formats.columns import Cell

_BLOCK = 1 << 16  # small enough for the processor's cache; measured
_RAW_LIMIT = 1 << 16
_BOM = b"\xef\xbb\xbf"

R = TypeVar("R", bound=Record)
T = TypeVar("T")
Source = bytes | BinaryIO | Iterable[bytes]


class Reader(Generic[R]):
    """Iterates over the records of one file. The header is read at once, the rows as they are asked for.

    - `rejected`: the rows that were set aside (or `on_rejected` gets each of them, and the list stays empty);
      `read_count` and `rejected_count` say how many there were so far.
    - `unknown_columns`: columns of the file that the model does not know; their texts travel in `record.extras`.
    - `missing_columns`: columns that the file does not have; they take their default.
    - `trusted=True` is the fast path for shards that were checked when they were written: structure, text and types
      are read as always, and records come out as the same frozen model, but texts are not held against patterns and
      lengths again, nor records against the rules between their fields.
    """

    def __init__(
        self,
        model: type[R],
        source: Source,
        *,
        file: str = "<memory>",
        trusted: bool = False,
        on_rejected: Callable[[RejectedRow], None] | None = None,
    ) -> None:
        self.model = model
        self.file = file
        self.rejected: list[RejectedRow] = []
        self.read_count = 0
        self.rejected_count = 0
        self._on_rejected = on_rejected or self.rejected.append
        self._blocks = _record_blocks(_chunks(source))
        self._line = 1
        self.columns = self._read_header()
        self._plan: RowPlan[R] = RowPlan(model, self.columns, file=file, trusted=trusted)

    @property
    def unknown_columns(self) -> tuple[str, ...]:
        return self._plan.unknown

    @property
    def missing_columns(self) -> tuple[str, ...]:
        return self._plan.missing

    def __iter__(self) -> Iterator[R]:
        for block in self._blocks:
            yield from self._read(block, self._plan.records)

    def rows(self) -> Iterator[Any]:
        """The same records as named tuples, for bulk work: with `trusted` the fastest way to read a shard.

        The fields have the model's names, order and types; the last one is `extras`.
        """
        for block in self._blocks:
            yield from self._read(block, self._plan.rows)

    def _read_header(self) -> tuple[str, ...]:
        block = next(self._blocks, None)
        if block is None:
            raise FormatError(file=self.file, line=1, reason="the file is empty; expected a header")
        header, _, rest = block.data.partition(b"\n")
        header = header.removeprefix(_BOM)
        damage = block.damage or _damage(header)
        if damage:
            raise FormatError(file=self.file, line=1, reason=f"the header is damaged: {damage}")
        if rest:
            self._blocks = _prepend(_Block(rest), self._blocks)
        try:
            return tuple(map(unescape, header.decode().split(SEPARATOR)))
        except ValueError as error:
            raise FormatError(file=self.file, line=1, reason=f"the header is damaged: {error}") from error

    def _read(self, block: _Block, build: Callable[[RowTable], list[T]]) -> list[T]:
        first = self._line + 1
        if block.damage:
            self._line += 1
            self._reject(first, block.damage, block.data)
            return []
        lines, numbers = self._lines(block.data, first)
        self._line += block.data.count(b"\n")
        rows = [line.split(SEPARATOR) for line in lines]
        width = len(self.columns)
        if set(map(len, rows)) - {width}:
            wrong = {index: len(row) for index, row in enumerate(rows) if len(row) != width}
            bad = {index: f"{found} fields, but the header has {width}" for index, found in wrong.items()}
            rows, numbers = self._drop(rows, numbers, bad)
        table, bad = self._table(rows)
        if bad:
            rows, numbers = self._drop(rows, numbers, bad)
            table, _ = self._table(rows)
        self.read_count += table.count
        return build(table)

    def _lines(self, data: bytes, first: int) -> tuple[list[str], Sequence[int]]:
        """The rows of a block as text, and the number of each. Damaged ones are set aside here."""
        raws = data[:-1].split(b"\n")
        if b"\r" not in data and b"\x1e" not in data:
            try:
                # Line by line, because one emoji would make the text of a whole block four bytes wide.
                return [raw.decode() for raw in raws], range(first, first + len(raws))
            except UnicodeDecodeError:
                pass  # some of the lines are damaged: the loop below names them
        whole: dict[int, str] = {}
        for number, raw in enumerate(raws, first):
            if reason := _damage(raw):
                self._reject(number, reason, raw)
            else:
                whole[number] = raw.decode()
        return list(whole.values()), list(whole)

    def _table(self, rows: list[list[str]]) -> tuple[RowTable, dict[int, str]]:
        bad: dict[int, str] = {}
        columns = list(zip(*rows, strict=True)) or [()] * len(self.columns)
        cells = [_cells(fields, bad) for fields in columns]
        table, misfits = self._plan.parse(cells, len(rows))
        return table, misfits | bad

    def _drop(
        self, rows: list[list[str]], numbers: Sequence[int], bad: dict[int, str]
    ) -> tuple[list[list[str]], Sequence[int]]:
        for index in sorted(bad):
            self._reject(numbers[index], bad[index], SEPARATOR.join(rows[index]).encode())
        kept = [index for index in range(len(rows)) if index not in bad]
        return [rows[index] for index in kept], [numbers[index] for index in kept]

    def _reject(self, line: int, reason: str, raw: bytes) -> None:
        self.rejected_count += 1
        self._on_rejected(RejectedRow(self.file, line, reason, raw))


def _damage(raw: bytes) -> str | None:
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return f"not UTF-8: byte 0x{raw[error.start]:02x} at {error.start}"
    if b"\r" in raw:
        return "a bare carriage return (is the file saved with Windows line ends?)"
    if b"\x1e" in raw:
        return "a bare U+001E (an older dialect? see: cocli index migrate)"
    return None


def _cells(fields: Sequence[str], bad: dict[int, str]) -> Sequence[Cell]:
    if "\\" not in "".join(fields):
        return fields
    try:
        return [cell_of(field) if "\\" in field else field for field in fields]
    except ValueError:
        return [_unescape_or_blame(field, index, bad) for index, field in enumerate(fields)]


def _unescape_or_blame(field: str, index: int, bad: dict[int, str]) -> Cell:
    try:
        return cell_of(field)
    except ValueError as error:
        bad.setdefault(index, str(error))
        return None


@dataclass(frozen=True, slots=True)
class _Block:
    """Whole records, or one that is damaged."""

    data: bytes
    damage: str | None = None


def _chunks(source: Source) -> Iterator[bytes]:
    if isinstance(source, bytes):
        return (source[at : at + _BLOCK] for at in range(0, len(source), _BLOCK))
    if hasattr(source, "read"):
        return iter(lambda: source.read(_BLOCK), b"")
    return iter(source)


def _prepend(first: _Block, rest: Iterator[_Block]) -> Iterator[_Block]:
    yield first
    yield from rest


def _record_blocks(chunks: Iterator[bytes]) -> Iterator[_Block]:
    """Cut a stream at record ends. What is left at the end has lost its own: it is damaged, not a record."""
    begun: list[bytes] = []
    size = 0
    for chunk in chunks:
        end = chunk.rfind(b"\n") + 1
        if end:
            begun.append(chunk[:end])
            yield from _within_limit(b"".join(begun), size + chunk.find(b"\n"))
            begun, size = [], 0
        rest = chunk[end:]
        # Of a record that is too long only the head is kept, until its end is found.
        if rest and size <= RECORD_LIMIT:
            begun.append(rest)
        size += len(rest)
    if begun and size > RECORD_LIMIT:
        yield _Block(b"".join(begun)[:_RAW_LIMIT], _too_long())
    elif begun:
        yield _Block(b"".join(begun), "the file ends within this record")


def _within_limit(data: bytes, first_length: int) -> Iterator[_Block]:
    if first_length <= RECORD_LIMIT:
        yield _Block(data)
        return
    _, _, rest = data.partition(b"\n")
    yield _Block(data[:_RAW_LIMIT], _too_long())
    if rest:
        yield _Block(rest)


def _too_long() -> str:
    return f"the record is longer than {RECORD_LIMIT} bytes; its first {_RAW_LIMIT} are kept"
