"""Lines in blocks: what a browser loads whole and searches itself.

A block ends where the hash of a row says so, so that a row that comes or goes changes one block and leaves the others,
which browsers and buckets have already.
"""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.app.web.prospects.files import NamedFiles
    from cocli.app.web.prospects.tables import ProspectTable

_FIRST = 1_000
"""The first block is small: its rows are on the screen while the others come."""
_LEAST, _MOST, _CHANCE = 4_000, 16_000, 0xFFF
_LEVEL = 6


def write_lines(table: ProspectTable, files: NamedFiles) -> list[dict[str, object]]:
    """Write the blocks; what the manifest says of them."""
    blocks: list[dict[str, object]] = []
    for begin, end in _bounds(table):
        text = "\n".join(map(table.line, table.rows[begin:end]))
        data = gzip.compress(text.encode("utf-8", "replace"), _LEVEL, mtime=0)
        blocks.append({"file": files.put("lines", "tsv.gz", data), "rows": end - begin, "bytes": len(data)})
    return blocks


def _bounds(table: ProspectTable) -> Iterator[tuple[int, int]]:
    identity, begin = table.names.index("id"), 0
    for number, row in enumerate(table.rows, 1):
        length = number - begin
        is_cut = length >= _LEAST and zlib.crc32(row[identity].encode()) & _CHANCE == 0
        if is_cut or length >= _MOST or number == _FIRST:
            yield begin, number
            begin = number
    if begin < len(table.rows):
        yield begin, len(table.rows)
