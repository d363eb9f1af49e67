"""The list in its stores: one small object for each value, named by its hash. Nothing is ever deleted from it.

Whoever adds a value writes an object of its own, so two machines that add at once lose nothing; of two objects of one
name the one that was written last holds. Taking a value off the list is an entry, too.
"""

from __future__ import annotations

import threading
import time
from itertools import islice
from typing import TYPE_CHECKING, Any

from cocli.errors import FormatError, NotFound
from cocli.formats import json_records
from cocli.keys.paths import SUPPRESSED_FOLDER, SuppressionKey
from cocli.models.left_alone.suppression import Suppression
from cocli.pipeline.suppression.listing import NOBODY, SuppressionList
from cocli.pipeline.suppression.veil import Veil
from cocli.store import settled
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cocli.store.base import Store

_LOT = 500
FRESH_SECONDS = 30.0
"""So long a process that goes on takes the list to be as it was."""


class LeftAlone:
    """The list of some stores, read when it is first asked for and looked at again now and then."""

    def __init__(self, stores: Sequence[Store], monotonic: Callable[[], float] = time.monotonic) -> None:
        self._stores = stores
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._read: dict[tuple[str, str], tuple[str | None, Suppression]] = {}
        self._list: SuppressionList | None = None
        self._veil: Veil | None = None
        self._looked = 0.0

    def listed(self) -> SuppressionList:
        with self._lock:
            if self._list is None or self._monotonic() - self._looked > FRESH_SECONDS:
                self._looked = self._monotonic()
                self._take(self._entries())
            return self._list or NOBODY

    def veil(self) -> Veil | None:
        """What records pass through; None where nobody is listed."""
        listed = self.listed()
        return self._veil if listed else None

    def known_veil(self) -> Veil | None:
        """The same as it was when somebody last asked. Nobody is asked now: for who must not wait."""
        veil = self._veil
        return veil if veil is not None and veil.listed else None

    def forget(self) -> None:
        """Look again at the next question: somebody has just changed the list."""
        self._list = None

    def _take(self, entries: list[Suppression]) -> None:
        now = self._stores[0].now() if any(entry.until for entry in entries) else None
        found = SuppressionList(entries, now=now)
        if self._list is None or found.digest != self._list.digest:
            self._list, self._veil = found, Veil(found)

    def _entries(self) -> list[Suppression]:
        """Only what changed since the last look is read."""
        found: dict[str, Suppression] = {}
        read: dict[tuple[str, str], tuple[str | None, Suppression]] = {}
        for store in self._stores:
            infos = [info for info in store.list(SUPPRESSED_FOLDER) if SuppressionKey.fits(info.key)]
            known = {
                info.key: self._read[store.address, info.key]
                for info in infos
                if info.etag and self._read.get((store.address, info.key), (None,))[0] == info.etag
            }
            missing = [info.key for info in infos if info.key not in known]
            for stored in _read_many(store, missing):
                known[stored.key] = (stored.etag, json_records.read(Suppression, stored.data, file=stored.key))
            for key, (etag, entry) in known.items():
                read[store.address, key] = (etag, entry)
                if key not in found or found[key].updated_at < entry.updated_at:
                    found[key] = entry
        self._read = read
        return list(found.values())


def read_entries(store: Store) -> list[Suppression]:
    """Every entry of one store, also those that hold no more."""
    keys = [info.key for info in store.list(SUPPRESSED_FOLDER) if SuppressionKey.fits(info.key)]
    return [json_records.read(Suppression, stored.data, file=stored.key) for stored in _read_many(store, keys)]


def write_entry(store: Store, entry: Suppression) -> bool:
    """Write an entry, unless a later one is there. False if the list says so already."""
    key, data = str(SuppressionKey(entry.kind, entry.sha256)), json_records.render(entry)
    while settled.create(store, key, data) is None:
        try:
            there = store.get(key)
        except NotFound:
            continue  # removed by hand just now: it is created again
        try:
            known = json_records.read(Suppression, there.data, file=key)
        except FormatError:
            known = None  # what cannot be read protects nobody: it is replaced
        if known is not None and not _says_more(entry, known):
            return False
        if settled.swap(store, key, data, there.etag) is not None:
            return True
    return True


def _says_more(entry: Suppression, known: Suppression) -> bool:
    if entry.updated_at < known.updated_at:
        return False
    passing: dict[str, Any] = {"added_at": known.added_at, "updated_at": known.updated_at, "added_by": known.added_by}
    return entry.with_changes(**passing) != known


def _read_many(store: Store, keys: Sequence[str]) -> Iterator[StoredObject]:
    remaining = iter(keys)
    while lot := list(islice(remaining, _LOT)):
        for answer in store.get_many(lot):
            if isinstance(answer, StoredObject):
                yield answer
            elif not isinstance(answer, NotFound):  # one that is gone meanwhile is no entry any more
                raise answer
