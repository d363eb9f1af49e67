"""Results of tasks on a folder: kept by the journal where that can be had, else put as everything else.

A result is created once and never replaced. So one synchronisation of the journal is enough for it, and nobody waits
for the object itself. Who removes or replaces a result has every journal settled first.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from cocli import logs
from cocli.errors import AlreadyExists, NotFound, StoreError
from cocli.keys.paths import is_completion
from cocli.store.base import Put
from cocli.store.disk.errors import failure, store_errors
from cocli.store.disk.journal import JournalRecord, JournalUsedUp, ResultJournal, is_whole
from cocli.store.disk.staged import StagedObject

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from cocli.store.disk.beneath import Beneath

_LOG = logs.get_logger(__name__)

_FIRST_WITHOUT_JOURNAL = 8
"""To make a journal costs as much as a few results: who has no more than that makes none."""


class ObjectFolder(Protocol):
    """What is asked of the store whose results these are."""

    def get_bytes(self, key: str) -> bytes: ...

    def put_object(self, put: Put) -> str:
        """Create or replace one object, without a journal."""
        ...

    def put_together(
        self, batch: Sequence[Put], journaled: AbstractSet[str] = frozenset()
    ) -> Sequence[str | StoreError]:
        """Put several. Those whose keys are in `journaled` are given to `keep` before they get their names."""
        ...


class Results:
    """Those of one folder, as one process writes them."""

    def __init__(self, root: str, beneath: Beneath, folder: ObjectFolder) -> None:
        self._root = root
        self._folder = folder
        self._count = 0
        self.journal = ResultJournal(root, beneath, self._restore)

    def put(self, batch: Sequence[Put]) -> Sequence[str | StoreError]:
        """Put objects among which there may be results."""
        results = [put for put in batch if is_completion(put.key)]
        if not results:
            return self._folder.put_together(batch)
        if not self._are_kept(results):
            if any(not put.if_absent for put in results):
                failed = failure(self._root, self.journal.settle)
                if failed is not None:
                    return [failed] * len(batch)
            return self._folder.put_together(batch)
        keys = [put.key for put in results]
        try:
            with store_errors(self._root, keys[0]), self.journal.holding(keys):
                return self._folder.put_together(batch, frozenset(keys))
        except StoreError as error:
            return [error] * len(batch)
        except JournalUsedUp:  # nothing of them has a name yet; the next journal has room for them
            return self.put(batch)

    def check_absent(self, key: str) -> None:
        """Before a record of it is written: who loses a race has none."""
        if os.path.lexists(f"{self._root}/{key}"):
            raise AlreadyExists(key=key)

    def keep(
        self, batch: Sequence[Put], staged: Sequence[StagedObject | StoreError], journaled: AbstractSet[str]
    ) -> None:
        """Before any of them gets its name. If that cannot be, nothing of them stays."""
        written = [
            (put, content) for put, content in zip(batch, staged, strict=True) if isinstance(content, StagedObject)
        ]
        records = [JournalRecord(put.key, put.data) for put, _ in written if put.key in journaled]
        try:
            if records:
                self.journal.keep(records)
        except BaseException:
            for _, content in written:
                content.discard()
            raise

    def settle_for(self, key: str) -> None:
        """Before an object is removed."""
        if is_completion(key):
            self.journal.settle()

    def _are_kept(self, results: Sequence[Put]) -> bool:
        """Whether the journal keeps these: new objects that nobody replaces."""
        self._count += len(results)
        return (
            self._count > _FIRST_WITHOUT_JOURNAL
            and all(put.if_absent for put in results)
            and self.journal.takes(sum(len(put.key) + len(put.data) for put in results))
            and self.journal.prepare()
        )

    def _restore(self, key: str, data: bytes) -> None:
        """Make an object anew that a power cut took, or left in halves."""
        try:
            there = self._folder.get_bytes(key)
        except NotFound:
            there = b""
        if not is_whole(there):
            _LOG.info("made anew after a power cut: %s", key)
            self._folder.put_object(Put(key, data))
