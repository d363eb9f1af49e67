"""Writing USV: records → a stream of bytes."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, Self, TypeVar

from cocli.errors import RecordError
from cocli.formats.columns import Cell, Column, columns_of
from cocli.formats.usv_dialect import NULL, RECORD_LIMIT, SEPARATOR, escape, needs_escapes
from cocli.models.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import TracebackType

_BATCH = 256  # records; small enough for the processor's cache

R = TypeVar("R", bound=Record)


class Writer(Generic[R]):
    """Writes the header at once, then records in batches. Leave the `with` block, or `close`, to write the last one.

    A record whose extra columns are not among `extra_columns` is refused: nothing that was read is dropped silently.
    """

    def __init__(self, model: type[R], out: BinaryIO, *, extra_columns: Sequence[str] = ()) -> None:
        self.model = model
        self.extra_columns = tuple(extra_columns)
        self.count = 0
        self._out = out
        self._columns = columns_of(model)
        self._waiting: list[R] = []
        names = [*(column.name for column in self._columns), *self.extra_columns]
        if len(set(names)) != len(names):
            raise RecordError(model=model.__name__, reason="two columns have one name")
        out.write(_encode([SEPARATOR.join(map(escape, names))], model))

    def write(self, record: R) -> None:
        self._waiting.append(record)
        if len(self._waiting) >= _BATCH:
            self.flush()

    def write_many(self, records: Iterable[R]) -> None:
        self.flush()
        records = iter(records)
        while batch := list(islice(records, _BATCH)):
            self._write_batch(batch)

    def flush(self) -> None:
        batch, self._waiting = self._waiting, []
        if batch:
            self._write_batch(batch)

    def close(self) -> None:
        self.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()

    def _write_batch(self, batch: list[R]) -> None:
        fields = [record.__dict__ for record in batch]
        columns = [_render_column(column, fields, self.model) for column in self._columns]
        columns.extend(self._extra_columns(batch))
        # `strict` counts: a column that is too short or too long never reaches the file.
        self._out.write(_encode(list(map(SEPARATOR.join, zip(*columns, strict=True))), self.model))
        self.count += len(batch)

    def _extra_columns(self, batch: list[R]) -> Iterator[Sequence[str]]:
        allowed = set(self.extra_columns)
        for record in batch:
            if record.__pydantic_extra__ and (lost := set(record.extras) - allowed):
                reason = f"extra columns would be lost: {', '.join(sorted(lost))}"
                raise RecordError(model=self.model.__name__, reason=reason)
        for name in self.extra_columns:
            yield _fields([record.extras.get(name) for record in batch])


def _render_column(column: Column, records: list[dict[str, Any]], model: type[Record]) -> Sequence[str]:
    name = column.name
    try:
        return _fields(column.render([record[name] for record in records]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"{name} cannot be written: {str(error) or type(error).__name__}"
        raise RecordError(model=model.__name__, reason=reason) from error


def _fields(cells: Sequence[Cell]) -> Sequence[str]:
    """Cells → fields. One look at the whole column spares a look at each cell in the common case."""
    try:
        together = "".join(cells)  # type: ignore[arg-type]  # nulls are what the next line is for
    except TypeError:
        together = "".join([cell for cell in cells if cell is not None])
        if not needs_escapes(together):
            return [NULL if cell is None else cell for cell in cells]
    else:
        if not needs_escapes(together):
            return cells  # type: ignore[return-value]  # no nulls: they cannot be joined
    return [NULL if cell is None else escape(cell) for cell in cells]


def _encode(lines: list[str], model: type[Record]) -> bytes:
    lines.append("")
    try:
        data = "\n".join(lines).encode()
    except UnicodeEncodeError as error:
        reason = "a text contains a lone surrogate, which no UTF-8 file can hold"
        raise RecordError(model=model.__name__, reason=reason) from error
    if len(data) > RECORD_LIMIT and any(len(line.encode()) > RECORD_LIMIT for line in lines):
        # No reader would take it: refused here, while the caller can still do something about it.
        raise RecordError(model=model.__name__, reason=f"the record is longer than {RECORD_LIMIT} bytes")
    return data
