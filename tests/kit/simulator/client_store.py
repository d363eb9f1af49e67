"""The store as one client sees it: every operation travels, and other clients act in the meantime.

The requests of a bulk operation travel side by side: they arrive in any order, each with a fate of its own, and a
crash on the way leaves any subset of them done. A listing comes in pages, each true at the moment it is made.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from cocli.errors import CocliError
from tests.kit.simulator.request import Request

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from cocli.errors import StoreError
    from cocli.store.base import ObjectInfo, Put, StoredObject
    from tests.kit.simulator.network import Network
    from tests.kit.simulator.process import Process


class ClientStore:
    def __init__(self, process: Process, network: Network) -> None:
        self._process = process
        self._network = network

    @property
    def address(self) -> str:
        return "memory://"

    def get(self, key: str) -> StoredObject:
        return self._ask(Request(self._process, "get", key))  # type: ignore[no-any-return]

    def head(self, key: str) -> ObjectInfo:
        return self._ask(Request(self._process, "head", key))  # type: ignore[no-any-return]

    def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
        return self._ask(Request(self._process, "put", key, data, if_absent, if_match))  # type: ignore[no-any-return]

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        self._ask(Request(self._process, "delete", key, if_match=if_match))

    def list(self, prefix: str = "", *, start_after: str | None = None) -> Iterator[ObjectInfo]:
        size = self._network.page_size()
        while True:
            page = self._ask(Request(self._process, "list", prefix, start_after=start_after, page_size=size))
            yield from page
            if len(page) < size:
                return
            start_after = page[-1].key

    def get_many(self, keys: Iterable[str]) -> Sequence[StoredObject | StoreError]:
        return self._ask_all([Request(self._process, "get", key) for key in keys])

    def put_many(self, puts: Iterable[Put]) -> Sequence[str | StoreError]:
        return self._ask_all(
            [Request(self._process, "put", put.key, put.data, put.if_absent, put.if_match) for put in puts]
        )

    def delete_many(
        self,
        keys: Iterable[str],
        *,
        if_match: Mapping[str, str] | None = None,
        durable: bool = True,
    ) -> Sequence[StoreError | None]:
        etags = if_match or {}
        return self._ask_all([Request(self._process, "delete", key, if_match=etags.get(key)) for key in keys])

    def now(self) -> datetime:
        self._process.current()
        return self._network.store_time() + timedelta(seconds=self._process.store_clock_error)

    def close(self) -> None:
        """Nothing is held open."""

    def _ask(self, request: Request) -> Any:
        self._network.send(self._process.current(), (request,))
        if isinstance(request.answer, CocliError):
            raise request.answer
        return request.answer

    def _ask_all(self, requests: Sequence[Request]) -> Sequence[Any]:
        if requests:
            self._network.send(self._process.current(), requests)
        return [request.answer for request in requests]
