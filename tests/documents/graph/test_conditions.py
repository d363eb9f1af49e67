"""Conditions: what they say, what they refuse to say, and that they survive a file."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, TypeAdapter, ValidationError

from cocli.documents.graph.condition import AnyCondition, Condition, depth, holds
from cocli.errors import ConditionFailed

CONDITION: TypeAdapter[AnyCondition] = TypeAdapter(Condition)
SEEN: JsonValue = {
    "source": {"status": 200, "mime_type": "text/html; charset=utf-8"},
    "data": {"emails": {"count": 2, "found": ["a@example.com", "b@example.com"], "ok": True}, "odd/na~me": 1.5},
    "nothing": None,
}


def condition(path: str, op: str, *value: JsonValue) -> dict[str, Any]:
    return {"path": path, "op": op} | ({"value": value[0]} if value else {})


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (condition("/source/status", "eq", 200), True),
        (condition("/source/status", "eq", 200.0), True),
        (condition("/source/status", "ne", 200), False),
        (condition("/source/status", "in", [404, 200]), True),
        (condition("/source/status", "lt", 200), False),
        (condition("/source/status", "le", 200), True),
        (condition("/data/odd~1na~0me", "gt", 1), True),
        (condition("/data/odd~1na~0me", "ge", 2), False),
        (condition("/source/mime_type", "starts_with", "text/html"), True),
        (condition("/source/mime_type", "ends_with", "UTF-8"), False),
        (condition("/source/mime_type", "contains", "charset"), True),
        (condition("/source/mime_type", "lt", "text/plain"), True),
        (condition("/data/emails/found", "contains", "b@example.com"), True),
        (condition("/data/emails/found/1", "eq", "b@example.com"), True),
        (condition("/data/emails", "contains", "count"), True),
        (condition("/data/emails/ok", "eq", 1), False),
        (condition("/data/emails/ok", "eq", True), True),
        (condition("/data/emails/found", "eq", ["a@example.com", "b@example.com"]), True),
        (condition("/nothing", "eq", None), True),
        (condition("/nothing", "exists"), True),
        (condition("/data/emails/found/2", "exists"), False),
        (condition("/data/emails/found/-1", "exists"), False),
        (condition("/data/phones", "missing"), True),
        ({"all": [condition("/data", "exists"), condition("/source/status", "eq", 404)]}, False),
        ({"any": [condition("/data", "missing"), condition("/source/status", "eq", 200)]}, True),
        ({"not": condition("/source/status", "eq", 404)}, True),
        # A question before a comparison that would fail.
        ({"all": [condition("/data/phones", "exists"), condition("/data/phones/count", "gt", 0)]}, False),
        ({"any": [condition("/data/phones", "missing"), condition("/data/phones/count", "eq", 0)]}, True),
    ],
)
def test_what_holds(written: dict[str, Any], expected: bool) -> None:
    assert holds(CONDITION.validate_python(written), SEEN) is expected


@pytest.mark.parametrize(
    "written",
    [
        condition("/data/phones/count", "eq", 0),
        condition("/data/phones/count", "ne", 0),
        condition("/source/status", "gt", "200"),
        condition("/data/emails/ok", "gt", 0),
        condition("/source/status", "contains", 2),
        condition("/source/status", "starts_with", "2"),
        condition("/data/emails/found/01x", "eq", ""),
        {"not": condition("/data/phones/count", "eq", 0)},
        {"any": [condition("/data/phones/count", "eq", 0), condition("/data", "exists")]},
    ],
)
def test_what_cannot_be_answered_is_an_error_and_never_a_no(written: dict[str, Any]) -> None:
    with pytest.raises(ConditionFailed):
        holds(CONDITION.validate_python(written), SEEN)


@pytest.mark.parametrize(
    "written",
    [
        condition("source/status", "eq", 200),
        condition("/a~2", "eq", 200),
        condition("/a", "eq"),
        condition("/a", "exists", True),
        condition("/a", "like", "x"),
        condition("/a", "in", "text"),
        condition("/a", "gt", True),
        condition("/a", "starts_with", 1),
        {"all": []},
        {"any": condition("/a", "exists")},
        {"all": [condition("/a", "exists")], "any": []},
        {"not": None},
        {},
        7,
    ],
)
def test_what_makes_no_sense_is_refused_when_it_is_read(written: object) -> None:
    with pytest.raises(ValidationError):
        CONDITION.validate_python(written)


_PATHS = st.sampled_from(["/source/status", "/data/emails/count", "/data/emails/ok", "/data/none", "/nothing", ""])
_VALUES: st.SearchStrategy[JsonValue] = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 300), st.floats(0, 3), st.text(max_size=3)
)
_LEAVES = st.one_of(
    st.builds(condition, _PATHS, st.sampled_from(["eq", "ne", "contains"]), _VALUES),
    st.builds(condition, _PATHS, st.sampled_from(["lt", "le", "gt", "ge"]), st.one_of(st.integers(), st.text())),
    st.builds(condition, _PATHS, st.sampled_from(["exists", "missing"])),
)
_CONDITIONS = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.builds(lambda some: {"all": some}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda some: {"any": some}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda one: {"not": one}, inner),
    ),
    max_leaves=8,
)


def answer(one: AnyCondition) -> bool | str:
    try:
        return holds(one, SEEN)
    except ConditionFailed:
        return "failed"


@given(_CONDITIONS)
def test_a_condition_survives_its_file_and_its_double_negation(written: dict[str, Any]) -> None:
    read = CONDITION.validate_python(written)
    again = CONDITION.validate_json(CONDITION.dump_json(read))
    assert again == read
    assert answer(again) == answer(read)
    doubled = CONDITION.validate_python({"not": {"not": written}})
    assert answer(doubled) == answer(read)
    assert depth(doubled) == depth(read) + 2
