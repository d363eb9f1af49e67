"""What one process sees of the bucket: the store's protocol, with the requests and the patience of `cocli.store.s3`.

As there: a conditional write that was refused is followed by a look at what is there, bulk operations are 64 at a
time, a bulk deletion is one request, and a 503 is tried again five times, each after twice the wait. Then it is
`Unavailable`. As nothing is lost on the way here, a refusal is always somebody else's doing.
"""

from __future__ import annotations

import builtins
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from benchmarks.scale_model.bucket import PAGE, SlowDown
from cocli.errors import AlreadyExists, Conflict, StoreError, Unavailable
from cocli.retries import Backoff
from cocli.store.base import ObjectInfo, Put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from random import Random

    from benchmarks.scale_model.bucket import Bucket
    from benchmarks.scale_model.world import World
    from cocli.store.base import StoredObject

T = TypeVar("T")

SIDE_BY_SIDE = 64
TRIES = 6
BACKOFF = Backoff(first=0.1 * 1.5)
_DELETE_BATCH = 1000


class BucketStore:
    """Fits `cocli.store.base.Store`."""

    def __init__(self, world: World, bucket: Bucket, random: Random) -> None:
        self._world = world
        self._bucket = bucket
        self._random = random

    @property
    def address(self) -> str:
        return "s3://modelled"

    def get(self, key: str) -> StoredObject:
        return _result(self.get_many([key])[0])

    def head(self, key: str) -> ObjectInfo:
        stored = self.get(key)
        return ObjectInfo(key, len(stored.data), stored.modified, stored.etag)

    def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
        return _result(self.put_many([Put(key, data, if_absent, if_match)])[0])

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        _result(self._ask([partial(self._bucket.delete, key, if_match)], self._bucket.latency.delete)[0])

    def list(self, prefix: str = "", *, start_after: str | None = None) -> Iterator[ObjectInfo]:
        while True:
            page = _result(self._ask([partial(self._bucket.page, prefix, start_after)], self._bucket.latency.list)[0])
            yield from page
            if len(page) < PAGE:
                return
            start_after = page[-1].key

    def get_many(self, keys: Iterable[str]) -> Sequence[StoredObject | StoreError]:
        return self._ask([partial(self._bucket.get, key) for key in keys], self._bucket.latency.get)

    def put_many(self, puts: Iterable[Put]) -> Sequence[str | StoreError]:
        asked = list(puts)
        answers = self._ask([partial(self._bucket.put, put) for put in asked], self._bucket.latency.put)
        lost = [
            put.key for put, answer in zip(asked, answers, strict=True) if isinstance(answer, (AlreadyExists, Conflict))
        ]
        if lost:
            self.get_many(lost)  # was it us after all? The answer is known here, what it costs is not
        return answers

    def delete_many(
        self,
        keys: Iterable[str],
        *,
        if_match: Mapping[str, str] | None = None,
        durable: bool = True,  # noqa: ARG002 - the bucket loses nothing
    ) -> Sequence[StoreError | None]:
        every, etags = list(keys), if_match or {}
        single = [key for key in every if key in etags]
        alone = self._ask(
            [partial(self._bucket.delete, key, etags[key]) for key in single], self._bucket.latency.delete
        )
        answers: dict[str, StoreError | None] = dict(zip(single, alone, strict=True))
        bulk = [key for key in every if key not in etags]
        for start in range(0, len(bulk), _DELETE_BATCH):
            batch = bulk[start : start + _DELETE_BATCH]
            (answer,) = self._ask([partial(self._bucket.delete_bulk, batch)], self._bucket.latency.delete)
            answers |= dict.fromkeys(batch, answer)
        return [answers[key] for key in every]

    def now(self) -> datetime:
        return self._world.time()

    def close(self) -> None:
        """Nothing is held open."""

    def _ask(self, requests: Sequence[Callable[[], T]], seconds: float) -> Sequence[T | StoreError]:
        """What came of each. Those of one wave are under way together; what gets a 503 goes on alone."""
        answers: builtins.list[T | StoreError] = []
        for first in range(0, len(requests), SIDE_BY_SIDE):
            answers += self._wave(requests[first : first + SIDE_BY_SIDE], seconds)
        return answers

    def _wave(self, requests: Sequence[Callable[[], T]], seconds: float) -> Sequence[T | StoreError]:
        answers: dict[int, T | StoreError] = {}
        waiting = dict(enumerate(requests))
        for failures in range(TRIES):
            if failures:
                self._world.sleep(BACKOFF.seconds(failures, self._random))
            self._world.sleep(seconds * self._random.uniform(0.5, 1.5))
            for number, request in list(waiting.items()):
                try:
                    answers[number] = request()
                except SlowDown:
                    continue
                except StoreError as error:
                    answers[number] = error
                del waiting[number]
            if not waiting:
                break
        self._bucket.counts["gave_up"] += len(waiting)
        for number in waiting:
            answers[number] = Unavailable(address=self.address, reason="503: Slow Down")
        return [answers[number] for number in range(len(requests))]


def _result(answer: T | StoreError) -> T:
    if isinstance(answer, StoreError):
        raise answer
    return answer
