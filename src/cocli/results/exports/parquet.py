"""Parquet, by DuckDB: columns with their types, times with their zone (UTC), lists as lists."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from typing import TYPE_CHECKING, Any, BinaryIO

from cocli.formats.usv_sql import quote_name, quote_text
from cocli.results.exports.tables import CellType, TableColumn, distinct_names, records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_TYPES = {
    CellType.NUMBER: "DOUBLE",
    CellType.WHOLE: "BIGINT",
    CellType.TIME: "TIMESTAMP WITH TIME ZONE",
    CellType.TEXTS: "VARCHAR[]",
    CellType.DATA: "JSON",
}
_LEAST_OBJECT = 1 << 20


def write_parquet_table(
    columns: Sequence[TableColumn],
    rows: Iterable[Sequence[Any]],
    out: BinaryIO,
    whom: Callable[[], Sequence[str]],
) -> list[str]:
    """Through a file of records on disk, so that a million of them need no memory. Whom to name is metadata of the
    file: `SELECT * FROM parquet_kv_metadata('…')`."""
    import duckdb  # a tenth of a second: only for this format

    with tempfile.TemporaryDirectory(prefix="cocli-export-") as folder:
        lines, target = os.path.join(folder, "rows.json"), os.path.join(folder, "rows.parquet")
        longest = _write_lines(columns, rows, lines)
        connection = duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false"})
        try:
            named = "\n".join(whom())
            metadata = f", KV_METADATA {{attribution: {quote_text(named)}}}" if named else ""
            options = f"(FORMAT parquet, COMPRESSION zstd{metadata})"
            connection.execute(f"COPY ({_question(columns, lines, longest)}) TO {quote_text(target)} {options}")
        finally:
            connection.close()
        with open(target, "rb") as made:
            shutil.copyfileobj(made, out, 1 << 20)
    return []


def _write_lines(columns: Sequence[TableColumn], rows: Iterable[Sequence[Any]], path: str) -> int:
    """One record per line; returns the length of the longest, which the reader has to be told."""
    longest = 0
    with open(path, "wb") as file:
        for record in records(columns, rows):
            line = json.dumps(record, allow_nan=False).encode() + b"\n"
            longest = max(longest, len(line))
            file.write(line)
    return longest


def _question(columns: Sequence[TableColumn], path: str, longest: int) -> str:
    names = [
        (name, _TYPES.get(column.type, "VARCHAR"))
        for name, column in zip(distinct_names(columns), columns, strict=True)
    ]
    types = ", ".join(f"{quote_text(name)}: {quote_text(type_)}" for name, type_ in names)
    selected = ", ".join(quote_name(name) for name, _ in names)
    options = f"format = 'newline_delimited', maximum_object_size = {max(_LEAST_OBJECT, longest + 1)}"
    return f"SELECT {selected} FROM read_json({quote_text(path)}, columns = {{{types}}}, {options})"  # noqa: S608  quoted
