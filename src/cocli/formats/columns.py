"""Fields of a record as columns of text: what kind a field is, and how a whole column is read and written at once.

Both table formats (USV, CSV) build on this; how they write null, separators and escapes is their own matter.
Here a cell is a text, or None for null.

Columns are handled in bulk because a call per value is what makes Python slow: pydantic checks a whole column in one
call, and a list or map that occurs a thousand times in a column is parsed once.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Strict, TypeAdapter, ValidationError
from pydantic_core import PydanticUndefined, from_json

from cocli.models.record import TEXT_LIMIT, explain, parse_utc, render_utc

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from cocli.models.record import Record

Cell = str | None
_SCALARS = (str, int, float, bool, datetime)


class ColumnKind(StrEnum):
    """How a field looks as text."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    TIME = "time"
    NAME = "name"
    """A value with a text form of its own, such as a tile."""
    JSON = "json"


class Sharing(StrEnum):
    """Whether rows that say the same may hold the same object."""

    SHARED = "shared"
    COPIED = "copied"
    SINGLE = "single"


Parser = Callable[[Sequence[Cell]], Sequence[Any]]
"""Reads a whole column. Raises ValueError if any cell does not fit; `Column.parse_one` then tells which, and why."""


@dataclass(frozen=True)
class Column:
    """One field of a record, ready to be read from text and written as text."""

    name: str
    kind: ColumnKind
    nullable: bool
    default: Callable[[], Any] | None
    """What a file without this column means; None where that is an error."""
    annotation: Any
    constrained: bool
    sharing: Sharing
    plain: bool
    """Whether a JSON column holds nothing but lists or maps of what JSON itself knows."""
    brackets: str
    """What every JSON text of the column begins and ends with; empty where that is not known."""
    adapter: TypeAdapter[Any] = field(repr=False)
    """Of one value."""
    many: TypeAdapter[list[Any]] = field(repr=False)
    """Of a whole column."""

    def parser(self, *, trusted: bool = False) -> Parser:
        """A reader of this column, for one file: it remembers the lists and maps that it has seen.

        `trusted` cells were checked when they were written: they are converted, but texts are not held against the
        model's patterns and lengths again.
        """
        return _PARSERS[self.kind](self, trusted)

    def parse_one(self, cell: Cell) -> Any:
        """Read one cell; the ValueError says in one line what is wrong with it."""
        try:
            return self.parser()([cell])[0]
        except ValidationError as error:
            raise ValueError(f"{self.name}: {_without_index(error)}") from error
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error

    def render(self, values: Sequence[Any]) -> Sequence[Cell]:
        """Write a whole column. Raises ValueError or TypeError for a value that is not of the column's type."""
        if not values:
            return []
        return _RENDERERS[self.kind](self, values)


@cache
def columns_of(model: type[Record]) -> tuple[Column, ...]:
    """The columns of a model, in the order of its fields."""
    return tuple(_column(name, info) for name, info in model.model_fields.items())


def _column(name: str, info: FieldInfo) -> Column:
    annotation: Any = info.annotation
    if info.metadata:
        annotation = Annotated[(info.annotation, *info.metadata)]
    inner, nullable = _without_null(info.annotation)
    base, metadata = _without_annotations(inner)
    metadata = (*metadata, *info.metadata)
    config = ConfigDict(strict=True, allow_inf_nan=False, ser_json_inf_nan="constants")
    # A model or dataclass brings its own configuration, and pydantic wants no second one.
    own_config = is_dataclass(base) or (isinstance(base, type) and issubclass(base, BaseModel))
    return Column(
        name=name,
        kind=_kind(base),
        nullable=nullable,
        default=_default(info, nullable),
        annotation=annotation,
        constrained=_constrained(base, metadata),
        sharing=_sharing(base),
        plain=_plain(base),
        brackets=_brackets(base),
        adapter=TypeAdapter(annotation, config=None if own_config else config),
        many=TypeAdapter(Annotated[list[annotation], Strict(False)], config=config),
    )


def _without_null(annotation: Any) -> tuple[Any, bool]:
    base, _ = _without_annotations(annotation)
    if get_origin(base) not in (Union, types.UnionType):
        return annotation, False
    members = get_args(base)
    rest = tuple(member for member in members if member is not type(None))
    inner = rest[0] if len(rest) == 1 else Union[rest]  # noqa: UP007  built at run time
    return inner, len(rest) < len(members)


def _without_annotations(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    if get_origin(annotation) is Annotated:
        base, *metadata = get_args(annotation)
        return base, tuple(metadata)
    return annotation, ()


def _kind(base: Any) -> ColumnKind:
    simple = {
        str: ColumnKind.TEXT,
        int: ColumnKind.INTEGER,
        float: ColumnKind.NUMBER,
        bool: ColumnKind.BOOLEAN,
        datetime: ColumnKind.TIME,
    }
    if base in simple:
        return simple[base]
    if get_origin(base) is Literal and all(isinstance(value, str) for value in get_args(base)):
        return ColumnKind.TEXT
    if isinstance(base, type) and get_origin(base) is None and not issubclass(base, (BaseModel, dict, list, tuple)):
        return ColumnKind.NAME
    return ColumnKind.JSON


def _constrained(base: Any, metadata: tuple[Any, ...]) -> bool:
    """Whether a decoded text can still be wrong. A bare `Text` cannot: it came from UTF-8 and from a bounded record."""
    if base is not str:
        return True
    names = ("min_length", "max_length", "pattern", "strip_whitespace", "to_lower", "to_upper")
    given = {name: value for item in metadata for name in names if (value := getattr(item, name, None)) is not None}
    return not (given == {"max_length": TEXT_LIMIT} and len(metadata) == 1)


def _sharing(base: Any) -> Sharing:
    base, _ = _without_annotations(base)
    if _immutable(base):
        return Sharing.SHARED
    if get_origin(base) is dict and all(_immutable(part) for part in get_args(base)):
        return Sharing.COPIED
    return Sharing.SINGLE


def _plain(base: Any) -> bool:
    """A list or map of texts, numbers and booleans, to which parsing the JSON does all there is to do."""
    parts = [part for part in get_args(base) if part is not Ellipsis]
    kinds = [_kind(_without_annotations(_without_null(part)[0])[0]) for part in parts]
    return get_origin(base) in (tuple, dict) and set(kinds) <= {ColumnKind.TEXT, ColumnKind.INTEGER, ColumnKind.BOOLEAN}


def _brackets(base: Any) -> str:
    if get_origin(base) is tuple:
        return "[]"
    is_map = get_origin(base) is dict or (isinstance(base, type) and issubclass(base, BaseModel))
    return "{}" if is_map else ""


def _immutable(annotation: Any) -> bool:
    base, _ = _without_annotations(_without_null(annotation)[0])
    if base in _SCALARS or get_origin(base) is Literal:
        return True
    if get_origin(base) in (tuple, Union, types.UnionType):
        return all(part is Ellipsis or part is type(None) or _immutable(part) for part in get_args(base))
    if isinstance(base, type) and issubclass(base, BaseModel):
        return bool(base.model_config.get("frozen")) and all(
            _immutable(info.annotation) for info in base.model_fields.values()
        )
    return False


def _default(info: FieldInfo, nullable: bool) -> Callable[[], Any] | None:
    if nullable:
        return lambda: None
    if info.default_factory is not None:
        return cast("Callable[[], Any]", info.default_factory)
    if info.default is PydanticUndefined:
        return None
    return lambda: info.default


def _without_index(error: ValidationError) -> str:
    message = explain(error)
    return message.removeprefix("0: ").removeprefix("0.")


# Reading: cells → values


def _text_parser(column: Column, trusted: bool) -> Parser:
    if column.constrained and not trusted:
        return column.many.validator.validate_python
    if column.nullable or trusted:
        return _as_it_is
    return _without_nulls


def _as_it_is(cells: Sequence[Cell]) -> Sequence[Cell]:
    return cells


def _without_nulls(cells: Sequence[Cell]) -> Sequence[Cell]:
    if None in cells:
        raise ValueError("null is not allowed here")
    return cells


def _joined(cells: Sequence[Cell]) -> str:
    """A column of JSON texts as one JSON list."""
    return f"[{','.join(['null' if cell is None else cell for cell in cells])}]"


def _scalar_parser(column: Column, _trusted: bool) -> Parser:
    # Numbers and booleans are JSON as they stand, so one call reads and checks the column. A cell cannot pass for two
    # or for none: each gives at least one value, and the count has to agree.
    validate = column.many.validator.validate_json

    def parse(cells: Sequence[Cell]) -> Sequence[Any]:
        values: list[Any] = validate(_joined(cells))
        if len(values) != len(cells):
            raise ValueError("a cell holds more than one value")
        return values

    return parse


_ZEROS = str.maketrans("123456789", "000000000")
_TIME_SHAPE = "0000-00-00T00:00:00Z"


def _time_parser(column: Column, _trusted: bool) -> Parser:
    def parse(cells: Sequence[Cell]) -> Sequence[Any]:
        if None in cells:
            if not column.nullable:
                raise ValueError("null is not allowed here")
            return [None if cell is None else parse_utc(cell) for cell in cells]
        texts = cast("Sequence[str]", cells)
        # The shape of all of them at once; fractions of a second, and mistakes, take the way through the pattern.
        if ",".join(texts).translate(_ZEROS) == ",".join([_TIME_SHAPE] * len(texts)):
            return list(map(datetime.fromisoformat, texts))
        return list(map(parse_utc, texts))

    return parse


class _Memory(dict[Cell, Any]):
    """Cell → value, for cells that were seen before. Bounded: a column of a million different lists must not stay."""

    _LIMIT = 2048

    def __init__(self, column: Column, validate: Callable[[Any], Any]) -> None:
        super().__init__({None: None} if column.nullable else {})
        self._validate = validate

    @property
    def is_full(self) -> bool:
        """So many different cells that remembering them costs more than it spares."""
        return len(self) > self._LIMIT

    def __missing__(self, cell: Cell) -> Any:
        if cell is None:
            raise ValueError("null is not allowed here")
        value = self._validate(cell)
        if not self.is_full:
            self[cell] = value
        return value


def _name_parser(column: Column, _trusted: bool) -> Parser:
    memory = _Memory(column, column.adapter.validator.validate_python)
    return lambda cells: [memory[cell] for cell in cells]


def _json_parser(column: Column, trusted: bool) -> Parser:
    validate = column.adapter.validator.validate_json
    memory = _Memory(column, validate)
    one_by_one = _json_cells_parser(column, validate)
    if column.sharing is Sharing.SINGLE or (column.sharing is Sharing.COPIED and column.nullable):
        return one_by_one
    many = _plain_json_parser(column) if trusted and column.plain else one_by_one
    shared = column.sharing is Sharing.SHARED

    def parse(cells: Sequence[Cell]) -> Sequence[Any]:
        if memory.is_full:
            return many(cells)
        if shared:
            return [memory[cell] for cell in cells]
        return [memory[cell].copy() for cell in cells]

    return parse


def _json_cells_parser(column: Column, validate: Callable[[Any], Any]) -> Parser:
    def parse(cells: Sequence[Cell]) -> Sequence[Any]:
        if None not in cells:
            return list(map(validate, cells))
        if not column.nullable:
            raise ValueError("null is not allowed here")
        return [None if cell is None else validate(cell) for cell in cells]

    return parse


def _plain_json_parser(column: Column) -> Parser:
    """Lists or maps of texts and numbers that were checked when they were written: all of them in one go."""
    as_tuple = column.brackets == "[]"

    def parse(cells: Sequence[Cell]) -> Sequence[Any]:
        values: list[Any] = from_json(_joined(cells))
        if len(values) != len(cells):
            raise ValueError("a cell holds more than one value")
        if not as_tuple:
            return values
        return [None if value is None else tuple(value) for value in values]

    return parse


_PARSERS: dict[ColumnKind, Callable[[Column, bool], Parser]] = {
    ColumnKind.TEXT: _text_parser,
    ColumnKind.INTEGER: _scalar_parser,
    ColumnKind.NUMBER: _scalar_parser,
    ColumnKind.BOOLEAN: _scalar_parser,
    ColumnKind.TIME: _time_parser,
    ColumnKind.NAME: _name_parser,
    ColumnKind.JSON: _json_parser,
}


# Writing: values → cells


def _render_text(_column: Column, values: Sequence[Any]) -> Sequence[Cell]:
    return values


def _render_scalars(column: Column, values: Sequence[Any]) -> Sequence[Cell]:
    text = _dump(column, values)
    if "N" in text or "I" in text:
        raise ValueError("NaN and Infinity are not numbers that a file can hold")
    cells = text.split(",")
    if "null" not in text:
        return cells
    return [None if cell == "null" else cell for cell in cells]


_TIMES: TypeAdapter[list[datetime | None]] = TypeAdapter(list[datetime | None])


def _render_time(_column: Column, values: Sequence[Any]) -> Sequence[Cell]:
    # The same text as `render_utc` gives, three times as fast; a test holds them together.
    if None in values:
        return [None if value is None else render_utc(value) for value in values]
    text = _TIMES.serializer.to_json(values, warnings="error").decode()
    return text[2:-2].split('","')


def _render_name(_column: Column, values: Sequence[Any]) -> Sequence[Cell]:
    return [None if value is None else str(value) for value in values]


def _render_json(column: Column, values: Sequence[Any]) -> Sequence[Cell]:
    if column.brackets and None not in values:
        opening, closing = column.brackets[0], column.brackets[1]
        # Every two neighbours meet in `],[`. If it occurs exactly that often, it occurs nowhere else.
        cells = _dump(column, values)[1:-1].split(f"{closing},{opening}")
        if len(cells) == len(values):
            return [f"{opening}{cell}{closing}" for cell in cells]
    dump = column.adapter.serializer.to_json
    return [None if value is None else dump(value, warnings="error").decode() for value in values]


def _dump(column: Column, values: Sequence[Any]) -> str:
    return column.many.serializer.to_json(values, warnings="error").decode()[1:-1]


_RENDERERS: dict[ColumnKind, Callable[[Column, Sequence[Any]], Sequence[Cell]]] = {
    ColumnKind.TEXT: _render_text,
    ColumnKind.INTEGER: _render_scalars,
    ColumnKind.NUMBER: _render_scalars,
    ColumnKind.BOOLEAN: _render_scalars,
    ColumnKind.TIME: _render_time,
    ColumnKind.NAME: _render_name,
    ColumnKind.JSON: _render_json,
}
