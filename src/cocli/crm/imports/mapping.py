"""Which column of a file is which field: recognised by its name, or said by a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.config.schema import nearest
from cocli.crm.imports.fields import IGNORED, NAMES, comparable, recognised
from cocli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """Field → column. A column has one field, a field one column."""

    fields: Mapping[str, str]
    unused: tuple[str, ...]
    """Columns that nothing is taken from; the file itself is kept, so nothing of them is lost."""


def map_columns(columns: Sequence[str], said: Iterable[str] = ()) -> ColumnMapping:
    """The mapping of a file with these columns; `said` are a person's `Column=field`, which come first."""
    fields = _said(columns, said)
    ignored = fields.pop(IGNORED, "").split("\x00")
    taken = {*fields.values(), *ignored}
    known = recognised()
    found: dict[str, tuple[int, int, str]] = {}
    for position, column in enumerate(columns):
        hit = known.get(comparable(column))
        if hit is None or column in taken or hit[0] in fields:
            continue
        best = found.get(hit[0])
        if best is None or (hit[1], position) < best[:2]:
            found[hit[0]] = (hit[1], position, column)
    fields |= {field: column for field, (_, _, column) in found.items()}
    if "name" not in fields:
        listed = ", ".join(f'"{column}"' for column in columns[:12]) or "none"
        raise UsageError(
            reason=f"No column of the file is known to hold the name. Its columns: {listed}.",
            hint='Say which one does: --map "Column=name"',
        )
    used = set(fields.values())
    ordered = {field: fields[field] for field in NAMES if field in fields}
    return ColumnMapping(ordered, tuple(column for column in columns if column not in used))


def _said(columns: Sequence[str], said: Iterable[str]) -> dict[str, str]:
    by_name = {comparable(column): column for column in reversed(columns)} | {column: column for column in columns}
    fields: dict[str, str] = {}
    for text in said:
        column, equals, field = text.rpartition("=")
        column, field = column.strip(), field.strip().lower().replace("-", "_") or IGNORED
        if not equals or not column:
            raise UsageError(reason=f'"{text}" is no mapping', hint='Write: --map "Company Name=name"')
        field = IGNORED if field == "_" else field
        if field != IGNORED and field not in NAMES:
            meant = nearest(field, list(NAMES))
            raise UsageError(
                reason=f'There is no field "{field}". Fields: {", ".join(NAMES)}.',
                hint=f"Did you mean: {meant}" if meant else None,
            )
        there = by_name.get(column) or by_name.get(comparable(column))
        if there is None:
            raise UsageError(
                reason=f'The file has no column "{column}"', hint=f"Its columns: {', '.join(columns[:20])}"
            )
        fields[field] = f"{fields[field]}\x00{there}" if field == IGNORED and field in fields else there
    return fields
