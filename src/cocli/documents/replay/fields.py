"""Two versions of what was found in a document, field by field.

A field is a path into the data: `/emails/primary`. The items of a list are one field, `/emails/found/*`, and are told
apart by their values, not by their places: one more address in front is one gained, and not everything changed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from cocli.documents.digest import canonical_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Verdict = Literal["same", "changed", "gained", "lost"]
Fields = dict[str, "str | Counter[str]"]
"""By path: the value as JSON, or for the items of a list how often each occurs."""
_DEEPEST = 50


@dataclass(frozen=True, slots=True)
class FieldChange:
    """Of `count` values of a field. `left` and `right` are JSON; None where there is no value."""

    path: str
    verdict: Verdict
    left: str | None = None
    right: str | None = None
    count: int = 1


def fields_of(data: Mapping[str, Any]) -> Fields:
    found: Fields = {}
    _collect(found, "", dict(data), 0)
    return found


def _collect(found: Fields, path: str, value: Any, depth: int) -> None:
    if isinstance(value, dict) and value and depth < _DEEPEST:
        for name, inner in value.items():
            _collect(found, f"{path}/{name.replace('~', '~0').replace('/', '~1')}", inner, depth + 1)
    elif isinstance(value, (list, tuple)) and value:
        found[f"{path}/*"] = Counter(canonical_json(item) for item in value)
    else:
        found[path] = canonical_json(value)


def compare_fields(left: Fields, right: Fields) -> Iterator[FieldChange]:
    """In the order of the paths."""
    for path in sorted(left.keys() | right.keys()):
        mine, other = left.get(path), right.get(path)
        if isinstance(mine, Counter) or isinstance(other, Counter):
            yield from _items(path, _counted(mine), _counted(other))
        else:
            yield FieldChange(path, _verdict(mine, other), mine, other)


def _verdict(left: str | None, right: str | None) -> Verdict:
    if left is None:
        return "gained"
    if right is None:
        return "lost"
    return "same" if left == right else "changed"


def _counted(value: str | Counter[str] | None) -> Counter[str]:
    if isinstance(value, Counter):
        return value
    return Counter() if value is None else Counter([value])


def _items(path: str, left: Counter[str], right: Counter[str]) -> Iterator[FieldChange]:
    for text, count in (left & right).items():
        yield FieldChange(path, "same", text, text, count)
    for text, count in (left - right).items():
        yield FieldChange(path, "lost", text, None, count)
    for text, count in (right - left).items():
        yield FieldChange(path, "gained", None, text, count)
