"""Taking the objects of a store, in turns, while others write to it: what comes out could have been left by a crash.

`order` says which object is taken in which turn; docs/backup.md#while-others-write says why that is enough. What is
known to be unchanged is not read.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import NotFound, StoreError
from cocli.keys.paths import CAMPAIGNS_FOLDER, CATALOG_FOLDER
from cocli.store.folders import children
from cocli.sync.backup.order import Turn, claims_folders, turn_of
from cocli.sync.counts import is_count
from cocli.sync.kinds import index_of
from cocli.sync.pace import batches

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from datetime import datetime

    from cocli.store.base import ObjectInfo, Store, StoredObject
    from cocli.sync.backup.rows import BackupRow

_LOG = logs.get_logger(__name__)

_BATCH_BYTES = 32 << 20
_SETTLED_SECONDS = 2.0
"""File systems date files by ticks of up to two seconds: an edit within the same tick leaves no trace."""
_LOOKS = 2


class SourceCapture:
    """One pass over a store. `keep` is given what was read, `reuse` the rows of what was not; `looked` counts both."""

    def __init__(
        self,
        source: Store,
        known: Mapping[str, BackupRow],
        *,
        keep: Callable[[StoredObject, bool], None],
        reuse: Callable[[BackupRow], None],
        looked: Callable[[], None],
    ) -> None:
        self._source = source
        self._known = known
        self._keep = keep
        self._reuse = reuse
        self._looked = looked
        self._taken: set[str] = set()
        self._read: set[str] = set()

    def run(self) -> None:
        self._tasks()
        self._claims()
        self._tasks()
        self._take(info for info in self._source.list() if turn_of(info.key) is Turn.RECORD)
        self._pointers_and_fixed()

    # --- the turns

    def _tasks(self) -> None:
        """Twice, because a task may be brought back from where it was set aside while that is being listed.

        Before the claims, so that a task that is completed meanwhile is in one of the two; and after them, so that
        the tasks are there that were put before something was claimed to be done.
        """
        for _ in range(_LOOKS):
            self._take(info for info in self._queues() if turn_of(info.key) is Turn.TASK)

    def _queues(self) -> Iterator[ObjectInfo]:
        for campaign in self._campaigns():
            yield from self._source.list(f"{campaign}queues/")

    def _campaigns(self) -> list[str]:
        """The folders of all campaigns."""
        found = children(self._source, CAMPAIGNS_FOLDER)
        return [f"{CAMPAIGNS_FOLDER}{name}" for name in found if isinstance(name, str)]

    def _claims(self) -> None:
        """A completion is written after the witness, and that after the mark: so they are taken the other way round."""
        self._take(info for info in self._queues() if turn_of(info.key) is Turn.CLAIM)
        for folder in claims_folders(self._campaigns()):
            self._take(info for info in self._source.list(folder) if turn_of(info.key) is Turn.CLAIM)
            self._take(self._look_at(folder, f"{folder}LATEST"))
        self._take(self._source.list(CATALOG_FOLDER))

    def _look_at(self, folder: str, key: str) -> Iterator[ObjectInfo]:
        """One object as a listing shows it at this moment: asking for it by name would read it."""
        for info in self._source.list(folder, start_after=key[:-1]):
            if info.key == key:
                yield info
                return

    def _pointers_and_fixed(self) -> None:
        """A pointer that had to be read may name what was written after the listing: its index is listed again."""
        listed = list(self._source.list())
        pointers = [info for info in listed if turn_of(info.key) is Turn.POINTER and info.key not in self._taken]
        self._take(pointers)
        moved = [index_of(key) or "" for key in sorted(self._read) if turn_of(key) is Turn.POINTER]
        self._take(info for info in listed if turn_of(info.key) is Turn.FIXED)
        for folder in moved:
            again = chain.from_iterable(map(self._source.list, (f"{folder}manifests/", f"{folder}shards/")))
            self._take(again)

    # --- taking

    def _take(self, infos: Iterable[ObjectInfo]) -> None:
        """Take objects as they are now, each once. What is gone since it was listed is left out."""
        for batch in batches(self._changed(infos), _BATCH_BYTES):
            self._read_batch(batch)

    def _changed(self, infos: Iterable[ObjectInfo]) -> Iterator[ObjectInfo]:
        for info in infos:
            if info.key in self._taken or is_count(info.key):
                continue
            row = self._known.get(info.key)
            if row is not None and is_unchanged(info, row):
                self._taken.add(info.key)
                self._reuse(row)
                self._looked()
            else:
                yield info

    def _read_batch(self, batch: Collection[ObjectInfo]) -> None:
        began = self._source.now()
        for info, answer in zip(batch, self._source.get_many([info.key for info in batch]), strict=True):
            if isinstance(answer, NotFound):
                _LOG.debug("gone before it could be read: %s", info.key)
                continue
            if isinstance(answer, StoreError):
                raise answer
            self._taken.add(info.key)
            self._read.add(info.key)
            self._keep(answer, info.etag is not None or _is_settled(answer.modified, began))
            self._looked()


def is_unchanged(info: ObjectInfo, row: BackupRow) -> bool:
    """Whether an object is, by what a listing tells, the one that a row speaks of."""
    if info.size != row.size:
        return False
    if info.etag is not None:
        return info.etag == row.etag
    return bool(row.is_settled) and _micros(info.modified) == row.modified


def _is_settled(modified: datetime, looked: datetime) -> bool:
    return (looked - modified).total_seconds() > _SETTLED_SECONDS


def _micros(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000)
