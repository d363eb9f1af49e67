"""Which column of a file is which field: said by a person, told by its name, or seen from its values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.config.schema import nearest
from cocli.errors import UsageError
from cocli.pipeline.sources.imports.columns.by_value import ColumnFinding, by_values, contradicted
from cocli.pipeline.sources.imports.columns.kinds import profiles_of
from cocli.pipeline.sources.imports.fields import (
    IGNORED,
    NAMES,
    OF_ANYBODY,
    SEVERAL,
    comparable,
    cut_off,
    readings,
    recognised,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cocli.pipeline.sources.imports.rows import ImportRow


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """Field → column. A column has one field."""

    fields: Mapping[str, str]
    unused: tuple[str, ...]
    """Columns that nothing is taken from; the file itself is kept, so nothing of them is lost."""
    further: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Field → columns that say it too, for rows in which the first one is blank; addresses of mail are taken of all."""
    why: Mapping[str, str] = field(default_factory=dict)
    """Column → why it is what it is taken for, or why it is not used."""

    def columns_of(self, name: str) -> tuple[str, ...]:
        return (*([self.fields[name]] if name in self.fields else []), *self.further.get(name, ()))

    def field_of(self, column: str) -> str | None:
        """What a column is taken for."""
        return next((name for name in self.fields if column in self.columns_of(name)), None)


def map_columns(
    columns: Sequence[str],
    said: Iterable[str] = (),
    rows: Sequence[ImportRow] = (),
    remembered: Mapping[str, str] | None = None,
) -> ColumnMapping:
    """The mapping of a file with these columns.

    What a person said comes first (`said`: `Column=field`), then what was said of a file of the same shape
    (`remembered`: column → field), then the names of the columns, then the values of the rows.
    """
    fields = _said(columns, said)
    why = {column: "you said so" for text in fields.values() for column in text.split("\x00")}
    for column, name in (remembered or {}).items():
        if column in columns and column not in why and (name == IGNORED or name not in fields):
            fields[name] = f"{fields[name]}\x00{column}" if name in fields else column
            why[column] = "you said so of a file of this shape"
    ignored = fields.pop(IGNORED, "").split("\x00")
    finding = _found([column for column in columns if column not in {*fields.values(), *ignored}], fields, rows)
    found, why = finding.columns, finding.why | why
    further = {name: tuple(found[name][1:]) for name in SEVERAL if name not in fields and len(found.get(name, ())) > 1}
    if "name" not in fields:
        people, alone = _people(found)
        fields |= people
        further |= alone
    fields = {name: there[0] for name, there in found.items()} | fields
    if not fields.keys() & {"name", "website", "domain"} and not _is_named_by_links(fields):
        raise _nothing_known(columns)
    used = {*fields.values(), *(column for more in further.values() for column in more)}
    ordered = {name: fields[name] for name in NAMES if name in fields}
    unused = tuple(column for column in columns if column not in used)
    for column in unused:
        why.setdefault(column, "neither its name nor its values are known")
    return ColumnMapping(ordered, unused, further, why)


def _is_named_by_links(fields: Mapping[str, str]) -> bool:
    """A link of a map has the name of its place in it."""
    return "map_url" in fields


def _nothing_known(columns: Sequence[str]) -> UsageError:
    listed = ", ".join(f'"{column}"' for column in columns[:12]) or "none"
    return UsageError(
        reason=f"No column of the file is known to hold the name or the website. Its columns: {listed}.",
        hint='Say which one does: --map "Column=name" or --map "Column=website"',
    )


def _found(columns: Sequence[str], said: Mapping[str, str], rows: Sequence[ImportRow]) -> ColumnFinding:
    """Field → the columns that hold it, the best first: by their names, unless their values deny it; then by values."""
    known = recognised()
    profiles = profiles_of(columns, rows)
    hits: dict[str, list[tuple[int, int, str]]] = {}
    finding = ColumnFinding()
    left: list[str] = []
    for position, column in enumerate(columns):
        hit = hit_of(column, known)
        denied = contradicted(hit[0], profiles[column]) if hit else None
        if hit is None or denied:
            left.append(column)
            if hit and denied:
                finding.why[column] = f"it is called like {hit[0]}, but {denied}"
            continue
        hits.setdefault(hit[0], []).append((hit[1], position, column))
        finding.why[column] = "by its name"
    finding.columns = {name: [column for _, _, column in sorted(there)] for name, there in hits.items()}
    _sort_shops(finding)
    more = by_values(left, finding.columns | {name: [column] for name, column in said.items()}, profiles)
    for name, there in more.columns.items():
        finding.columns.setdefault(name, []).extend(there)
    finding.why |= more.why
    return finding


def _sort_shops(finding: ColumnFinding) -> None:
    """Beside a name, `shop` says what it sells, as OpenStreetMap has it."""
    for column in finding.columns.get("name", [])[1:]:
        if comparable(column).rpartition(" ")[2] == "shop":
            finding.columns["name"].remove(column)
            finding.columns.setdefault("category", []).append(column)


def hit_of(column: str, known: Mapping[str, tuple[str, int]]) -> tuple[str, int] | None:
    """The field that a column's name tells, and how far behind in its row of the table that name stands."""
    hit = next((known[name] for name in readings(column) if name in known), None)
    return hit or cut_off(column)


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


def said_columns(columns: Sequence[str], said: Iterable[str]) -> dict[str, str]:
    """Column → field, of what a person says now."""
    return {column: name for name, text in _said(columns, said).items() for column in text.split("\x00")}


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
