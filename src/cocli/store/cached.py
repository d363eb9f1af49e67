"""A read-through cache for objects that never change: shards, manifests, batches, completions.

What is immutable cannot be stale, so a hit costs no request at all. Everything else is passed through untouched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.errors import StoreError
from cocli.store.base import Put, StoredObject
from cocli.store.wrapper import WrappedStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from cocli.store.base import Store


class CachedStore(WrappedStore):
    """`cache` is any other store, usually a local folder without fsync: whatever it loses is fetched again."""

    def __init__(self, inner: Store, cache: Store, *, immutable: Callable[[str], bool]) -> None:
        super().__init__(inner)
        self._cache = cache
        self._immutable = immutable

    def get(self, key: str) -> StoredObject:
        if not self._immutable(key):
            return super().get(key)
        try:
            return self._cache.get(key)
        except StoreError:  # not there, or the cache is broken: the inner store knows
            stored = super().get(key)
        self._keep([stored])
        return stored

    def get_many(self, keys: Iterable[str]) -> Sequence[StoredObject | StoreError]:
        asked = list(keys)
        cached = self._cache.get_many([key for key in asked if self._immutable(key)])
        found: dict[str, StoredObject | StoreError] = {one.key: one for one in cached if isinstance(one, StoredObject)}
        missing = [key for key in dict.fromkeys(asked) if key not in found]
        fetched = dict(zip(missing, super().get_many(missing), strict=True))
        self._keep([one for one in fetched.values() if isinstance(one, StoredObject) and self._immutable(one.key)])
        found.update(fetched)
        return [found[key] for key in asked]

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        super().delete(key, if_match=if_match)
        self._forget([key])

    def delete_many(
        self, keys: Iterable[str], *, if_match: Mapping[str, str] | None = None
    ) -> Sequence[StoreError | None]:
        asked = list(keys)
        answers = super().delete_many(asked, if_match=if_match)
        self._forget(asked)
        return answers

    def close(self) -> None:
        self._cache.close()
        super().close()

    def _keep(self, objects: Sequence[StoredObject]) -> None:
        # A cache that cannot be written (disk full, read-only) makes reads slower, never wrong: its errors are dropped.
        self._cache.put_many([Put(one.key, one.data) for one in objects])

    def _forget(self, keys: Sequence[str]) -> None:
        self._cache.delete_many([key for key in keys if self._immutable(key)])
