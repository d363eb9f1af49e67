"""Takes over the rows that other catalogues told: one listing, and one request for each entry that is new here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli import logs
from cocli.documents.changes.entry import batches, entry_key, read_entry
from cocli.errors import NotFound, StoreError
from cocli.keys.paths import CATALOG_FOLDER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.documents.catalog.base import Catalog
    from cocli.store.base import Store

_LOG = logs.get_logger(__name__)

_ROUNDS = 5


@dataclass(slots=True)
class Lesson:
    """What learning came to: rows that were read, entries that they stood in, rows that could not be read."""

    rows: int = 0
    entries: int = 0
    damaged: int = 0


class ChangeLearner:
    def __init__(self, store: Store, catalog: Catalog) -> None:
        self._store = store
        self._catalog = catalog

    def learn(self) -> Lesson:
        """Read what is new. An entry that vanishes while it is wanted was brought together with others: look again."""
        lesson = Lesson()
        for _ in range(_ROUNDS):
            listed = {info.key for info in self._store.list(CATALOG_FOLDER) if entry_key(info.key)}
            known = self._catalog.learned()
            if gone := known - listed:
                self._catalog.forget_learned(sorted(gone))
            if self._read(sorted(listed - known), lesson):
                break
        if lesson.entries:
            told = {"rows": lesson.rows, "entries": lesson.entries, "damaged": lesson.damaged}
            _LOG.debug("learned of documents of other machines", extra=told)
        return lesson

    def _read(self, keys: Sequence[str], lesson: Lesson) -> bool:
        """False if one of them was not there any more."""
        whole = True
        for batch in batches(keys):
            for key, stored in zip(batch, self._store.get_many(batch), strict=True):
                if isinstance(stored, NotFound):
                    whole = False
                    continue
                if isinstance(stored, StoreError):
                    raise stored
                entry = read_entry(stored)
                self._catalog.learn(entry.rows, [key])
                lesson.rows += len(entry.rows)
                lesson.entries += 1
                lesson.damaged += entry.damaged
                if entry.damaged:
                    _LOG.warning("an entry of the catalogue has rows that cannot be read", extra={"key": key})
        return whole
