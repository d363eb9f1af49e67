"""JSON: one array with a business per line, or lines that are objects of their own. Lists stay lists."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, BinaryIO

from cocli.results.exports.tables import TableColumn, records

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def write_json_table(columns: Sequence[TableColumn], rows: Iterable[Sequence[Any]], out: BinaryIO) -> list[str]:
    """An array of objects, an object per line."""
    out.write(b"[")
    for number, record in enumerate(records(columns, rows)):
        out.write(b"\n" if number == 0 else b",\n")
        out.write(_line(record))
    out.write(b"\n]\n")
    return []


def write_json_lines_table(columns: Sequence[TableColumn], rows: Iterable[Sequence[Any]], out: BinaryIO) -> list[str]:
    """An object per line, and nothing else."""
    for record in records(columns, rows):
        out.write(_line(record))
        out.write(b"\n")
    return []


def _line(record: object) -> bytes:
    # U+2028 and U+2029 end a line to some readers of lines.
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").encode()
