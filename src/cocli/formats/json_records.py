"""JSON: one record, one object, one line. Equal records give equal bytes: keys are sorted, no space is wasted.

The key `schema` names the shape (`cocli.task/1`), so that a program notices when a file is older or newer than it.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, from_json

from cocli.errors import FormatError, RecordError
from cocli.models.record import Record, explain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

R = TypeVar("R", bound=Record)

SCHEMA_KEY = "schema"
END = b"\n"
"""How every record ends: what ends otherwise was not written to its end."""
LONE_SURROGATE = "a text contains a lone surrogate, which no UTF-8 file can hold"


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


# What is written was checked by pydantic, which refuses circles.
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"), check_circular=False, default=_plain
)
_CONTAINERS = (dict, list)


def _quick_encoder() -> Callable[[object, int], Iterable[str]] | None:
    """What `_ENCODER` makes anew for every value, made once; None where Python has no such thing in C."""
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return None
    quick: Callable[[object, int], Iterable[str]] = make(
        None, _plain, encode_basestring, None, ":", ",", True, False, False
    )
    return quick


_QUICK = _quick_encoder()


def text(value: object) -> str:
    """One value of a record as JSON, written as `render` writes it."""
    if type(value) is str:
        return encode_basestring(value)
    if _QUICK is None:
        return _ENCODER.encode(value)
    return "".join(_QUICK(value, 0))


def render(record: Record) -> bytes:
    """A record → its canonical bytes, with the final line feed."""
    model = type(record)
    try:
        values = {SCHEMA_KEY: model.schema_id, **record.model_dump(mode="json")}
        return text(values).encode() + END
    except UnicodeEncodeError as error:
        raise RecordError(model=model.__name__, reason=LONE_SURROGATE) from error
    except (PydanticSerializationError, ValueError, TypeError) as error:
        raise RecordError(model=model.__name__, reason=str(error)) from error


def read(model: type[R], data: bytes, *, file: str = "<memory>") -> R:
    """The record in a file. Another schema, an unknown or a repeated key, and what is no JSON are a FormatError."""
    values = plain_object(data) or _object(data, file)
    found = values.pop(SCHEMA_KEY, None)
    if found != model.schema_id:
        said = "says nothing of its schema" if found is None else f"says {found!r}"
        raise FormatError(file=file, line=1, reason=f"expected {model.schema_id}, but the file {said}")
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise FormatError(file=file, line=1, reason=f"does not fit {model.schema_id}: {explain(error)}") from error


def plain_object(data: bytes) -> dict[str, Any] | None:
    """The object in a file in which no key is repeated, in half of the time; None where a closer look is needed.

    Where no quote stands within a text, two of them enclose each: so there are as many texts as were read, unless a key
    was repeated.
    """
    if b"\\" in data:
        return None
    try:
        values = from_json(data, allow_inf_nan=False)
        if type(values) is not dict or _texts_in(values) * 2 != data.count(b'"'):
            return None
    except (ValueError, RecursionError):
        return None  # what is wrong with it is found out and said by the reader that looks closely
    return values


def as_written(data: bytes) -> dict[str, Any] | None:
    """The object in a text that is just what `text` makes of it, so no key is repeated; None for any other text."""
    try:
        values = from_json(data, allow_inf_nan=False)
        is_same = type(values) is dict and text(values).encode() == data
    except (ValueError, RecursionError):
        return None  # what is wrong with it is found out and said by the reader that looks closely
    return values if is_same else None


def _texts_in(values: Any) -> int:
    """How many keys and texts there are within an object or a list."""
    count, inner = 0, values
    if type(values) is dict:
        count, inner = len(values), values.values()
    for value in inner:
        kind = type(value)
        if kind is str:
            count += 1
        elif kind in _CONTAINERS:
            count += _texts_in(value)
    return count


def _object(data: bytes, file: str) -> dict[str, Any]:
    try:
        # The second parser refuses what the first lets pass: lone surrogates, NaN and Infinity.
        values = json.loads(data.decode(), object_pairs_hook=_without_repetition)
        from_json(data, allow_inf_nan=False)
    except json.JSONDecodeError as error:
        raise FormatError(file=file, line=error.lineno, reason=f"not JSON: {error.msg}") from error
    except RecursionError as error:
        raise FormatError(file=file, line=1, reason="not JSON: nested too deeply") from error
    except ValueError as error:
        raise FormatError(file=file, line=1, reason=f"not JSON: {error}") from error
    if not isinstance(values, dict):
        raise FormatError(file=file, line=1, reason="expected one JSON object")
    return values


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f'the key "{twice}" occurs twice')
    return values
