"""Which formats hold any table, and which of them the ending of a file's name asks for.

`write_table(columns, rows, out, table_format(path))` writes a table: prospects, or a person's own columns with what was
found beside them. Into a file that appears whole it is written by `cocli.app.results.tables.write_table_file`. A
format's module is imported when something is written in it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, BinaryIO

from cocli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cocli.results.exports.tables import TableColumn, Value, WriteTable

    Credits = Callable[[], Sequence[str]]


def nobody() -> list[str]:
    """Whom to name with a table that is no list of businesses."""
    return []


def _xlsx(
    columns: Sequence[TableColumn], rows: Iterable[Sequence[Value]], out: BinaryIO, whom: Credits = nobody, /
) -> list[str]:
    from cocli.results.exports.xlsx import write_xlsx_table

    return write_xlsx_table(columns, rows, out, whom)


def _csv(columns: Sequence[TableColumn], rows: Iterable[Sequence[Value]], out: BinaryIO, /) -> list[str]:
    from cocli.results.exports.csv_files import write_csv_table

    return write_csv_table(columns, rows, out)


def _raw_csv(columns: Sequence[TableColumn], rows: Iterable[Sequence[Value]], out: BinaryIO, /) -> list[str]:
    from cocli.results.exports.csv_files import write_raw_csv_table

    return write_raw_csv_table(columns, rows, out)


def _marked_csv(columns: Sequence[TableColumn], rows: Iterable[Sequence[Value]], out: BinaryIO, /) -> list[str]:
    from cocli.results.exports.csv_files import write_marked_csv_table

    return write_marked_csv_table(columns, rows, out)


def _plain_csv(columns: Sequence[TableColumn], rows: Iterable[Sequence[Value]], out: BinaryIO, /) -> list[str]:
    from cocli.results.exports.csv_files import write_plain_phones_csv_table

    return write_plain_phones_csv_table(columns, rows, out)


def _parquet(
    columns: Sequence[TableColumn], rows: Iterable[Sequence[Value]], out: BinaryIO, whom: Credits = nobody, /
) -> list[str]:
    from cocli.results.exports.parquet import write_parquet_table

    return write_parquet_table(columns, rows, out, whom)


def _json(columns: Sequence[TableColumn], rows: Iterable[Sequence[Value]], out: BinaryIO, /) -> list[str]:
    from cocli.results.exports.json_files import write_json_table

    return write_json_table(columns, rows, out)


def _json_lines(columns: Sequence[TableColumn], rows: Iterable[Sequence[Value]], out: BinaryIO, /) -> list[str]:
    from cocli.results.exports.json_files import write_json_lines_table

    return write_json_lines_table(columns, rows, out)


TABLE_FORMATS: dict[str, WriteTable] = {
    "xlsx": _xlsx,
    "csv": _csv,
    "csv-raw": _raw_csv,
    "csv-marked": _marked_csv,
    "csv-plain": _plain_csv,
    "parquet": _parquet,
    "json": _json,
    "jsonl": _json_lines,
}
MARKED = frozenset({"csv"})
"""The formats whose files begin with the mark of UTF-8; streams are without."""
TABLE_ENDINGS = {
    ".xlsx": "xlsx",
    ".csv": "csv",
    ".parquet": "parquet",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}


CREDITED_FORMATS = {"xlsx": _xlsx, "parquet": _parquet}
"""Those that can say in the file itself whom to name with it."""


def table_format(path: str) -> str:
    """The format that the ending of a file's name asks for; `UsageError` where it asks for none."""
    ending = os.path.splitext(path)[1].lower()
    if ending in TABLE_ENDINGS:
        return TABLE_ENDINGS[ending]
    raise UsageError(
        reason=f'"{path}" does not say which format the table is to have',
        hint=f"Name a file that ends in {', '.join(TABLE_ENDINGS)}.",
    )


def write_table(
    columns: Sequence[TableColumn], rows: Iterable[Sequence[Value]], out: BinaryIO, format_: str
) -> list[str]:
    """Any table in one of `TABLE_FORMATS`, row by row. Returns what a reader of the file should know."""
    return TABLE_FORMATS[format_](columns, rows, out)
