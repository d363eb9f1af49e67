"""Parquet, read by DuckDB."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

from cocli.errors import FormatError, UsageError
from cocli.pipeline.sources.imports.cells import flat_cells
from cocli.pipeline.sources.imports.rows import ImportRow, ImportTable
from cocli.pipeline.sources.imports.unpacking import check_size

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MAX_ROWS = 2_000_000
_BATCH = 10_000
_SIZES = "select coalesce(sum(total_uncompressed_size), 0)::BIGINT from parquet_metadata(?)"
_ROWS = "select coalesce(sum(num_rows), 0)::BIGINT from parquet_file_metadata(?)"


def read_parquet(data: bytes, *, file: str) -> ImportTable:
    """One row per record, numbered from 1; structures are columns such as `address.city`."""
    import duckdb  # the import of a CSV needs none

    with tempfile.NamedTemporaryFile(suffix=".parquet") as copy:
        copy.write(data)
        copy.flush()
        try:
            with duckdb.connect(":memory:", config={"threads": 1}) as connection:
                _check(connection, copy.name, len(data), file)
                return _table(connection, copy.name)
        except duckdb.Error as error:
            reason = str(error).replace(copy.name, file).splitlines()[0]
            raise FormatError(file=file, line=1, reason=f"the Parquet file cannot be read: {reason}") from error


def _check(connection: DuckDBPyConnection, path: str, packed: int, file: str) -> None:
    """By what its end says, before anything is unpacked."""
    (rows,) = connection.execute(_ROWS, [path]).fetchone() or (0,)
    if rows > MAX_ROWS:
        raise UsageError(
            reason=f"{file} has {rows:,} rows; the most is {MAX_ROWS:,}",
            hint="Write the rows that you want into a file.",
        )
    (size,) = connection.execute(_SIZES, [path]).fetchone() or (0,)
    check_size(size, packed, file)


def _table(connection: DuckDBPyConnection, path: str) -> ImportTable:
    table = ImportTable("parquet", "utf-8")
    result = connection.execute("select * from read_parquet(?)", [path])
    names = [column[0] for column in result.description or ()]
    number = 0
    while batch := result.fetchmany(_BATCH):
        for values in batch:
            number += 1
            cells = flat_cells(dict(zip(names, values, strict=True)))
            if number == 1:
                table.see(cells)
            elif len(cells) != len(table.columns):
                table.see(cells)  # a structure that is null has no parts
            if any(cell.strip() for cell in cells.values()):
                table.rows.append(ImportRow(number, cells))
            else:
                table.blank += 1
    return table
