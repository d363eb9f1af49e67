"""One object of the log: rows ⇄ a USV file, and its name. Who writes entries is `teller`, who reads them `learner`."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from cocli.documents.ids import node_uuid
from cocli.errors import FormatError, InvalidKey
from cocli.formats import usv
from cocli.keys.paths import CatalogChangesKey
from cocli.models.document import PipeDoc
from cocli.store.base import Put

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cocli.models.document import StateKey
    from cocli.store.base import StoredObject

FULL_ROWS = 4096
"""An entry of so many rows is never written again."""
FAN = 16
"""So many entries of about one size become one."""
_SIDE_BY_SIDE = 32
"""So many are read at once: a full one has some megabytes."""


class EntryRows(NamedTuple):
    """What an entry holds: the rows that can be taken over, and how many cannot."""

    rows: list[PipeDoc]
    damaged: int


def entry_of(writer: str, rows: Sequence[PipeDoc]) -> Put:
    """The object that tells of some rows. The same rows are the same object: telling twice is telling once."""
    data = usv.render(
        PipeDoc, sorted(rows, key=lambda row: (row.uuid, row.cluster or "", row.datasource, row.connector))
    )
    return Put(str(CatalogChangesKey(writer, len(rows), hashlib.sha256(data).hexdigest())), data)


def entry_key(key: str) -> CatalogChangesKey | None:
    """None for a key that is no entry: somebody else's file."""
    try:
        return CatalogChangesKey.parse(key)
    except InvalidKey:
        return None


def read_entry(stored: StoredObject) -> EntryRows:
    """The rows of an entry. What does not fit is counted and left out: the objects that it speaks of are there."""
    key = CatalogChangesKey.parse(stored.key)
    if hashlib.sha256(stored.data).hexdigest() != key.content_hash:
        return EntryRows([], key.rows)
    try:
        reader = usv.read(PipeDoc, stored.data, file=stored.key)
        rows = [row for row in reader if row.uuid == node_uuid(row.doc, row.address, row.account)]
    except FormatError:
        return EntryRows([], key.rows)  # another version of cocli wrote it: none of it can be read here
    return EntryRows(rows, key.rows - len(rows))


def size_class(rows: int) -> int | None:
    """Entries of one class are brought together; None for those that are full."""
    if rows >= FULL_ROWS:
        return None
    found = 0
    while rows >= FAN:
        rows, found = rows // FAN, found + 1
    return found


def newest(rows: Iterable[PipeDoc]) -> list[PipeDoc]:
    """One row for each state: the one of the highest version."""
    found: dict[StateKey, PipeDoc] = {}
    for row in rows:
        state = row.state_key
        if state not in found or row.version >= found[state].version:
            found[state] = row
    return list(found.values())


def batches(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    """Entries to read side by side."""
    for start in range(0, len(keys), _SIDE_BY_SIDE):
        yield keys[start : start + _SIDE_BY_SIDE]
