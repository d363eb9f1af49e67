"""Whether other machines can learn every row of the catalogue: `fsck` holds the rows against what was told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.documents.changes.entry import batches, entry_key, read_entry
from cocli.errors import NotFound, StoreError
from cocli.keys.paths import CATALOG_FOLDER

if TYPE_CHECKING:
    from cocli.documents.repository import DocumentRepository
    from cocli.models.document import PipeDoc, StateKey


class TellingCheck:
    """Reads every entry of the store once. `missing` are the rows of those looked at that no entry names."""

    def __init__(self, repository: DocumentRepository) -> None:
        self._catalog = repository.catalog
        self._waiting: set[StateKey] | None = None
        self._told: set[int] = set()
        self.missing: list[PipeDoc] = []
        store = repository.objects.store
        keys = [info.key for info in store.list(CATALOG_FOLDER) if entry_key(info.key)]
        for batch in batches(keys):
            for stored in store.get_many(batch):
                if isinstance(stored, NotFound):
                    continue  # brought together with others since the listing: telling its rows again does no harm
                if isinstance(stored, StoreError):
                    raise stored
                self._told.update(_mark(row) for row in read_entry(stored).rows)

    def look(self, row: PipeDoc) -> None:
        if _mark(row) in self._told:
            return
        if self._waiting is None:
            self._waiting = self._catalog.untold_places()
        if row.state_key not in self._waiting:
            self.missing.append(row)

    def tell_again(self) -> str:
        self._catalog.tell_again([row.state_key for row in self.missing])
        return "other machines will be told of it"


def _mark(row: PipeDoc) -> int:
    """Short, because there may be millions."""
    return hash((row.state_key, row.version, row.digest))
