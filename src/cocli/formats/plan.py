"""How the rows of one table become records of one model: worked out once per file, from its header.

Shared by the table formats. A row is a tuple of cells here: texts, or None for null.
"""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from cocli.errors import FormatError
from cocli.formats.columns import Cell, Column, Parser, columns_of
from cocli.models.record import Record, explain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

R = TypeVar("R", bound=Record)

_SLOTS = tuple(
    BaseModel.__dict__[name].__set__
    for name in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
)


@cache
def row_type(model: type[Record]) -> type[Any]:
    """The named tuple that stands for a record in bulk work: the model's fields, and `extras`."""
    return namedtuple(f"{model.__name__}Row", (*model.model_fields, "extras"))  # noqa: PYI024  built from the model


@dataclass(frozen=True, slots=True)
class RowTable:
    """The columns of some rows: those of the model as values, the others as text."""

    known: list[Sequence[Any]]
    unknown: list[Sequence[Cell]]
    count: int

    def rows(self) -> Iterator[tuple[Any, ...]]:
        return zip(*self.known, strict=True)


class RowPlan(Generic[R]):
    """Raises FormatError where the header lacks what the model requires: such a file would give hollow records."""

    def __init__(self, model: type[R], header: Sequence[str], *, file: str, trusted: bool = False) -> None:
        self.model = model
        self.trusted = trusted
        position = {name: index for index, name in enumerate(header)}
        columns = columns_of(model)
        self.width = len(header)
        self.names = tuple(column.name for column in columns)
        self.unknown = tuple(name for name in header if name not in self.names)
        self.missing = tuple(name for name in self.names if name not in position)
        self._known = [(column, position.get(column.name), column.parser(trusted=trusted)) for column in columns]
        self._unknown = [position[name] for name in self.unknown]
        self._fields_set = {name for name in self.names if name in position}
        self._row_type = row_type(model)
        decorators = model.__pydantic_decorators__
        # Rules of a field or between fields that are written as methods: pydantic has to run over the whole record.
        self._has_rules = bool(decorators.model_validators or decorators.field_validators)
        _check_header(header, columns, model, file)

    def parse(self, cells: Sequence[Sequence[Cell]], count: int) -> tuple[RowTable, dict[int, str]]:
        """Columns of cells, in the order of the header → columns of values, and the reason for each row that is bad."""
        bad: dict[int, str] = {}
        known = [
            _defaults(column, count) if at is None else _parse(column, parse, cells[at], bad)
            for column, at, parse in self._known
        ]
        table = RowTable(known, [cells[at] for at in self._unknown], count)
        if not bad and self._has_rules and not self.trusted:
            bad = self._broken_rules(table)
        return table, bad

    def records(self, table: RowTable) -> list[R]:
        # What pydantic's own validator does last, without a call of `model_construct` per record (ten times slower).
        new, model, names, fields_set = object.__new__, self.model, self.names, self._fields_set
        put_dict, put_set, put_extra, put_private = _SLOTS
        records = []
        for row in table.rows():
            record = new(model)
            put_dict(record, dict(zip(names, row)))  # noqa: B905  both have one entry per column
            put_set(record, fields_set)
            put_extra(record, None)
            put_private(record, None)
            records.append(record)
        if self.unknown:
            for record, extras in zip(records, self._extras(table), strict=True):
                put_extra(record, extras)
        return records

    def rows(self, table: RowTable) -> list[Any]:
        """The same as named tuples: the dictionary that a model keeps is what costs most."""
        extras: Iterable[Any] = self._extras(table) if self.unknown else repeat(None, table.count)
        return list(map(self._row_type._make, zip(*table.known, extras, strict=True)))

    def _extras(self, table: RowTable) -> Iterator[dict[str, Cell]]:
        return (dict(zip(self.unknown, cells, strict=True)) for cells in zip(*table.unknown, strict=True))

    def _broken_rules(self, table: RowTable) -> dict[int, str]:
        bad: dict[int, str] = {}
        for index, row in enumerate(table.rows()):
            try:
                self.model.model_validate(dict(zip(self.names, row, strict=True)))
            except ValidationError as error:
                bad[index] = explain(error)
        return bad


def _check_header(header: Sequence[str], columns: Sequence[Column], model: type[Record], file: str) -> None:
    if len(set(header)) != len(header):
        twice = next(name for name in header if list(header).count(name) > 1)
        raise FormatError(file=file, line=1, reason=f'the column "{twice}" occurs twice')
    required = [column.name for column in columns if column.name not in header and column.default is None]
    if required:
        reason = f"required by {model.schema_id}, but not in the header: {', '.join(required)}"
        raise FormatError(file=file, line=1, reason=reason)


def _defaults(column: Column, count: int) -> Sequence[Any]:
    make: Callable[[], Any] = column.default or _impossible
    return [make() for _ in range(count)]


def _impossible() -> Any:
    raise AssertionError("the header was checked: a column without a default is there")


def _parse(column: Column, parse: Parser, cells: Sequence[Cell], bad: dict[int, str]) -> Sequence[Any]:
    try:
        return parse(cells)
    except ValueError:
        return [_parse_or_blame(column, cell, index, bad) for index, cell in enumerate(cells)]


def _parse_or_blame(column: Column, cell: Cell, index: int, bad: dict[int, str]) -> Any:
    try:
        return column.parse_one(cell)
    except ValueError as error:
        bad.setdefault(index, str(error))
        return None
