"""Saves that arrive while others are being written become one group: one transaction, and one look at the disk.

A group is whatever waits when a thread is free, in turns by account and with so many of each at most: the many saves
of one account neither keep another's single one out of the next group, nor make it wait for a large one. An account of
which nothing is being written need not wait for the groups of others at all. Where many save at a time, a group waits
for its share of them, some milliseconds at most: they are those that were just answered, and come back. The event loop
hands over and is handed back a whole group: no save costs a change of threads of its own.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
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
OF_ACCOUNT = 16
"""Of these, for one account: more would cost hardly less for each, and others would wait longer."""
BESIDE_OTHERS = 4
"""Of these, for one account, as long as others save as well: whoever sends one at a time waits for no large group."""
_BESIDE_SECONDS = 1.0
"""After its latest save, for which an account is one of those others."""
_GROUP_BYTES = 4 * 1024 * 1024
_GROUPS = 2
"""At a time: while one waits for the disk, the other is made ready."""
_THREADS = 4
"""More than that: an account of which nothing is being written need not wait until others' groups are written."""
_COMPANY_SECONDS = 0.002
_BUSY_SECONDS = 0.005
"""While another group is being written: its end would have to be waited for anyway."""


class _Waiting(NamedTuple):
    order: SaveOrder
    size: int
    answer: asyncio.Future[Receipt]


class SaveQueue:
    """Used within one event loop. Leaving the block waits for what is being written."""

    def __init__(self, repository: DocumentRepository, places: RequestPlaces) -> None:
        self._repository = repository
        self._places = places
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="saves")
        self._waiting: OrderedDict[str, deque[_Waiting]] = OrderedDict()
        self._count = 0
        self._groups = 0
        self._open = 0
        self._company = 1
        self._writing: Counter[str] = Counter()
        self._seen: dict[str, float] = {}
        self._looked_at = 0.0
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
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Receipt] = loop.create_future()
        self._seen[account] = loop.time()
        self._waiting.setdefault(account, deque()).append(_Waiting(order, size, answer))
        self._count += 1
        self._open += 1
        self._company = max(self._company, self._open)
        self._gather()
        try:
            return await answer
        finally:
            self._open -= 1
            self._places.leave(account)

    def _gather(self) -> None:
        """Begin a group if there is company enough, or else in a moment."""
        if not self._count:
            return
        if self._groups >= _GROUPS:
            self._start_guests()
        elif self._count >= self._enough():
            self._start()
        elif self._gathering is None:
            seconds = _BUSY_SECONDS if self._groups else _COMPANY_SECONDS
            self._gathering = asyncio.get_running_loop().call_later(seconds, self._start)

    def _enough(self) -> int:
        """Saves that a group need not wait any longer with: its share of those who save at the moment."""
        return min(self._share(), -(-self._company // _GROUPS))

    def _share(self) -> int:
        """Saves of one account that may be in a group."""
        now = asyncio.get_running_loop().time()
        if len(self._seen) > 1 and now > self._looked_at + _BESIDE_SECONDS:
            self._looked_at = now
            self._seen = {account: at for account, at in self._seen.items() if at > now - _BESIDE_SECONDS}
        return OF_ACCOUNT if len(self._seen) <= 1 else BESIDE_OTHERS

    def _start(self) -> None:
        if self._gathering is not None:
            self._gathering.cancel()
            self._gathering = None
        if not self._count or self._groups >= _GROUPS:
            return
        self._begin(self._group(list(self._waiting)))
        self._company = max(self._open, self._company - 1)  # those who no longer come are waited for some times more

    def _start_guests(self) -> None:
        """Where all groups are others', those begin one who are part of none."""
        if self._groups < _THREADS:
            guests = [account for account in self._waiting if not self._writing[account]]
            if guests:
                self._begin(self._group(guests))

    def _begin(self, group: list[_Waiting]) -> None:
        self._groups += 1
        self._count -= len(group)
        self._writing.update(waiting.order.document.account for waiting in group)
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._threads, self._write, [waiting.order for waiting in group])
        work.add_done_callback(partial(self._written, group))

    def _group(self, accounts: Sequence[str]) -> list[_Waiting]:
        """One of each account in turn, until the group is full or every account has its share."""
        group: list[_Waiting] = []
        size, share = 0, self._share()
        for _ in range(share):
            for account in accounts:
                if account not in self._waiting:
                    continue
                if len(group) >= GROUP or size >= _GROUP_BYTES:
                    return group
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
        self._writing -= Counter(waiting.order.document.account for waiting in group)
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
