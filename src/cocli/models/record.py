"""The base of every record, and the value types that records share. No I/O, no file formats.

A record is strict (a number is not a text), frozen (an edit is a new record), names its schema, and refuses keys
that it does not know. Columns that a file had and the model does not know are kept beside the fields, in `extras`,
so that an older program that rewrites a newer program's file loses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    ValidationError,
)

from cocli.errors import IdentityError, RecordError
from cocli.keys.tile import Tile

_T = TypeVar("_T")

TEXT_LIMIT = 1 << 24
"""Characters in one text. The bound also makes pydantic look inside, which is what refuses lone surrogates."""

Text = Annotated[str, StringConstraints(max_length=TEXT_LIMIT)]
"""Any text that a file can hold: everything but lone surrogates."""

Label = Annotated[
    str, StringConstraints(min_length=1, max_length=1024, pattern=r"^[^\x00-\x1f\x7f]*\S[^\x00-\x1f\x7f]*$")
]
"""A name of something: one line, not blank, no control characters."""

Many = Annotated[tuple[_T, ...], Field(strict=False)]
"""A list in a file, a tuple in memory. Lists are accepted, because TOML and YAML know no tuples."""

Hash16 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
UuidText = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
PlaceIdText = Annotated[str, StringConstraints(pattern=r"^[CG]hIJ[A-Za-z0-9_-]{23}$")]
FeatureIdText = Annotated[str, StringConstraints(pattern=r"^0x[0-9a-f]{1,16}:0x[0-9a-f]{1,16}$")]
CidText = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,20}$")]
DomainText = Annotated[
    str,
    StringConstraints(max_length=253, pattern=r"^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,62}$"),
]
EmailText = Annotated[
    str, StringConstraints(max_length=320, to_lower=True, pattern=r"^[^\s@\x00-\x1f]+@[^\s@\x00-\x1f]+$")
]
"""An address, in lower case: its hash is that of the lower case, and one address is one record."""
E164Text = Annotated[str, StringConstraints(pattern=r"^\+[1-9][0-9]{1,14}$")]
CountryText = Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]
TileText = Annotated[str, StringConstraints(pattern=r"^-?[0-9]{1,2}\.[0-9]{1,3}_-?[0-9]{1,3}\.[0-9]{1,3}$")]
"""A tile by its name, for records of which there are millions; `TileValue` where there are few."""

Latitude = Annotated[float, Field(ge=-90, le=90)]
Longitude = Annotated[float, Field(ge=-180, le=180)]
Count = Annotated[int, Field(ge=0)]
Rating = Annotated[float, Field(ge=0, le=5)]
Confidence = Annotated[float, Field(ge=0, le=1)]

_UTC_TEXT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?Z")


def parse_utc(text: str) -> datetime:
    """`2026-11-15T18:00:00Z` → a time in UTC. No other spelling is read, so that no two files disagree."""
    if not _UTC_TEXT.fullmatch(text):
        raise ValueError("expected a time in UTC such as 2026-11-15T18:00:00Z")
    return datetime.fromisoformat(text)


def render_utc(value: datetime) -> str:
    """A time in UTC → `2026-11-15T18:00:00Z`, with its microseconds where it has some."""
    return value.isoformat()[:-6] + "Z"


def _utc(value: object) -> object:
    if isinstance(value, str):
        return parse_utc(value)
    if isinstance(value, datetime):
        if value.tzinfo is UTC:
            return value
        offset = value.utcoffset()
        if offset is None:
            raise ValueError("the time has no time zone; expected UTC")
        if offset:
            raise ValueError(f"the time is in the zone {value.tzname()}; expected UTC")
        return value.replace(tzinfo=UTC, fold=0)
    return value


UtcDatetime = Annotated[
    datetime, BeforeValidator(_utc), PlainSerializer(render_utc, return_type=str, when_used="json-unless-none")
]
"""A moment, in UTC and nothing else."""


def _tile(value: object) -> Tile:
    if isinstance(value, Tile):
        return value
    if not isinstance(value, str):
        raise ValueError("expected a tile such as 33.7_-118.3")  # noqa: TRY004  pydantic collects ValueErrors only
    lat, underscore, lon = value.partition("_")
    try:
        return Tile.parse(lat, lon if underscore else "")
    except IdentityError as error:
        raise ValueError(error.message) from error


TileValue = Annotated[Tile, BeforeValidator(_tile), PlainSerializer(str, return_type=str, when_used="json-unless-none")]
"""A tile, written as its name `33.7_-118.3`."""


def _as_written(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    return str(value) if isinstance(value, (int, float)) else value


def _as_many(value: object) -> object:
    if value is None:
        return ()
    return value if isinstance(value, (list, tuple)) else (value,)


WrittenText = Annotated[Text, BeforeValidator(_as_written)]
"""A text in a file that a person edits: `phone: 3105550100` looks like a number there, and is none."""

WrittenList = Annotated[tuple[WrittenText, ...], Field(strict=False), BeforeValidator(_as_many)]
"""A list in such a file: `tags: vip` and an empty `tags:` are lists too."""


# The slots that pydantic keeps beside the values of a record: set by their own descriptors, which is the quickest way.
_set_given = BaseModel.__dict__["__pydantic_fields_set__"].__set__
_set_extra = BaseModel.__dict__["__pydantic_extra__"].__set__
_set_private = BaseModel.__dict__["__pydantic_private__"].__set__


class RecordPart(BaseModel):
    """A value inside a record: the same strictness, no schema of its own."""

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        validate_default=True,
        # Built when it is first used: a command uses few of the records that its modules name.
        defer_build=True,
        # Pages and captures do not belong into an error message, nor do secrets of a configuration.
        hide_input_in_errors=True,
    )


_SCHEMA_ID = re.compile(r"cocli\.[a-z][a-z-]*/[1-9][0-9]*")
_NO_EXTRAS: Mapping[str, str | None] = MappingProxyType({})


class Record(RecordPart):
    """One record: one model, one schema id, one file format."""

    schema_id: ClassVar[str]
    """Name and version of the shape, such as `cocli.prospect/1`. A change of shape is a new id and a migration."""

    key: ClassVar[tuple[str, ...]] = ()
    """The fields that identify a record within its file: what an index sorts and merges by."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        if not _SCHEMA_ID.fullmatch(getattr(cls, "schema_id", "")):
            raise TypeError(f"{cls.__name__} needs a schema_id such as cocli.prospect/1")
        if unknown := set(cls.key) - set(cls.model_fields):
            raise TypeError(f"{cls.__name__}.key names fields that do not exist: {sorted(unknown)}")

    @property
    def extras(self) -> Mapping[str, str | None]:
        """What the file said in columns that this program does not know, as text; written back on a rewrite."""
        return MappingProxyType(self.__pydantic_extra__) if self.__pydantic_extra__ else _NO_EXTRAS

    def with_extras(self, extras: Mapping[str, str | None]) -> Self:
        """The same record, with the columns of its file that the model does not know."""
        if known := set(extras) & set(type(self).model_fields):
            raise RecordError(model=type(self).__name__, reason=f"{sorted(known)} are fields, not extra columns")
        copy = self.model_copy()
        # pydantic keeps this slot through copies and comparisons, and leaves it out of dumps: what extras need.
        object.__setattr__(copy, "__pydantic_extra__", dict(extras) or None)
        return copy

    def with_changes(self, **changes: object) -> Self:
        """The record with other values, checked as a whole. Extras stay. (`model_copy(update=…)` checks nothing.)"""
        changed = self.checked({name: getattr(self, name) for name in type(self).model_fields} | changes)
        return changed.with_extras(self.extras) if self.extras else changed

    @classmethod
    def of_checked(cls, values: dict[str, Any], given: set[str]) -> Self:
        """A record of values that fit, one for each field: nothing is looked at. `given` are those of its file; records
        may share it, because nobody changes it afterwards.

        For readers that know by the form of a text what is in it. `model_construct` checks as little, and takes five
        times as long.
        """
        record = cls.__new__(cls)
        set_on = object.__setattr__
        set_on(record, "__dict__", values)
        _set_given(record, given)
        _set_extra(record, None)
        _set_private(record, None)
        return record

    @classmethod
    def checked(cls, values: Mapping[str, object]) -> Self:
        """Build a record from values of unknown origin; what does not fit is one `RecordError`."""
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise RecordError(model=cls.__name__, reason=explain(error)) from error


def explain(error: ValidationError) -> str:
    """What pydantic found, in one line: `lat: Input should be …; phone: …`."""
    return "; ".join(_explain_one(detail["loc"], detail["type"], detail["msg"]) for detail in error.errors())


def _explain_one(location: tuple[int | str, ...], kind: str, message: str) -> str:
    if kind == "string_unicode":
        message = "the text contains a lone surrogate, which no UTF-8 file can hold"
    message = message.removeprefix("Value error, ")
    where = ".".join(str(part) for part in location)
    return f"{where}: {message}" if where else message
