"""The threads in which calls are worked on, and how many calls may wait for one.

Accounts take turns: the calls of one wait behind each other, never in front of somebody else's, and it never has all
threads. So what one account asks for, and how long it takes, costs another the time of one call at most.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, OrderedDict, deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from cocli.service.request_places import RequestPlaces

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

T = TypeVar("T")

THREADS = 16
OF_ACCOUNT = THREADS // 2
"""Threads that one account may have at a time."""
AT_ONCE = 256
"""Calls that are worked on or wait for a thread; more are refused at once, to be tried again."""
SHARE = 0.25
"""Of these, for one account."""


class _Call(NamedTuple):
    work: Callable[[], Any]
    future: Future[Any]


class CallThreads:
    """Leaving the block waits for what is under way."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="calls")
        self.places = RequestPlaces(AT_ONCE, share=SHARE)
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[_Call]] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._threads.shutdown()

    async def call(self, account: str, work: Callable[[], T]) -> T:
        """What the work gives. Its place is free when the work has ended, also where the caller has left before."""
        self.places.take(account)
        future: Future[T] = Future()
        future.add_done_callback(lambda _: self.places.leave(account))
        with self._lock:
            self._waiting.setdefault(account, deque()).append(_Call(work, future))
        self._start()
        return await asyncio.wrap_future(future)

    def _start(self) -> None:
        """Give threads to those whose turn it is."""
        while True:
            with self._lock:
                account = self._next()
                if account is None:
                    return
                call = self._waiting[account].popleft()
                if self._waiting[account]:
                    self._waiting.move_to_end(account)
                else:
                    del self._waiting[account]
                self._running[account] += 1
            if not call.future.set_running_or_notify_cancel():
                self._ended(account)
                continue
            self._threads.submit(self._run, account, call)

    def _next(self) -> str | None:
        if self._running.total() >= THREADS:
            return None
        return next((account for account in self._waiting if self._running[account] < OF_ACCOUNT), None)

    def _run(self, account: str, call: _Call) -> None:
        try:
            answer = call.work()
        except BaseException as error:  # noqa: BLE001  it is raised where the call is awaited
            self._ended(account)
            call.future.set_exception(error)
        else:
            self._ended(account)
            call.future.set_result(answer)
        self._start()

    def _ended(self, account: str) -> None:
        with self._lock:
            self._running[account] -= 1
            if not self._running[account]:
                del self._running[account]
