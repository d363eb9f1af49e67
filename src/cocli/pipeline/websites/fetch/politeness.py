"""When it is a request's turn: at a site one at a time and not faster than agreed, at an address a few, over all some.

A site is a host name, with or without `www.`. The turns of a site are given in the order in which they were asked for.
The same holds for an address, where many sites lie at one. A request takes a place under the ceiling only when it may
really start, so that slow sites do not hold up the others. What other processes of this machine ask counts too, where
the table of paces is one that they share.

The pause between two requests begins when the server has had the first one. That is certain when its answer arrives. A
server that takes long for its answer has had the request long before: what was written to a connection that stands is
there within a quarter of a second, so the pause begins then at the latest. So the server sees the pause that was
agreed, however long a connection took. It is never asked at the very moment when it has answered: a quarter of the
pause is left to it, however long its answer took.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.pipeline.websites.fetch.outcome import Failure
from cocli.pipeline.websites.fetch.pace.table import MOST_COUNTED, Bound, Grant, PaceTable, pace_key
from cocli.pipeline.websites.fetch.pace.visit_clock import waiting_for_others
from cocli.pipeline.websites.fetch.signals import Breakdown

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from cocli.pipeline.websites.fetch.clock import Time

_REMEMBERED = 10_000
_NO_PAUSE = 1e-4
_DELIVERY = 0.25
"""Seconds within which a server has had what was sent to it: half way around the world and back is less."""
_BREATH = 0.25
"""Part of the pause that follows an answer in any case."""
_ADDRESS_SPARE = 1.15
"""The turns of an address are given for when requests begin. One waits for a connection and the next has one, so they
arrive closer together than they were given: with this to spare, the server never counts more than were allowed."""
_SLOW = 5.0
"""Seconds after which a request makes room at its address: a few slow sites must not hold up all that lie there."""


@dataclass(slots=True)
class _Site:
    key: bytes
    turn: asyncio.Semaphore
    pace: asyncio.Lock
    next_at: float = 0.0
    """As far as this process knows."""
    waiting: int = 0


@dataclass(slots=True)
class _Address:
    bound: Bound
    queue: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Whoever has it is the next of this process to be asked for at the address."""
    waiting: int = 0


@dataclass(slots=True)
class RequestTurn:
    """One request's turn. Whoever has it says what came of it."""

    grant: Grant
    sent_at: float | None = None
    """When it was on its way over a connection that stood; None where nobody can tell."""
    answered_at: float | None = None
    reached_nobody: bool = False
    """There was no connection: nobody has to be spared."""
    rest: float = 0.0
    """Seconds that the server asked to be left alone for."""

    def next_at(self, between: float, now: float) -> float:
        """When the site may be asked again. Without an answer it may have had the request at any time until now."""
        answered_at = self.answered_at or now
        had_at = answered_at
        if self.sent_at is not None and self.answered_at is not None:
            had_at = min(answered_at, self.sent_at + _DELIVERY)
        return max(had_at + between, answered_at + _BREATH * between)


class _Turning:
    """A block of every request: as a class it takes half of what a generator takes."""

    __slots__ = ("_address", "_all", "_bound", "_site", "_turn")

    def __init__(self, turns: Politeness, site: _Site, bound: Bound, address: str | None) -> None:
        self._all = turns
        self._site = site
        self._bound = bound
        self._address = address

    async def __aenter__(self) -> RequestTurn:
        self._turn = await self._all.begun(self._site, self._bound, self._address)
        return self._turn

    async def __aexit__(self, *_: object) -> None:
        self._all.ended(self._site, self._turn, self._bound)


class Politeness:
    """The turns of a fetcher."""

    def __init__(
        self,
        time: Time,
        *,
        rate: float,
        per_host: int,
        total: int,
        longest_delay: float,
        per_address: int = 1_000,
        address_rate: float = 1e9,
        longest_rest: float = 10.0,
        table: PaceTable | None = None,
    ) -> None:
        self._time = time
        self._interval = 1.0 / rate
        self._per_host = per_host
        self._per_address = per_address
        self._address_interval = 1.0 / max(address_rate / _ADDRESS_SPARE, rate)
        self._spares_addresses = per_address <= MOST_COUNTED or self._address_interval > _NO_PAUSE
        self._longest_delay = longest_delay
        self._longest_rest = longest_rest
        self._ceiling = asyncio.Semaphore(total)
        self._table = table or PaceTable(clock=time.monotonic)
        self._sites: OrderedDict[str, _Site] = OrderedDict()
        self._addresses: OrderedDict[str, _Address] = OrderedDict()
        self.under_way = 0
        """Requests whose turn it is."""

    def turn(self, host: str, delay: float | None = None, address: str | None = None) -> _Turning:
        """A turn at a host; `delay` are the seconds between two requests that its robots.txt asks for.

        Raises `Breakdown` where the site wants to be left alone for longer than anybody here waits.
        """
        site = self._site(host)
        return _Turning(self, site, Bound(site.key, self._per_host, self._between(delay)), address)

    async def begun(self, site: _Site, bound: Bound, address: str | None) -> RequestTurn:
        """Wait for a turn."""
        site.waiting += 1
        try:
            await site.turn.acquire()
            try:
                async with site.pace:
                    await self._wait_for_site(site)
                    turn = RequestTurn(await self._granted(bound, self._address(address)))
                    site.next_at = turn.grant.at + bound.interval
            except BaseException:  # whoever leaves here lets the next one ask
                site.turn.release()
                raise
        except BaseException:  # and is not waited for
            site.waiting -= 1
            raise
        self.under_way += 1
        return turn

    def ended(self, site: _Site, turn: RequestTurn, bound: Bound) -> None:
        """Give a turn back."""
        self.under_way -= 1
        self._ceiling.release()
        try:
            self._end(site, turn, bound.interval)
        finally:
            site.turn.release()
            site.waiting -= 1

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Under the ceiling alone: for what a browser needs to show a page whose turn it was."""
        async with self._ceiling:
            yield

    def sent(self, turn: RequestTurn) -> None:
        """The request is on its way."""
        turn.sent_at = self._table.clock()

    def answered(self, turn: RequestTurn) -> None:
        """The server has had the request."""
        turn.answered_at = self._table.clock()

    def _between(self, delay: float | None) -> float:
        return max(self._interval, min(delay or 0.0, self._longest_delay))

    def _end(self, site: _Site, turn: RequestTurn, between: float) -> None:
        now = self._table.clock()
        next_at: float | None = None
        if turn.reached_nobody:
            site.next_at = now
        else:
            next_at = site.next_at = max(site.next_at, turn.next_at(between, now))
        self._table.give_back(turn.grant, next_at, turn.rest)

    async def _wait_for_site(self, site: _Site) -> None:
        wait = site.next_at - self._table.clock()
        if wait > 0:
            await self._time.sleep(wait)

    async def _granted(self, site: Bound, address: _Address | None) -> Grant:
        """Everything at once: the site, a place at its address and one under the ceiling."""
        while True:
            answer = await self._asked(site, address)
            if isinstance(answer, Grant):
                return answer
            with waiting_for_others():
                await self._time.sleep(answer)

    async def _asked(self, site: Bound, address: _Address | None) -> Grant | float:
        """The turn, or how long the site is not to be asked: nobody stands in line at its address meanwhile."""
        if address is None:
            return await self._tried(site, None)
        address.waiting += 1
        try:
            await _acquired(address.queue)
            try:
                return await self._tried(site, address.bound)
            finally:
                address.queue.release()
        finally:
            address.waiting -= 1

    async def _tried(self, site: Bound, address: Bound | None) -> Grant | float:
        while True:
            await _acquired(self._ceiling)
            answer = self._table.take(site, address)
            if isinstance(answer, Grant):
                return answer
            self._ceiling.release()
            if answer.by == "rest" and answer.seconds > self._longest_rest:
                raise Breakdown(Failure.RESTS, f"for another {answer.seconds:.0f} s", retry_after=answer.seconds)
            if answer.by in ("site", "rest"):
                return answer.seconds
            with waiting_for_others():
                await self._time.sleep(answer.seconds)

    # --- who is known

    def _site(self, host: str) -> _Site:
        name = site_name(host)
        state = self._sites.get(name)
        if state is None:
            self._forget_some()
            state = _Site(pace_key("site", name), asyncio.Semaphore(self._per_host), asyncio.Lock())
            self._sites[name] = state
        self._sites.move_to_end(name)
        return state

    def _address(self, address: str | None) -> _Address | None:
        if address is None or not self._spares_addresses:
            return None
        state = self._addresses.get(address)
        if state is None:
            self._forget_some()
            bound = Bound(pace_key("address", address), self._per_address, self._address_interval, _SLOW)
            state = self._addresses[address] = _Address(bound)
        return state

    def _forget_some(self) -> None:
        """Sites that nobody waits for, and whose time of rest is over, are as good as unknown ones."""
        if len(self._addresses) >= _REMEMBERED:
            for name in [name for name, state in self._addresses.items() if not state.waiting]:
                del self._addresses[name]
        if len(self._sites) < _REMEMBERED:
            return
        now = self._table.clock()
        for name in [name for name, state in self._sites.items() if not state.waiting and state.next_at <= now]:
            del self._sites[name]


async def _acquired(lock: asyncio.Lock | asyncio.Semaphore) -> None:
    if not lock.locked():
        await lock.acquire()
        return
    with waiting_for_others():
        await lock.acquire()


def site_name(host: str) -> str:
    """What is spared as one: nearly always `www.` and the bare name are one server."""
    return host.removeprefix("www.")
