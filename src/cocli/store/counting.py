"""Counts requests by kind, as an S3 bill would, so that the cost of a protocol can be asserted and shown."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING

from cocli.store.wrapper import WrappedStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from cocli.errors import StoreError
    from cocli.store.base import ObjectInfo, Put, Store, StoredObject

_PAGE = 1000  # objects that one LIST returns, and keys that one bulk DELETE takes


class CountingStore(WrappedStore):
    """`counts` has the requests under get, head, put, delete (keys), delete_requests, list, and bytes_in, bytes_out."""

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self.counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def reset(self) -> None:
        with self._lock:
            self.counts.clear()

    def get(self, key: str) -> StoredObject:
        self._count(get=1)
        stored = super().get(key)
        self._count(bytes_in=len(stored.data))
        return stored

    def head(self, key: str) -> ObjectInfo:
        self._count(head=1)
        return super().head(key)

    def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
        self._count(put=1, bytes_out=len(data))
        return super().put(key, data, if_absent=if_absent, if_match=if_match)

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        self._count(delete=1, delete_requests=1)
        super().delete(key, if_match=if_match)

    def list(self, prefix: str = "", *, start_after: str | None = None) -> Iterator[ObjectInfo]:
        self._count(list=1)
        for position, info in enumerate(super().list(prefix, start_after=start_after)):
            if position and position % _PAGE == 0:
                self._count(list=1)
            yield info

    def get_many(self, keys: Iterable[str]) -> Sequence[StoredObject | StoreError]:
        asked = list(keys)
        self._count(get=len(asked))
        answers = super().get_many(asked)
        self._count(bytes_in=sum(len(getattr(stored, "data", b"")) for stored in answers))
        return answers

    def put_many(self, puts: Iterable[Put]) -> Sequence[str | StoreError]:
        asked = list(puts)
        self._count(put=len(asked), bytes_out=sum(len(put.data) for put in asked))
        return super().put_many(asked)

    def delete_many(
        self, keys: Iterable[str], *, if_match: Mapping[str, str] | None = None, durable: bool = True
    ) -> Sequence[StoreError | None]:
        asked = list(keys)
        single = sum(key in (if_match or {}) for key in asked)
        self._count(delete=len(asked), delete_requests=single - (single - len(asked)) // _PAGE)
        return super().delete_many(asked, if_match=if_match, durable=durable)

    def _count(self, **kinds: int) -> None:
        with self._lock:
            self.counts.update(kinds)
