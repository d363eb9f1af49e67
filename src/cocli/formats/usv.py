r"""USV: tables of records as text that `rg`, DuckDB and PostgreSQL read. The one dialect (docs/format.md).

PostgreSQL's COPY text format with U+001F between fields. `\n` ends a record. In a field a backslash is written `\\`,
a line feed `\n`, a carriage return `\r`, a tab `\t`, U+001F `\037`, U+001E `\036`; null is `\N`, the empty text is
empty. The first record is the header. Columns are found by name, never by position.

A row that does not fit is set aside with file, line and reason (`RejectedRow`); the rest is served. A file whose header
does not fit is a `FormatError`: without its required columns every record would come out hollow.

This is the door; the parts are `usv_dialect` (one field), `usv_reader`, `usv_writer`, and `usv_sql` (DuckDB).
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, TypeVar

from cocli.errors import FormatError
from cocli.formats.plan import row_type
from cocli.formats.rejected import RejectedRow
from cocli.formats.usv_dialect import NULL, RECORD_LIMIT, SEPARATOR, escape, unescape
from cocli.formats.usv_reader import Reader, Source
from cocli.formats.usv_sql import decode_expression, read_usv, select_usv
from cocli.formats.usv_writer import Writer
from cocli.models.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "NULL",
    "RECORD_LIMIT",
    "SEPARATOR",
    "Reader",
    "RejectedRow",
    "Source",
    "Writer",
    "decode_expression",
    "escape",
    "read",
    "read_one",
    "read_usv",
    "render",
    "row_type",
    "select_usv",
    "unescape",
]

R = TypeVar("R", bound=Record)


def read(
    model: type[R],
    source: Source,
    *,
    file: str = "<memory>",
    trusted: bool = False,
    on_rejected: Callable[[RejectedRow], None] | None = None,
) -> Reader[R]:
    """Read records one after the other; `Reader` says what else there is to know."""
    return Reader(model, source, file=file, trusted=trusted, on_rejected=on_rejected)


def read_one(model: type[R], data: bytes, *, file: str = "<memory>") -> R:
    """The record of a file that holds exactly one, such as a loose record of an index."""
    reader = Reader(model, data, file=file)
    records = list(reader)
    for rejected in reader.rejected:
        raise FormatError(file=rejected.file, line=rejected.line, reason=rejected.reason)
    if len(records) != 1:
        raise FormatError(file=file, line=1, reason=f"expected one record, found {len(records)}")
    return records[0]


def render(model: type[R], records: Iterable[R]) -> bytes:
    """Records → the bytes of a file, with every extra column that any of them carries."""
    records = list(records)
    extra_columns = tuple(dict.fromkeys(name for record in records for name in record.extras))
    out = io.BytesIO()
    with Writer(model, out, extra_columns=extra_columns) as writer:
        writer.write_many(records)
    return out.getvalue()
