"""A store around a store: everything is handed on, so that a wrapper only says what it does differently."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from cocli.errors import StoreError
    from cocli.store.base import ObjectInfo, Put, Store, StoredObject


class WrappedStore:
    def __init__(self, inner: Store) -> None:
        self.inner = inner

    @property
    def address(self) -> str:
        return self.inner.address

    def get(self, key: str) -> StoredObject:
        return self.inner.get(key)

    def head(self, key: str) -> ObjectInfo:
        return self.inner.head(key)

    def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
        return self.inner.put(key, data, if_absent=if_absent, if_match=if_match)

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        self.inner.delete(key, if_match=if_match)

    def list(self, prefix: str = "", *, start_after: str | None = None) -> Iterator[ObjectInfo]:
        return self.inner.list(prefix, start_after=start_after)

    def get_many(self, keys: Iterable[str]) -> Sequence[StoredObject | StoreError]:
        return self.inner.get_many(keys)

    def put_many(self, puts: Iterable[Put]) -> Sequence[str | StoreError]:
        return self.inner.put_many(puts)

    def delete_many(
        self, keys: Iterable[str], *, if_match: Mapping[str, str] | None = None, durable: bool = True
    ) -> Sequence[StoreError | None]:
        return self.inner.delete_many(keys, if_match=if_match, durable=durable)

    def now(self) -> datetime:
        return self.inner.now()

    def close(self) -> None:
        self.inner.close()
