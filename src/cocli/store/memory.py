"""A store in this process's memory: for tests, demonstrations and simulations. Complete, not a stub."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from cocli.errors import AlreadyExists, Conflict, NotFound, StoreError
from cocli.keys.parts import check_key, check_prefix
from cocli.store.base import ObjectInfo, StoredObject
from cocli.store.bulk import answer
from cocli.store.conditions import two_conditions
from cocli.store.etag import content_etag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from cocli.store.base import Put


_utc_now = partial(datetime.now, UTC)
_stored = partial(tuple.__new__, StoredObject)
"""As `StoredObject(*values)`, in half of the time: it is done for every write."""
_listed = partial(tuple.__new__, ObjectInfo)


class MemoryStore:
    """Objects in a dict, behind one lock. The clock can be replaced, so that a simulation decides what time it is."""

    def __init__(self, *, clock: Callable[[], datetime] = _utc_now) -> None:
        self._objects: dict[str, StoredObject] = {}
        self._lock = threading.Lock()
        self._clock = clock

    @property
    def address(self) -> str:
        return "memory://"

    def get(self, key: str) -> StoredObject:
        there = self._objects.get(key)
        if there is None:
            check_key(key)  # what is there has a key that was checked
            raise NotFound(key=key)
        return there

    def head(self, key: str) -> ObjectInfo:
        return _info(self.get(key))

    def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
        return self._put(key, data, if_absent, if_match, self._clock())

    def _put(self, key: str, data: bytes, if_absent: bool, if_match: str | None, now: datetime) -> str:
        check_key(key)
        etag = content_etag(data)
        written = _stored((key, bytes(data), etag, now))
        if if_absent:
            if if_match is not None:
                raise two_conditions()
            if self._objects.setdefault(key, written) is not written:  # one step, so it needs no lock
                raise AlreadyExists(key=key)
            return etag
        with self._lock:
            there = self._objects.get(key)
            if if_match is not None and (there is None or there.etag != if_match):
                raise Conflict(key=key)
            self._objects[key] = written
        return etag

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        check_key(key)
        with self._lock:
            there = self._objects.get(key)
            if there is None:
                return  # what is created from now on is not ours to remove
            if if_match is not None and there.etag != if_match:
                raise Conflict(key=key)
            del self._objects[key]

    def list(self, prefix: str = "", *, start_after: str | None = None) -> Iterator[ObjectInfo]:
        check_prefix(prefix)
        after = start_after or ""
        with self._lock:
            keys = sorted([key for key in self._objects if key.startswith(prefix) and key > after])
        for key in keys:
            there = self._objects.get(key)
            if there is not None:
                yield _info(there)

    def get_many(self, keys: Iterable[str]) -> Sequence[StoredObject | StoreError]:
        return [answer(self.get, key) for key in keys]

    def put_many(self, puts: Iterable[Put]) -> Sequence[str | StoreError]:
        answers: list[str | StoreError] = []
        now, put = self._clock(), self._put
        for key, data, if_absent, if_match, _ in puts:
            try:
                answers.append(put(key, data, if_absent, if_match, now))
            except StoreError as error:
                answers.append(error)
        return answers

    def delete_many(
        self,
        keys: Iterable[str],
        *,
        if_match: Mapping[str, str] | None = None,
        durable: bool = True,  # noqa: ARG002 - memory outlives no power cut
    ) -> Sequence[StoreError | None]:
        if if_match:
            return [answer(partial(self.delete, if_match=if_match.get(key)), key) for key in keys]
        remove = self._objects.pop
        with self._lock:
            return [answer(check_key, key) if remove(key, None) is None else None for key in keys]

    def now(self) -> datetime:
        return self._clock()

    def close(self) -> None:
        """Nothing is held open; the objects stay until the store itself is forgotten."""


def _info(stored: StoredObject) -> ObjectInfo:
    key, data, etag, modified = stored
    return _listed((key, len(data), modified, etag))
