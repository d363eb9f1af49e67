"""Values of other formats as cells of a row: numbers, days and lists as text, objects in objects as columns."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DEEP = 5
"""So many objects in objects are taken apart; what lies deeper stays JSON."""
_WHOLE = 1e15
"""Below this a number without a fraction is written without a point: a phone number, a postcode."""


def flat_cells(entry: Mapping[str, Any]) -> dict[str, str]:
    """Column → text: `{"address": {"city": "Bonn"}}` has the column `address.city`."""
    return dict(_columns(entry, "", _DEEP))


def _columns(entry: Mapping[str, Any], above: str, deep: int) -> Iterator[tuple[str, str]]:
    for name, value in entry.items():
        column = f"{above}{name}".strip()
        if isinstance(value, dict) and deep:
            yield from _columns(value, f"{column}.", deep - 1)
        elif deep and isinstance(value, list) and value and isinstance(value[0], dict):
            yield column, cell_text(value)
            yield from _columns(value[0], f"{column}.", deep - 1)  # of several the first
        else:
            yield column, cell_text(value)


def cell_text(value: Any) -> str:
    """A value as a person writes it into a cell; nothing is the empty text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE:
        return str(int(value))
    if isinstance(value, dt.datetime):
        return value.isoformat(" ")
    if isinstance(value, (list, tuple, dict)):
        return _many(value)
    return "" if value is None else str(value)


def _many(value: list[Any] | tuple[Any, ...] | dict[str, Any]) -> str:
    """Plain values, joined by semicolons; everything else as JSON."""
    if isinstance(value, dict) or any(isinstance(part, (dict, list, tuple)) for part in value):
        return json.dumps(value, ensure_ascii=False, default=str)
    return "; ".join(text for part in value if (text := cell_text(part)))
