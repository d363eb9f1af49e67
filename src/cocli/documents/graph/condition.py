"""Conditions of edges: what a document must be like to go that way. Data, not code: they are stored with the graph.

    {"path": "/source/status", "op": "eq", "value": 200}
    {"all": [{"path": "/data/emails/count", "op": "exists"}, {"path": "/data/emails/count", "op": "gt", "value": 0}]}
    {"not": {"any": [...]}}

A path is a JSON pointer (RFC 6901) into the view that `views.view_of` makes of a document. Evaluation fails closed:
a path that is not there and values that cannot be compared are errors, never "no"; `exists` and `missing` ask. `all`
and `any` look from left to right and stop as soon as they know, so that a question can stand before a comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Literal, Self, TypeGuard

from pydantic import ConfigDict, Discriminator, Field, JsonValue, StringConstraints, Tag, model_validator

from cocli.errors import ConditionFailed
from cocli.models.record import Many, RecordPart

Pointer = Annotated[str, StringConstraints(max_length=1024, pattern=r"^(?:/(?:[^~/]|~[01])*)*$")]
MAX_DEPTH = 20
"""How deeply conditions may be nested: far more than a person reads, far less than the interpreter's stack."""

_ORDERING = ("lt", "le", "gt", "ge")


class Compare(RecordPart):
    """One value of the document against one that is given."""

    path: Pointer
    op: Literal["eq", "ne", "lt", "le", "gt", "ge", "in", "contains", "starts_with", "ends_with"]
    value: JsonValue

    @model_validator(mode="after")
    def _value_fits(self) -> Self:
        if self.op == "in" and not isinstance(self.value, list):
            raise ValueError("in needs a list of values")
        if self.op in ("starts_with", "ends_with") and not isinstance(self.value, str):
            raise ValueError(f"{self.op} needs a text")
        if self.op in _ORDERING and not (_is_number(self.value) or isinstance(self.value, str)):
            raise ValueError(f"{self.op} needs a number or a text")
        return self


class Presence(RecordPart):
    """Whether the document has something there at all."""

    path: Pointer
    op: Literal["exists", "missing"]


class AllOf(RecordPart):
    all: Annotated[Many[Condition], Field(min_length=1)]


class AnyOf(RecordPart):
    any: Annotated[Many[Condition], Field(min_length=1)]


class Not(RecordPart):
    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True)

    not_: Condition = Field(alias="not")


def _kind(value: object) -> str:
    """Which of them it is, so that a mistake is reported for that one alone."""
    if not isinstance(value, Mapping):
        return _KINDS.get(type(value), "compare")
    for kind in ("all", "any", "not"):
        if kind in value:
            return kind
    return "ask" if value.get("op") in ("exists", "missing") else "compare"


Condition = Annotated[
    Annotated[Compare, Tag("compare")]
    | Annotated[Presence, Tag("ask")]
    | Annotated[AllOf, Tag("all")]
    | Annotated[AnyOf, Tag("any")]
    | Annotated[Not, Tag("not")],
    Discriminator(_kind),
]
_KINDS: dict[type[object], str] = {Compare: "compare", Presence: "ask", AllOf: "all", AnyOf: "any", Not: "not"}


AnyCondition = Compare | Presence | AllOf | AnyOf | Not


def depth(condition: AnyCondition) -> int:
    inner = _inner(condition)
    return 1 + max((depth(part) for part in inner), default=0)


def _inner(condition: AnyCondition) -> tuple[AnyCondition, ...]:
    if isinstance(condition, AllOf):
        return condition.all
    if isinstance(condition, AnyOf):
        return condition.any
    return (condition.not_,) if isinstance(condition, Not) else ()


def holds(condition: AnyCondition, seen: JsonValue) -> bool:
    """Whether a view fulfils a condition. `ConditionFailed` where that cannot be said."""
    if isinstance(condition, AllOf):
        return all(holds(part, seen) for part in condition.all)
    if isinstance(condition, AnyOf):
        return any(holds(part, seen) for part in condition.any)
    if isinstance(condition, Not):
        return not holds(condition.not_, seen)
    found, value = _look_up(condition.path, seen)
    if isinstance(condition, Presence):
        return found == (condition.op == "exists")
    if not found:
        raise ConditionFailed(path=condition.path, reason="the document has nothing there")
    return _COMPARISONS[condition.op](condition, value)


def _look_up(path: str, seen: JsonValue) -> tuple[bool, JsonValue]:
    here = seen
    for part in path.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(here, dict) and name in here:
            here = here[name]
        elif isinstance(here, list) and name.isascii() and name.isdigit() and int(name) < len(here):
            here = here[int(name)]
        else:
            return False, None
    return True, here


def _is_number(value: JsonValue) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _same(left: JsonValue, right: JsonValue) -> bool:
    """Equal in JSON: 1 is 1.0, but never true."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    return left == right


def _order(condition: Compare, value: JsonValue) -> int:
    left, right = value, condition.value
    if isinstance(left, str) and isinstance(right, str):
        return (left > right) - (left < right)
    if _is_number(left) and _is_number(right):
        return (left > right) - (left < right)
    raise _unfit(condition, value)


def _contains(condition: Compare, value: JsonValue) -> bool:
    wanted = condition.value
    if isinstance(value, str) and isinstance(wanted, str):
        return wanted in value
    if isinstance(value, dict) and isinstance(wanted, str):
        return wanted in value
    if isinstance(value, list):
        return any(_same(item, wanted) for item in value)
    raise _unfit(condition, value)


def _text(condition: Compare, value: JsonValue) -> tuple[str, str]:
    if isinstance(value, str) and isinstance(condition.value, str):
        return value, condition.value
    raise _unfit(condition, value)


def _in(condition: Compare, value: JsonValue) -> bool:
    return isinstance(condition.value, list) and any(_same(value, item) for item in condition.value)


def _unfit(condition: Compare, value: JsonValue) -> ConditionFailed:
    kinds = f"{type(value).__name__} and {type(condition.value).__name__}"
    return ConditionFailed(path=condition.path, reason=f"{condition.op} does not compare {kinds}")


_COMPARISONS: dict[str, Callable[[Compare, JsonValue], bool]] = {
    "eq": lambda condition, value: _same(value, condition.value),
    "ne": lambda condition, value: not _same(value, condition.value),
    "lt": lambda condition, value: _order(condition, value) < 0,
    "le": lambda condition, value: _order(condition, value) <= 0,
    "gt": lambda condition, value: _order(condition, value) > 0,
    "ge": lambda condition, value: _order(condition, value) >= 0,
    "in": _in,
    "contains": _contains,
    "starts_with": lambda condition, value: str.startswith(*_text(condition, value)),
    "ends_with": lambda condition, value: str.endswith(*_text(condition, value)),
}
