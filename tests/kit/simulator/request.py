"""One single store operation on its way: what is asked, by whom, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.kit.simulator.observed_store import ObservedStore
    from tests.kit.simulator.process import Process


@dataclass(slots=True, eq=False)
class Request:
    process: Process
    operation: str
    key: str
    data: bytes = b""
    if_absent: bool = False
    if_match: str | None = None
    start_after: str | None = None
    page_size: int = 0
    answer: Any = None
    """The result, or the error that stands in its place."""
    abandoned: bool = False
    """The caller will not hear the store's answer: it got, or will get, another one."""

    @property
    def writes(self) -> bool:
        return self.operation in ("put", "delete")

    @property
    def conditional(self) -> bool:
        return self.if_absent or self.if_match is not None

    @property
    def condition(self) -> str:
        if self.if_absent:
            return " if absent"
        return "" if self.if_match is None else f" if match {self.if_match[:8]}"

    def perform(self, store: ObservedStore) -> Any:
        if self.operation == "get":
            return store.get(self.key)
        if self.operation == "put":
            return store.put(self.key, self.data, if_absent=self.if_absent, if_match=self.if_match)
        if self.operation == "head":
            return store.head(self.key)
        if self.operation == "delete":
            store.delete(self.key, if_match=self.if_match)
            return None
        return list(islice(store.list(self.key, start_after=self.start_after), self.page_size))
