"""Room for the bodies of pages: how many bytes the visits of a process hold at a time, however many visits there are.

A visit holds its pages until everything about its site is written. Before it begins, and before each page, it asks for
room. The one that began first always has some: so something always goes on, and gives its room back in the end.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from cocli.pipeline.websites.fetch.outcome import Fetched, Validators
    from cocli.pipeline.websites.site.shelf import Kept, Shelf

ROOM = 192 << 20
_TYPICAL = 64 << 10
"""What a page is taken to need before any was read."""
_LEARNING = 0.05


class BodyRoom:
    """For one event loop."""

    def __init__(self, limit: int = ROOM) -> None:
        self._limit = limit
        self._visits: dict[int, VisitRoom] = {}
        """In the order in which they began."""
        self._freed = asyncio.Event()
        self._typical = float(_TYPICAL)
        self.held = 0
        self.most = 0
        """The most that was ever held."""

    @asynccontextmanager
    async def visit(self) -> AsyncIterator[VisitRoom]:
        """The room of one visit; it begins once there is some."""
        room = VisitRoom(self)
        while self._visits and self.held + self._typical > self._limit:
            await self._wait()
        self._visits[id(room)] = room
        try:
            yield room
        finally:
            del self._visits[id(room)]
            self.change(-room.held)
            self._freed.set()  # even if it held nothing: somebody else is the first now

    async def room_for_page(self, room: VisitRoom) -> int:
        """Wait until a visit may ask for another page; how many bytes are set aside for it."""
        while self.held + self._typical > self._limit and next(iter(self._visits.values())) is not room:
            await self._wait()
        return int(self._typical)

    def learn(self, size: int) -> None:
        self._typical += _LEARNING * (size - self._typical)

    def change(self, size: int) -> None:
        self.held += size
        self.most = max(self.most, self.held)
        if size < 0:
            self._freed.set()

    async def _wait(self) -> None:
        self._freed.clear()
        await self._freed.wait()


class VisitRoom:
    """What one visit holds."""

    def __init__(self, room: BodyRoom) -> None:
        self._room = room
        self._expected = 0
        self.held = 0
        self._waited = 0.0

    def clock(self) -> float:
        """Seconds of this visit: while it waits for room, its time does not run out."""
        return time.monotonic() - self._waited

    async def expect(self) -> None:
        """Another page is about to be asked for."""
        began = time.monotonic()
        self._hold(-self._expected)
        self._expected = 0
        expected = await self._room.room_for_page(self)
        self._expected = expected
        self._hold(expected)
        self._waited += time.monotonic() - began

    def got(self, size: int) -> None:
        """It came, and is so long."""
        self._room.learn(size)
        self._hold(size - self._expected)
        self._expected = 0

    def _hold(self, size: int) -> None:
        self.held += size
        if size:
            self._room.change(size)


class RoomyShelf:
    """Fits `site.shelf.Shelf`: another shelf, with the pages of one visit counted."""

    def __init__(self, shelf: Shelf, room: VisitRoom) -> None:
        self._shelf = shelf
        self._room = room

    async def validators(self, url: str) -> Validators | None:
        await self._room.expect()
        return await self._shelf.validators(url)

    def digest_of(self, page: Fetched, country: str | None) -> str:
        return self._shelf.digest_of(page, country)

    async def keep(self, page: Fetched, country: str | None) -> Kept:
        self._room.got(len(page.body))
        return await self._shelf.keep(page, country)

    async def again(self, url: str) -> Kept | None:
        kept = await self._shelf.again(url)
        if kept is not None:
            self._room.got(sum(blob.size for blob in kept.document.blobs.values()))
        return kept
