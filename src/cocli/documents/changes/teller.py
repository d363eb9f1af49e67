"""Tells others of the rows that were made here: an object of rows now and then, never one for each save.

A row is marked as untold in the transaction that writes it, so that a killed process forgets nothing: whoever opens
the catalogue next tells of it. Small objects are brought together into larger ones before they are many; the larger
one is written first, so that every row is in the store at any moment.
"""

from __future__ import annotations

import itertools
import secrets
import time
from typing import TYPE_CHECKING

from cocli import logs
from cocli.documents.changes.entry import FAN, FULL_ROWS, entry_key, entry_of, newest, read_entry, size_class
from cocli.errors import CocliError
from cocli.keys.paths import catalog_writer_folder
from cocli.store.base import StoredObject
from cocli.store.settled import create

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cocli.documents.catalog.base import Catalog
    from cocli.store.base import Put, Store

_LOG = logs.get_logger(__name__)

WRITER = "writer"
"""The fact of a catalogue that is its name in the store."""
_PAUSE_SECONDS = 5.0
_LONGEST_PAUSE_SECONDS = 300.0


def _name() -> str:
    return secrets.token_hex(8)


class ChangeTeller:
    """`name` makes the name of a catalogue that has none yet."""

    def __init__(self, store: Store, catalog: Catalog, *, name: Callable[[], str] = _name) -> None:
        self._store = store
        self._catalog = catalog
        self._name = name
        self._writer: str | None = None

    @property
    def writer(self) -> str:
        """The name of the catalogue among those that tell; it is kept with it."""
        if self._writer is None:
            self._writer = self._catalog.fact(WRITER) or self._catalog.fact(WRITER, begin=self._name())
        return str(self._writer)

    def tell(self) -> int:
        """Write what others were not told of; how many rows. One request for up to 4,096 rows, none for none."""
        told = 0
        while rows := self._catalog.untold(FULL_ROWS):
            entry = entry_of(self.writer, rows)
            self._write(entry)
            self._catalog.mark_told(rows, entry.key)
            told += len(rows)
        if told and self._is_crowded():
            self._bring_together()
        return told

    def _write(self, entry: Put) -> None:
        """Its name is its content: what is there already is the same, unless it was damaged since."""
        if create(self._store, entry.key, entry.data) is None and self._store.get(entry.key).data != entry.data:
            self._store.put(entry.key, entry.data)

    # --- fewer, larger entries

    def _is_crowded(self) -> bool:
        """By what is remembered: a listing would cost a request with every entry."""
        return any(len(entries) >= FAN for entries in self._by_size(sorted(self._catalog.learned())))

    def _by_size(self, keys: Sequence[str]) -> list[list[str]]:
        """The entries of this catalogue that are not full, in groups of about one size."""
        own = [
            (size_class(found.rows), key) for key in keys if (found := entry_key(key)) and found.writer == self.writer
        ]
        small = sorted((size, key) for size, key in own if size is not None)
        return [[key for _, key in group] for _, group in itertools.groupby(small, key=lambda entry: entry[0])]

    def _bring_together(self) -> None:
        listed = [info.key for info in self._store.list(catalog_writer_folder(self.writer))]
        for keys in self._by_size(listed):
            if len(keys) >= FAN:
                self._merge(keys)

    def _merge(self, keys: Sequence[str]) -> None:
        answers = self._store.get_many(keys)
        read = [read_entry(answer) for answer in answers if isinstance(answer, StoredObject)]
        if len(read) < len(keys) or any(entry.damaged for entry in read):
            return  # somebody else brings them together just now, or one cannot be read: nothing is thrown away
        rows = newest(row for entry in read for row in entry.rows)
        merged = entry_of(self.writer, rows)
        self._write(merged)
        self._catalog.learn([], [merged.key])
        gone = [key for key in keys if key != merged.key]
        self._store.delete_many(gone)
        self._catalog.forget_learned(gone)
        _LOG.debug("entries brought together", extra={"entries": len(keys), "rows": len(rows)})


class TellerLoop:
    """Tells at intervals, in the background. A store that does not answer is asked later and later; nothing is lost."""

    def __init__(self, teller: ChangeTeller, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._teller = teller
        self._monotonic = monotonic
        self._pause = _PAUSE_SECONDS
        self._next = 0.0

    def turn(self) -> bool:
        if self._monotonic() >= self._next:
            self.tell()
        return True

    def tell(self) -> None:
        try:
            self._teller.tell()
        except CocliError as error:  # the rows stay untold, and the next turn or the next process tells of them
            _LOG.warning("other machines were not told of documents yet: %s", error.message)
            self._next = self._monotonic() + self._pause
            self._pause = min(2 * self._pause, _LONGEST_PAUSE_SECONDS)
        else:
            self._pause = _PAUSE_SECONDS
