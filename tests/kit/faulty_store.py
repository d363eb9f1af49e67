"""A store that fails on purpose: errors, delays, lost answers and crashes, at the moments that a plan chooses.

The plan is asked before every single operation, so that a test can place a fault between any two of them; bulk
operations are taken apart into single ones for the same reason.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from cocli.errors import Unavailable
from cocli.store.bulk import answer, delete_one, put_one
from cocli.store.wrapper import WrappedStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from cocli.errors import StoreError
    from cocli.store.base import ObjectInfo, Put, Store, StoredObject

Result = TypeVar("Result")


class Crashed(BaseException):
    """The process ends here. Not an `Exception`: code under test that catches everything must not survive it."""


class FaultKind(StrEnum):
    ERROR = "error"
    """`Unavailable`, and nothing was done."""
    LOST_ANSWER = "lost_answer"
    """It was done, but `Unavailable` is all that the caller hears."""
    CRASH_BEFORE = "crash_before"
    CRASH_AFTER = "crash_after"
    DELAY = "delay"


@dataclass(frozen=True, slots=True)
class Fault:
    kind: FaultKind
    seconds: float = 0.0


class Operation(NamedTuple):
    """What is about to be done: the n-th operation on this store."""

    number: int
    name: str
    key: str


class FaultyStore(WrappedStore):
    def __init__(
        self,
        inner: Store,
        plan: Callable[[Operation], Fault | None],
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(inner)
        self._plan = plan
        self._sleep = sleep
        self._operations = 0

    def get(self, key: str) -> StoredObject:
        return self._do("get", key, lambda: self.inner.get(key))

    def head(self, key: str) -> ObjectInfo:
        return self._do("head", key, lambda: self.inner.head(key))

    def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
        return self._do("put", key, lambda: self.inner.put(key, data, if_absent=if_absent, if_match=if_match))

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        self._do("delete", key, lambda: self.inner.delete(key, if_match=if_match))

    def list(self, prefix: str = "", *, start_after: str | None = None) -> Iterator[ObjectInfo]:
        return self._do("list", prefix, lambda: iter(list(self.inner.list(prefix, start_after=start_after))))

    def get_many(self, keys: Iterable[str]) -> Sequence[StoredObject | StoreError]:
        return [answer(self.get, key) for key in keys]

    def put_many(self, puts: Iterable[Put]) -> Sequence[str | StoreError]:
        return [answer(partial(put_one, self), put) for put in puts]

    def delete_many(
        self,
        keys: Iterable[str],
        *,
        if_match: Mapping[str, str] | None = None,
        durable: bool = True,
    ) -> Sequence[StoreError | None]:
        return [answer(partial(delete_one, self, if_match or {}), key) for key in keys]

    def _do(self, name: str, key: str, action: Callable[[], Result]) -> Result:
        self._operations += 1
        fault = self._plan(Operation(self._operations, name, key))
        kind = fault.kind if fault else None
        if fault and kind is FaultKind.DELAY:
            self._sleep(fault.seconds)
        if kind is FaultKind.CRASH_BEFORE:
            raise Crashed(f"before {name} {key}")
        if kind is FaultKind.ERROR:
            raise Unavailable(address=self.address, reason="injected error", key=key)
        result = action()
        if kind is FaultKind.CRASH_AFTER:
            raise Crashed(f"after {name} {key}")
        if kind is FaultKind.LOST_ANSWER:
            raise Unavailable(address=self.address, reason="injected: the answer was lost", key=key)
        return result
