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
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

from cocli.service.documents.saving.save_writers import THREADS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from cocli.service.documents.saving.save_group import SaveAnswer, SaveCall
    from cocli.service.request_places import RequestPlaces

GROUP = 64
"""Saves of a group."""
OF_ACCOUNT = 16
"""Of these, for one account: more would cost hardly less for each, and others would wait longer."""
BESIDE_OTHERS = 4
"""Saves of one account that are being written at a time as long as others save as well: whoever sends one at a time
waits for no large group, and for none of its own."""
_BESIDE_SECONDS = 1.0
"""After its latest save, for which an account is one of those others."""
_GROUP_BYTES = 4 * 1024 * 1024
_GROUPS = 2
"""At a time, of an account that is alone: while one waits for the disk, the other is made ready."""
_COMPANY_SECONDS = 0.002
_BUSY_SECONDS = 0.005
"""While another group is being written: its end would have to be waited for anyway."""


class GroupWriter(Protocol):
    def write(self, calls: Sequence[SaveCall], company: int) -> asyncio.Future[list[SaveAnswer]]: ...

    async def close(self) -> None: ...


class _Waiting(NamedTuple):
    call: SaveCall
    answer: asyncio.Future[bytes]


class SaveQueue:
    """Used within one event loop. Leaving the block waits for what is being written."""

    def __init__(self, writer: GroupWriter, places: RequestPlaces) -> None:
        self._writer = writer
        self._places = places
        self._waiting: OrderedDict[str, deque[_Waiting]] = OrderedDict()
        self._count = 0
        self._under_way: set[asyncio.Future[list[SaveAnswer]]] = set()
        self._open = 0
        self._company = 1
        self._writing: Counter[str] = Counter()
        self._seen: dict[str, float] = {}
        self._looked_at = 0.0
        self._gathering: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._under_way:
            await asyncio.wait(self._under_way)
        await self._writer.close()

    async def save(self, call: SaveCall) -> bytes:
        """The receipt, once object and row are on the disk. Who leaves before does not stop it."""
        account = call.account
        self._places.take(account)
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[bytes] = loop.create_future()
        self._seen[account] = loop.time()
        self._waiting.setdefault(account, deque()).append(_Waiting(call, answer))
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
        if self._is_beside_others():
            self._start_those_in_turn()
        elif len(self._under_way) >= _GROUPS:
            return
        elif self._count >= min(OF_ACCOUNT, -(-self._company // _GROUPS)) or self._is_nobody_missing():
            self._start()
        elif self._gathering is None:
            seconds = _BUSY_SECONDS if self._under_way else _COMPANY_SECONDS
            self._gathering = asyncio.get_running_loop().call_later(seconds, self._start)

    def _is_nobody_missing(self) -> bool:
        """Whether all who save at the moment wait here, or are being written: nobody else can come."""
        return self._count + self._writing.total() >= self._company

    def _is_beside_others(self) -> bool:
        """Whether several accounts save."""
        now = asyncio.get_running_loop().time()
        if len(self._seen) > 1 and now > self._looked_at + _BESIDE_SECONDS:
            self._looked_at = now
            self._seen = {account: at for account, at in self._seen.items() if at > now - _BESIDE_SECONDS}
        return len(self._seen) > 1

    def _start(self) -> None:
        if self._gathering is not None:
            self._gathering.cancel()
            self._gathering = None
        if self._is_beside_others():
            self._start_those_in_turn()
        elif self._count and len(self._under_way) < _GROUPS:
            self._begin(self._group(dict.fromkeys(self._waiting, OF_ACCOUNT)))
            # Those who no longer come are waited for some times more.
            self._company = max(self._open, self._company - 1)

    def _start_those_in_turn(self) -> None:
        """Of several accounts each has so many saves under way at most, and waits for no other. One that has more than
        that waits until its group is written: many small groups would cost everybody more."""
        in_turn = [
            account
            for account, waiting in self._waiting.items()
            if not self._writing[account] or self._writing[account] + len(waiting) <= BESIDE_OTHERS
        ]
        if in_turn and len(self._under_way) < THREADS:
            self._begin(self._group(dict.fromkeys(in_turn, BESIDE_OTHERS)))
            self._company = max(self._open, self._company - 1)

    def _begin(self, group: list[_Waiting]) -> None:
        self._count -= len(group)
        self._writing.update(waiting.call.account for waiting in group)
        try:
            writing = self._writer.write([waiting.call for waiting in group], self._company)
        except Exception as error:  # noqa: BLE001  whatever it is, the callers are told: nobody else has their saves
            writing = asyncio.get_running_loop().create_future()
            writing.set_exception(error)
        self._under_way.add(writing)
        writing.add_done_callback(partial(self._written, group))

    def _group(self, shares: dict[str, int]) -> list[_Waiting]:
        """One of each account in turn, until the group is full or every account has its share."""
        group: list[_Waiting] = []
        size = 0
        while shares:
            for account in list(shares):
                if len(group) >= GROUP or size >= _GROUP_BYTES:
                    return group
                waiting = self._waiting[account].popleft()
                group.append(waiting)
                size += len(waiting.call.data)
                shares[account] -= 1
                if self._waiting[account]:
                    self._waiting.move_to_end(account)
                else:
                    del self._waiting[account]
                if not shares[account] or account not in self._waiting:
                    del shares[account]
        return group

    def _written(self, group: Sequence[_Waiting], done: asyncio.Future[list[SaveAnswer]]) -> None:
        self._under_way.discard(done)
        self._writing -= Counter(waiting.call.account for waiting in group)
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
