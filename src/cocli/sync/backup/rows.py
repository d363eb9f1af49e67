"""The rows of a snapshot, one for each key, in lists. Snapshots share a list as long as nothing in it changes.

Where a list ends is decided by the keys themselves, so that a new key changes one list and not all that follow.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SCHEMA = "cocli.backup-list/1"
_KEYS_OF_A_LIST = 512
"""On average; a list ends before every key whose checksum is a multiple of it."""
_MOST_KEYS = 4096
_LEVEL = 6


class BackupRow(NamedTuple):
    """One object of a snapshot: what it is, how it looked from outside, and where its content is."""

    key: str
    size: int
    sha256: str
    modified: int
    """When it was written, in microseconds of the epoch."""
    etag: str
    is_settled: int
    """1 if an object of the same size and time is the same. What was written just before it was read is not."""
    pack: str
    offset: int
    length: int
    """Of the stored form. It is shorter than `size` where it is compressed (zlib)."""


class ListRef(NamedTuple):
    """A list as a snapshot names it."""

    name: str
    first: str
    """Its first key: what is before it is in an earlier list."""
    rows: int


def split_rows(rows: Sequence[BackupRow]) -> Iterator[Sequence[BackupRow]]:
    """Rows in the order of their keys, list by list."""
    begin = 0
    for position, row in enumerate(rows):
        ends = zlib.crc32(row.key.encode()) % _KEYS_OF_A_LIST == 0 or position - begin >= _MOST_KEYS
        if ends and position > begin:
            yield rows[begin:position]
            begin = position
    if begin < len(rows):
        yield rows[begin:]


def render_list(rows: Sequence[BackupRow], salt: str = "") -> bytes:
    """The same rows are always the same bytes, unless they are to have another name."""
    packs = list(dict.fromkeys(row.pack for row in rows))
    number = {pack: position for position, pack in enumerate(packs)}
    table = [[*row[:6], number[row.pack], row.offset, row.length] for row in rows]
    document = {"schema": SCHEMA, "packs": packs, "rows": table}
    if salt:
        document["salt"] = salt
    text = json.dumps(document, separators=(",", ":"))
    return zlib.compress(text.encode(), _LEVEL)


def parse_list(data: bytes) -> list[BackupRow]:
    """`ValueError` where the bytes are no list."""
    try:
        document = json.loads(zlib.decompress(data))
        packs = document["packs"]
        return [BackupRow._make([*row[:6], packs[row[6]], *row[7:]]) for row in document["rows"]]
    except (KeyError, IndexError, TypeError, zlib.error) as error:
        raise ValueError(f"it is no list: {error}") from error


def in_order(rows: Iterable[BackupRow]) -> list[BackupRow]:
    return sorted(rows, key=lambda row: row.key)
