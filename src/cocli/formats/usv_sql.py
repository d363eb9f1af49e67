r"""USV for DuckDB: the SQL that reads our files with explicit columns, without sniffing. DuckDB itself is not imported.

DuckDB splits the fields and knows null; the backslash escapes are decoded by an expression, and only in fields that
contain a backslash. The expression does what `usv_dialect.unescape` does: it cuts at `\\` first, so that a backslash
followed by n never becomes a line feed. A chain of replacements over the whole field cannot get that right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.formats.columns import Column, ColumnKind, columns_of
from cocli.formats.usv_dialect import ESCAPES, NULL, RECORD_LIMIT, SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cocli.models.record import Record

SQL_TYPES = {
    ColumnKind.TEXT: "VARCHAR",
    ColumnKind.INTEGER: "BIGINT",
    ColumnKind.NUMBER: "DOUBLE",
    ColumnKind.BOOLEAN: "BOOLEAN",
    ColumnKind.TIME: "TIMESTAMP",
    ColumnKind.NAME: "VARCHAR",
    ColumnKind.JSON: "JSON",
}
_ESCAPED_KINDS = frozenset({ColumnKind.TEXT, ColumnKind.NAME, ColumnKind.JSON})


def read_usv(model: type[Record], files: str | Iterable[str], *, header: Sequence[str] | None = None) -> str:
    """`read_csv(…)` over our files, every column as the raw text of its field (null is already NULL).

    `header` is what the files' first line says; the model's own columns where it is not given. All files of one call
    have one header.
    """
    names = _header(model, header)
    columns = ", ".join(f"{quote_text(name)}: 'VARCHAR'" for name in names)
    paths = [files] if isinstance(files, str) else list(files)
    options = (
        f"delim={quote_text(SEPARATOR)}, header=true, quote='', escape='', comment='', new_line='\\n', "
        f"nullstr={quote_text(NULL)}, auto_detect=false, strict_mode=true, max_line_size={RECORD_LIMIT}"
    )
    return f"read_csv([{', '.join(map(quote_text, paths))}], columns={{{columns}}}, {options})"


def select_usv(model: type[Record], files: str | Iterable[str], *, header: Sequence[str] | None = None) -> str:
    """A whole query over our files: columns decoded and typed; a column that the files lack is NULL."""
    names = set(_header(model, header))
    known = [_typed(column, column.name in names) for column in columns_of(model)]
    ours = {column.name for column in columns_of(model)}
    extras = [
        f"{decode_expression(quote_name(name))} AS {quote_name(name)}" for name in header or () if name not in ours
    ]
    return f"SELECT {', '.join([*known, *extras])} FROM {read_usv(model, files, header=header)}"  # noqa: S608  every part is quoted


def decode_expression(field: str) -> str:
    """An SQL expression for the text that a raw field stands for; `field` is an SQL expression itself."""
    piece = "piece"
    for character, escaped in ESCAPES.items():
        piece = f"replace({piece}, {quote_text(escaped)}, chr({ord(character)}))"
    pieces = f"string_split({field}, {quote_text(chr(92) * 2)})"
    decoded = f"array_to_string(list_transform({pieces}, lambda piece: {piece}), {quote_text(chr(92))})"
    return f"CASE WHEN contains({field}, {quote_text(chr(92))}) THEN {decoded} ELSE {field} END"


def _header(model: type[Record], header: Sequence[str] | None) -> list[str]:
    if header is None:
        return [column.name for column in columns_of(model)]
    return list(header)


def _typed(column: Column, present: bool) -> str:
    name, sql_type = quote_name(column.name), SQL_TYPES[column.kind]
    if not present:
        return f"NULL::{sql_type} AS {name}"
    text = decode_expression(name) if column.kind in _ESCAPED_KINDS else name
    if sql_type != "VARCHAR":
        text = f"CAST({text} AS {sql_type})"
    return f"{text} AS {name}"


def quote_text(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def quote_name(name: str) -> str:
    """A column's name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
