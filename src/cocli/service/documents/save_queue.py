"""Saves that arrive while others are being written become one group: one transaction, and one look at the disk.

A group is whatever waits when a thread is free, in turns by account, so that the many saves of one account do not keep
another's single one out of the next group. Where the group before was large, the next waits for as many, two
milliseconds at most: they are those that were just answered, and come back. The event loop hands over and is handed
back a whole group: no save costs a change of threads of its own.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Self

from cocli.errors import CocliError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from cocli.documents.receipt import Receipt
    from cocli.documents.repository import DocumentRepository
    from cocli.documents.save_order import SaveOrder
    from cocli.service.request_places import RequestPlaces

GROUP = 64
"""Saves of a group."""
_GROUP_BYTES = 4 * 1024 * 1024
_GROUPS = 2
"""At a time: while one waits for the disk, the other is made ready."""
_COMPANY_SECONDS = 0.002


class _Waiting(NamedTuple):
    order: SaveOrder
    size: int
    answer: asyncio.Future[Receipt]


class SaveQueue:
    """Used within one event loop. Leaving the block waits for what is being written."""

    def __init__(self, repository: DocumentRepository, places: RequestPlaces) -> None:
        self._repository = repository
        self._places = places
        self._threads = ThreadPoolExecutor(_GROUPS, thread_name_prefix="saves")
        self._waiting: OrderedDict[str, deque[_Waiting]] = OrderedDict()
        self._count = 0
        self._groups = 0
        self._expected = 1
        self._gathering: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._threads.shutdown()

    async def save(self, order: SaveOrder, size: int) -> Receipt:
        """The receipt, once object and row are on the disk. Who leaves before does not stop it."""
        account = order.document.account
        self._places.take(account)
        answer: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(account, deque()).append(_Waiting(order, size, answer))
        self._count += 1
        self._gather()
        try:
            return await answer
        finally:
            self._places.leave(account)

    def _gather(self) -> None:
        """Begin a group if there is company enough, or else in a moment."""
        if not self._count or self._groups >= _GROUPS:
            return
        if self._count >= self._expected:
            self._start()
        elif self._gathering is None:
            self._gathering = asyncio.get_running_loop().call_later(_COMPANY_SECONDS, self._start)

    def _start(self) -> None:
        if self._gathering is not None:
            self._gathering.cancel()
            self._gathering = None
        if not self._count or self._groups >= _GROUPS:
            return
        self._groups += 1
        group = self._group()
        self._count -= len(group)
        self._expected = len(group)
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._threads, self._write, [waiting.order for waiting in group])
        work.add_done_callback(partial(self._written, group))

    def _group(self) -> list[_Waiting]:
        """One of each account in turn, until the group is full."""
        group: list[_Waiting] = []
        size = 0
        while self._waiting and len(group) < GROUP and size < _GROUP_BYTES:
            account = next(iter(self._waiting))
            waiting = self._waiting[account].popleft()
            if self._waiting[account]:
                self._waiting.move_to_end(account)
            else:
                del self._waiting[account]
            group.append(waiting)
            size += waiting.size
        return group

    def _write(self, orders: Sequence[SaveOrder]) -> list[Receipt | CocliError]:
        try:
            return self._repository.carry_out(orders)
        except CocliError as error:
            if len(orders) == 1 or error.retryable:
                return [error] * len(orders)
        # Whose mistake it was shows when each is done alone. Doing it again does no harm: it is done once.
        answers: list[Receipt | CocliError] = []
        for order in orders:
            try:
                answers += self._repository.carry_out([order])
            except CocliError as error:
                answers.append(error)
        return answers

    def _written(self, group: Sequence[_Waiting], done: asyncio.Future[list[Receipt | CocliError]]) -> None:
        self._groups -= 1
        failed = done.exception()
        answers = [failed] * len(group) if failed is not None else done.result()
        for waiting, answer in zip(group, answers, strict=True):
            if waiting.answer.done():
                continue  # the caller has left
            if isinstance(answer, BaseException):
                waiting.answer.set_exception(answer)
            else:
                waiting.answer.set_result(answer)
        self._gather()
