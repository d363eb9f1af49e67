"""The threads in which gRPC calls are worked on, and how many calls may wait for one."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from cocli.service.request_places import RequestPlaces

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from types import TracebackType

T = TypeVar("T")

THREADS = 16
AT_ONCE = 80
"""Calls that are worked on or wait for a thread; more are refused at once, to be tried again."""
STREAMS = 8
"""Each has a thread of its own for as long as it lasts, beside those of the calls."""
_KEPT = 16
"""Messages of a stream that nobody has taken yet. Each says all that the one before said, so the oldest may go."""


class CallThreads:
    """Leaving the block waits for what is under way."""

    def __init__(self) -> None:
        self._calls = ThreadPoolExecutor(THREADS, thread_name_prefix="grpc")
        self._streams = ThreadPoolExecutor(STREAMS, thread_name_prefix="grpc-stream")
        self._places = RequestPlaces(AT_ONCE)
        self._stream_places = RequestPlaces(STREAMS)
        self._ending = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._calls.shutdown()
        self._streams.shutdown()

    def end_streams(self) -> None:
        """What would go on for hours is told to come to an end."""
        self._ending.set()

    async def call(self, account: str, work: Callable[[], T]) -> T:
        """What the work gives. Its place is free when the work has ended, also where the caller has left before."""
        return await asyncio.wrap_future(_submitted(self._calls, self._places, account, work))

    async def stream(
        self, account: str, messages_until: Callable[[Callable[[], bool]], Iterator[T]]
    ) -> AsyncIterator[T]:
        """The messages, as they come. A caller who takes none holds up nobody, and one who leaves ends the work."""
        waiting: _Waiting[T] = _Waiting()
        left = threading.Event()

        def pump() -> None:
            try:
                for message in messages_until(lambda: left.is_set() or self._ending.is_set()):
                    waiting.put(message)
            finally:
                waiting.end()

        work = _submitted(self._streams, self._stream_places, account, pump)
        try:
            while (message := await waiting.next()) is not None:
                yield message
            await asyncio.wrap_future(work)  # raises what the work raised
        finally:
            left.set()


def _submitted(pool: ThreadPoolExecutor, places: RequestPlaces, account: str, work: Callable[[], T]) -> Future[T]:
    places.take(account)
    try:
        future = pool.submit(work)
    except BaseException:  # whatever ends it, the place is free again
        places.leave(account)
        raise
    future.add_done_callback(lambda _: places.leave(account))
    return future


class _Waiting(Generic[T]):
    """Messages on their way from a thread to the event loop. Made in the loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._messages: asyncio.Queue[T | None] = asyncio.Queue()

    def put(self, message: T | None) -> None:
        with suppress(RuntimeError):  # the loop has ended with the service: nobody waits for it
            self._loop.call_soon_threadsafe(self._put, message)

    def end(self) -> None:
        self.put(None)

    async def next(self) -> T | None:
        return await self._messages.get()

    def _put(self, message: T | None) -> None:
        if self._messages.qsize() >= _KEPT:
            self._messages.get_nowait()
        self._messages.put_nowait(message)
