"""JSON inside of cells: what it says becomes columns of its own, beside those that the file has."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING, Any

from cocli.pipeline.sources.imports.cells import flat_cells
from cocli.pipeline.sources.imports.fields import STRANGERS, comparable

if TYPE_CHECKING:
    from cocli.pipeline.sources.imports.rows import ImportTable

_LOOKED_AT = 50
_LONGEST = 20_000
"""Characters of a cell: what is longer holds pictures or reviews."""
_MOST_COLUMNS = 60
_BRACKETS = {"{": "}", "[": "]"}


def unfold(table: ImportTable) -> list[str]:
    """Put the parts of objects in cells beside them; the columns that this makes. The person's own cells stay."""
    made: dict[str, None] = {}
    for column in [name for name in table.columns if _holds_objects(table, name)]:
        for row in table.rows:
            said = _object(row.cells.get(column, ""))
            if said is None or not isinstance(row.cells, dict):
                continue
            if row.own is None:
                row.keep_own()
            for name, text in flat_cells({column: said}).items():
                if name != column and text and (name in made or len(made) < _MOST_COLUMNS):
                    made[name] = None
                    row.cells.setdefault(name, text)
    return [name for name in made if name not in table.columns]


def _holds_objects(table: ImportTable, column: str) -> bool:
    if set(comparable(column).split()) & STRANGERS:
        return False
    texts = (row.cells.get(column, "").strip() for row in table.rows)
    there = [text for text, _ in zip((text for text in texts if text), range(_LOOKED_AT), strict=False)]
    return bool(there) and sum(_BRACKETS.get(text[0]) == text[-1] for text in there) > len(there) / 2


def _object(text: str) -> dict[str, Any] | None:
    """An object, or the first one of a list of them."""
    text = text.strip()
    if not text or len(text) > _LONGEST or _BRACKETS.get(text[0]) != text[-1]:
        return None
    said = _parsed(text)
    if isinstance(said, list):
        said = next((entry for entry in said if isinstance(entry, dict)), None)
    return said if isinstance(said, dict) else None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass  # Python writes its own form into CSV files
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
