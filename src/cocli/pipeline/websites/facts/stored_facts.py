"""The facts of a page as JSON, and back: what the state of a page holds."""

from __future__ import annotations

import operator
import re
from dataclasses import MISSING, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from cocli.errors import RecordError
from cocli.models.place import Day
from cocli.models.website import ContactLabel, PhoneRelation
from cocli.pipeline.websites.facts.addresses import AddressFinding
from cocli.pipeline.websites.facts.barrier import ExtractorFailure
from cocli.pipeline.websites.facts.description import Description
from cocli.pipeline.websites.facts.facts import EmailFinding, PageFacts
from cocli.pipeline.websites.facts.finding import Finding, RejectedFinding
from cocli.pipeline.websites.facts.hours import HoursFinding
from cocli.pipeline.websites.facts.identity import SiteIdentity
from cocli.pipeline.websites.facts.people import PersonFinding
from cocli.pipeline.websites.facts.phones.phones import PhoneFinding

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

_HALF = re.compile(r"[\ud800-\udfff]")
_NAMES: Mapping[str, Any] = {
    "AddressFinding": AddressFinding,
    "ContactLabel": ContactLabel,
    "Day": Day,
    "Description": Description,
    "EmailFinding": EmailFinding,
    "ExtractorFailure": ExtractorFailure,
    "Finding": Finding,
    "HoursFinding": HoursFinding,
    "SiteIdentity": SiteIdentity,
    "PersonFinding": PersonFinding,
    "PhoneFinding": PhoneFinding,
    "PhoneRelation": PhoneRelation,
    "RejectedFinding": RejectedFinding,
}
"""What annotations name that the extractors import for the type checker only."""


def facts_to_json(facts: PageFacts) -> dict[str, Any]:
    """The facts as JSON has them. Without failures it is the JSON of before there was a barrier, byte for byte."""
    data = cast("dict[str, Any]", _plain(facts))
    if not facts.failures:
        del data["failures"]
    return data


def facts_from_json(data: Mapping[str, Any]) -> PageFacts:
    """The facts that `facts_to_json` wrote; a `RecordError` where it is something else."""
    try:
        return cast("PageFacts", _read(PageFacts, data))
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(model="PageFacts", reason=str(error)) from error


def storable(facts: PageFacts) -> PageFacts:
    """The same facts with texts that a file can hold: escapes in a page's scripts can make halves of characters."""
    return cast("PageFacts", _mended(facts))


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        if value.isascii() or not _HALF.search(value):
            return value
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, (tuple, frozenset)):
        if not value:
            return value
        items = [_mended(item) for item in value]
        if all(map(operator.is_, items, value)):
            return value
        return type(value)(items)
    if value is None or isinstance(value, (int, float)):
        return value
    changed = {}
    for name in _field_names(cast("Hashable", type(value))):
        old = getattr(value, name)
        if (new := _mended(old)) is not old:
            changed[name] = new
    if changed:
        return replace(value, **changed)
    return value


@cache
def _field_names(kind: Hashable) -> tuple[str, ...]:
    """Of a dataclass; nothing else has any."""
    if is_dataclass(kind):
        return tuple(field.name for field in fields(kind))
    return ()


@cache
def _needed(kind: Hashable) -> frozenset[str]:
    """The fields that every stored one has: those that came later have a default."""
    return frozenset(field.name for field in fields(cast("Any", kind)) if field.default is MISSING)


def _plain(value: Any) -> Any:
    if value is None or type(value) in (str, int, float, bool):
        return value
    names = _field_names(cast("Hashable", type(value)))
    if names:
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {str(_plain(name)): _plain(inner) for name, inner in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(map(_plain, value))
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value


def _read(kind: Any, value: Any) -> Any:
    if is_dataclass(kind):
        hints = _hints(cast("type", kind))
        if not _needed(cast("Hashable", kind)) <= set(value) <= set(hints):
            raise ValueError(f"{kind} has the fields {sorted(hints)}, not {sorted(value)}")
        return cast("Any", kind)(**{name: _read(hints[name], inner) for name, inner in value.items()})
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        inner = next(member for member in get_args(kind) if member is not NoneType)
        if value is None:
            return None
        return _read(inner, value)
    if origin in (tuple, frozenset):
        return origin(_read(get_args(kind)[0], item) for item in value)
    if origin is Literal:
        if value not in get_args(kind):
            raise ValueError(f"{value!r} is none of {get_args(kind)}")
        return value
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind}")
    return value


@cache
def _hints(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind, localns=dict(_NAMES))
    return {field.name: hints[field.name] for field in fields(kind)}
