"""Parquet, by DuckDB: the prospect's own columns with their types, for those who go on with SQL or a data frame."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, BinaryIO

from cocli.errors import UsageError
from cocli.formats.columns import columns_of
from cocli.formats.usv_sql import quote_name, select_usv
from cocli.formats.usv_writer import Writer
from cocli.models.prospect import Prospect
from cocli.results.exports.columns import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_CHUNK = 1 << 20
_TEXTS = '["VARCHAR"]'
_LISTS = frozenset({"categories", "all_emails", "tags", "phrases", "tiles", "sources", "source_ids"})


def write_parquet(prospects: Iterable[Prospect], out: BinaryIO, columns: Sequence[str]) -> None:
    """Through a file of records on disk, so that a million of them need no memory."""
    import duckdb  # a tenth of a second: only for this format

    names = _own_names(columns)
    with tempfile.TemporaryDirectory(prefix="cocli-export-") as folder:
        records, target = os.path.join(folder, "prospects.usv"), os.path.join(folder, "prospects.parquet")
        with open(records, "wb") as file, Writer(Prospect, file) as writer:
            writer.write_many(prospect.with_extras({}) if prospect.extras else prospect for prospect in prospects)
        connection = duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false"})
        try:
            selected = ", ".join(_with_type(name) for name in names)
            query = f"SELECT {selected} FROM ({select_usv(Prospect, records)})"  # noqa: S608  quoted names
            connection.sql(query).write_parquet(target, compression="zstd")
        finally:
            connection.close()
        with open(target, "rb") as made:
            while chunk := made.read(_CHUNK):
                out.write(chunk)


def _with_type(name: str) -> str:
    """Lists of texts are lists of texts in Parquet too; what is more than that (hours, origins) stays JSON."""
    quoted = quote_name(name)
    if name in _LISTS:
        return f"from_json({quoted}, '{_TEXTS}') AS {quoted}"
    return quoted


def _own_names(columns: Sequence[str]) -> list[str]:
    """The prospect's own columns; `email` and the like are choices between several, which a table has all of."""
    own = [column.name for column in columns_of(Prospect)]
    if set(columns) >= set(COLUMNS) or list(columns) == list(COLUMNS)[:-3]:
        return own
    names = {"email": "primary_email", "emails": "all_emails"}
    wanted = [names.get(name, name) for name in columns]
    unknown = [name for name in wanted if name not in own]
    if unknown:
        raise UsageError(reason=f'A Parquet file has no column "{unknown[0]}"', hint=f"Choose from: {', '.join(own)}")
    return list(dict.fromkeys(wanted))
