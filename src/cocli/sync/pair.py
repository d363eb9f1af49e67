"""The two that are brought together, and what a run needs beside them. Built once, handed to everything."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from cocli.index.cache import MemoryCache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cocli.index.cache import Cache
    from cocli.keys.paths import IndexRef
    from cocli.store.base import Store
    from cocli.sync.folder import Side
    from cocli.sync.state import SyncState

Item = TypeVar("Item")
Result = TypeVar("Result")


class Direction(StrEnum):
    PUSH = "push"
    PULL = "pull"
    BOTH = "both"

    @property
    def up(self) -> bool:
        return self is not Direction.PULL

    @property
    def down(self) -> bool:
        return self is not Direction.PUSH


def one_by_one(action: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    return [action(item) for item in items]


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _no_cache(_address: str, _ref: IndexRef) -> Cache:
    return MemoryCache()


def _nonce() -> str:
    return secrets.token_hex(8)


@dataclass(slots=True)
class SyncPair:
    """A folder and a bucket. `side_by_side` runs requests that have no bulk form: threads, or one after the other."""

    folder: Side
    bucket: Store
    state: SyncState
    host: str
    """Stands in the names of conflict copies."""
    side_by_side: Callable[[Callable[[Any], Any], Iterable[Any]], list[Any]] = one_by_one
    cache: Callable[[str, IndexRef], Cache] = _no_cache
    """Where shards that are read for a merge are kept: by the address of their store."""
    now: Callable[[], datetime] = _utc_now
    sleep: Callable[[float], None] = time.sleep
    monotonic: Callable[[], float] = time.monotonic
    nonce: Callable[[], str] = field(default=_nonce)
