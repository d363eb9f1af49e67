"""Counts what lies in the store and what this catalogue knows: the states that nobody told of.

There are two ways to get there: a machine that was killed for good between a save and its next telling, and a store
from before catalogues told each other. A few are read at once; many are counted, for a person to decide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from cocli import logs
from cocli.documents import codec
from cocli.documents.places import DocumentPlace
from cocli.errors import DocumentDamaged, NotFound, StoreError
from cocli.keys.codecs import CLUSTER
from cocli.keys.parts import encode_part
from cocli.keys.paths import account_prefix
from cocli.models.record import render_utc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cocli.documents.catalog.base import Catalog
    from cocli.documents.header import DocumentState
    from cocli.documents.objects import DocumentObjects
    from cocli.models.document import PipeDoc, StateKey
    from cocli.store.base import StoredObject

_LOG = logs.get_logger(__name__)

COUNTED_AT = "counted_at"
UNSEEN = "unseen"
PERIOD = timedelta(days=1)
FEW = 1000
"""So many objects are read without being asked to."""
_STATE = re.compile(
    r"/(?P<connector>[^/]+)/(?P<datasource>[^/]+)/[^/]+/(?P<folder>[^/]+)/"
    r"(?P<uuid>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.pb\Z"
)
_BATCH = 200


@dataclass(frozen=True, slots=True)
class Count:
    """States in the store that the catalogue knows nothing of: how many were read just now, how many are left."""

    read: int = 0
    unseen: int = 0


class Census:
    def __init__(self, objects: DocumentObjects, catalog: Catalog, *, clock: Callable[[], datetime]) -> None:
        self._objects = objects
        self._catalog = catalog
        self._clock = clock

    @property
    def unseen(self) -> int:
        """As it was counted last."""
        return int(self._catalog.fact(UNSEEN) or 0)

    def is_due(self) -> bool:
        """A catalogue is held against the store when it is new, and once a day."""
        counted_at = self._catalog.fact(COUNTED_AT)
        if counted_at is None:
            return True
        return self._clock() - datetime.fromisoformat(counted_at) >= PERIOD

    def count(self, *, few: int = FEW) -> Count:
        """List every state, one request for 1,000 objects, and read those that are not known, if they are few."""
        now = self._clock()
        unknown = self._unknown()
        read = 0
        if len(unknown) <= few:
            read = self.adopt(unknown)
            unknown = []
        self.note(len(unknown), now)
        return Count(read, len(unknown))

    def note(self, unseen: int, now: datetime) -> None:
        self._catalog.set_fact(UNSEEN, str(unseen))
        self._catalog.set_fact(COUNTED_AT, render_utc(now))

    def adopt(self, keys: Sequence[str]) -> int:
        """Rows for objects of the store, of any version. They are told to others like rows of our own."""
        done = 0
        for start in range(0, len(keys), _BATCH):
            batch = keys[start : start + _BATCH]
            rows: list[PipeDoc] = []
            for key, stored in zip(batch, self._objects.store.get_many(batch), strict=True):
                if (state := self._state(key, stored)) is not None:
                    rows.append(state.row())
            self._catalog.commit(rows, [])
            done += len(rows)
        return done

    def _unknown(self) -> list[str]:
        known = {_spelled(state) for state in self._catalog.places()}
        listing = self._objects.store.list(account_prefix(self._objects.prefix))
        return [
            info.key
            for info in listing
            if (found := _STATE.search(info.key))
            and found.group("uuid", "folder", "connector", "datasource") not in known
        ]

    def _state(self, key: str, stored: StoredObject | StoreError) -> DocumentState | None:
        if isinstance(stored, NotFound):
            return None  # removed since it was listed
        if isinstance(stored, StoreError):
            raise stored
        try:
            state = codec.decode(stored.data, doc=key, etag=stored.etag)
        except DocumentDamaged as error:
            _LOG.warning("%s", error.message, extra={"key": key})  # `fsck` reports it, and sets it aside when asked to
            return None
        is_at_home = DocumentPlace.of(self._objects.prefix, state.document).current == key
        return state if is_at_home else None


def _spelled(state: StateKey) -> tuple[str, str, str, str]:
    """As the keys of the store spell it."""
    folder = "intake" if state.cluster is None else _encoded_cluster(state.cluster)
    return state.uuid, folder, _encoded(state.connector), _encoded(state.datasource)


_encoded = cache(encode_part)
_encoded_cluster = cache(CLUSTER.encode)
