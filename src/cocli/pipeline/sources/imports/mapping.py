"""Which column of a file is which field: recognised by its name, or said by a person."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.config.schema import nearest
from cocli.errors import UsageError
from cocli.pipeline.sources.imports.fields import IGNORED, NAMES, OF_ANYBODY, SEVERAL, comparable, readings, recognised

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """Field → column. A column has one field."""

    fields: Mapping[str, str]
    unused: tuple[str, ...]
    """Columns that nothing is taken from; the file itself is kept, so nothing of them is lost."""
    further: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Field → columns that say it too, for rows in which the first one is blank; addresses of mail are taken of all."""

    def columns_of(self, name: str) -> tuple[str, ...]:
        return (*([self.fields[name]] if name in self.fields else []), *self.further.get(name, ()))


def map_columns(columns: Sequence[str], said: Iterable[str] = ()) -> ColumnMapping:
    """The mapping of a file with these columns; `said` are a person's `Column=field`, which come first."""
    fields = _said(columns, said)
    ignored = fields.pop(IGNORED, "").split("\x00")
    found = _found([column for column in columns if column not in {*fields.values(), *ignored}])
    further = {name: tuple(found[name][1:]) for name in SEVERAL if name not in fields and len(found.get(name, ())) > 1}
    if "name" not in fields:
        people, alone = _people(found)
        fields |= people
        further |= alone
    fields = {name: there[0] for name, there in found.items()} | fields
    if not fields.keys() & {"name", "website", "domain"}:
        listed = ", ".join(f'"{column}"' for column in columns[:12]) or "none"
        raise UsageError(
            reason=f"No column of the file is known to hold the name or the website. Its columns: {listed}.",
            hint='Say which one does: --map "Column=name" or --map "Column=website"',
        )
    used = {*fields.values(), *(column for more in further.values() for column in more)}
    ordered = {name: fields[name] for name in NAMES if name in fields}
    return ColumnMapping(ordered, tuple(column for column in columns if column not in used), further)


def _found(columns: Sequence[str]) -> dict[str, list[str]]:
    """Field → the columns that are known to hold it, the best first."""
    known = recognised()
    hits: dict[str, list[tuple[int, int, str]]] = {}
    for position, column in enumerate(columns):
        hit = next((known[name] for name in readings(column) if name in known), None)
        if hit is not None:
            hits.setdefault(hit[0], []).append((hit[1], position, column))
    return {name: [column for _, _, column in sorted(there)] for name, there in hits.items()}


def _people(found: Mapping[str, Sequence[str]]) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Beside the company's column, one that is called just `Name` is a person's: all of it, or the missing half.

    A whole one also names the rows that have no company.
    """
    personal = [column for column in found.get("name", ())[1:] if comparable(column) in OF_ANYBODY]
    if not personal:
        return {}, {}
    halves = [name for name in ("first_name", "last_name") if name in found]
    if len(halves) == 1:
        return {"last_name" if halves == ["first_name"] else "first_name": personal[0]}, {}
    return {} if halves or "contact" in found else {"contact": personal[0]}, {"name": (personal[0],)}


def _said(columns: Sequence[str], said: Iterable[str]) -> dict[str, str]:
    by_name = {comparable(column): column for column in reversed(columns)} | {column: column for column in columns}
    fields: dict[str, str] = {}
    for text in said:
        column, equals, name = text.rpartition("=")
        column, name = column.strip(), name.strip().lower().replace("-", "_") or IGNORED
        if not equals or not column:
            raise UsageError(reason=f'"{text}" is no mapping', hint='Write: --map "Company Name=name"')
        name = IGNORED if name == "_" else name
        if name != IGNORED and name not in NAMES:
            meant = nearest(name, list(NAMES))
            raise UsageError(
                reason=f'There is no field "{name}". Fields: {", ".join(NAMES)}.',
                hint=f"Did you mean: {meant}" if meant else None,
            )
        there = by_name.get(column) or by_name.get(comparable(column))
        if there is None:
            raise UsageError(
                reason=f'The file has no column "{column}"', hint=f"Its columns: {', '.join(columns[:20])}"
            )
        fields[name] = f"{fields[name]}\x00{there}" if name == IGNORED and name in fields else there
    return fields
