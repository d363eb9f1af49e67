"""Any table into a file, in the format that the file's ending names. The file appears whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocli.app.whole_file import whole_file
from cocli.results.exports.csv_files import UTF_8_MARK
from cocli.results.exports.table_formats import MARKED, table_format, write_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cocli.results.exports.tables import TableColumn


def write_table_file(
    columns: Sequence[TableColumn], rows: Iterable[Sequence[Any]], path: str, format_: str | None = None
) -> list[str]:
    """Columns with types, rows of values in their order: .xlsx, .csv, .parquet, .json or .jsonl, as `path` ends.

    Returns what a reader of the file should know of what did not fit, in sentences: mostly nothing.
    """
    chosen = format_ or table_format(path)
    with whole_file(path) as file:
        if chosen in MARKED and file.seekable():
            file.write(UTF_8_MARK)
        return write_table(columns, rows, file, chosen)
