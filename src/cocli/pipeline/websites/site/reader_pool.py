"""A few processes that read pages, so that no page can hold up an event loop, a lease or the health of a service.

A page that takes more processor time, time or memory than it may costs its process, which is replaced; the page is kept
and noted as too costly, and the site goes on.

Nobody waits for a slow page. There are places for quick pages and places for slow ones. A page that is large goes to a
slow place at once, and leaves the processes of the quick places alone. A page that turns out to be slow moves to a slow
place, and another process reads on in the quick one, beginning with those that stood behind it; a process more than
needed is kept ready for that, because starting one takes longer than most pages do. Once a page has taken half a second
of processor time, its process gets a lower priority. There is no way back from that, so it reads large pages from then
on.

Written here because the pools of the standard library, and those built on them, share one pipe: killing one of their
processes can hurt the others. Here each has a pipe of its own.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from contextvars import Context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from cocli import logs
from cocli.documents.reading.limits import TOO_COSTLY, TRIES, OverrunError, ReaderKilledError, ReadingLimits
from cocli.errors import PageReaderLost
from cocli.pipeline.websites.fetch.pace.visit_clock import spend_on_visit, waiting_for_others
from cocli.pipeline.websites.site.look import look_at, unread
from cocli.pipeline.websites.site.page_reader import AskedPage, BrokenReaderError, PageReader

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any, Self

    from cocli.pipeline.websites.site.look import LookRequest, PageLook

_LOG = logs.get_logger(__name__)
_WARM_UP = "cocli.pipeline.websites.site.look:warm_up"
_MOST_PROCESSES = 2
_READY_AFTER = 100
"""Pages until a process is kept ready: who reads a few sites does not pay for it."""
_LOOKS_AT_SLEEPERS = 30
"""At a page whose process takes no processor time, until those behind it need not wait for it either."""
_HANDED_OVER = 8
"""Pages that a process has at a time: it goes on while the event loop has something else to do."""


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    processes: int = 1
    limits: ReadingLimits = field(default_factory=ReadingLimits)
    slow_seconds: float = 0.1
    """A page that takes longer makes room for others. An ordinary one takes some hundredths on a laptop."""
    large: int = 256 * 1024
    """Bytes of a page that is taken for a slow one before it is read."""
    slow_pages: int = 2
    """Places for slow pages: each costs a process more."""
    patient_seconds: float = 0.5
    """A page that takes even more, in processor time, is read at a lower priority."""


def readers_of_this_machine() -> int:
    """One processor is left to whoever fetches."""
    return max(1, min(_MOST_PROCESSES, (os.cpu_count() or 1) - 1))


@dataclass(slots=True)
class _Places:
    """How many processes may read at a time, and the pages that wait for one of them."""

    free: int
    most: int
    """Pages that a process is handed at a time."""
    line: deque[AskedPage] = field(default_factory=deque)


class ReaderPool:
    """Fits `look.Look`. For one event loop; the processes are started when they are needed."""

    def __init__(self, settings: ReaderSettings | None = None) -> None:
        self._settings = settings or ReaderSettings(processes=readers_of_this_machine())
        self._quick = _Places(self._settings.processes, _HANDED_OVER)
        self._slow = _Places(self._settings.slow_pages, 1)
        self._idle: list[PageReader] = []
        """Whoever read last reads next, so that a second process is started only while the first is busy."""
        self._patient: list[PageReader] = []
        self._readers: set[PageReader] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._expected: asyncio.Task[PageReader] | None = None
        """A process that was started before there was a page: it is for the first one."""
        self._pages = 0
        self._is_closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def __call__(self, request: LookRequest) -> PageLook:
        """Read a page; again if its process was ended from outside, until that is taken to be the page's fault."""
        self._prepare()
        reason = ""
        for _ in range(TRIES):
            try:
                with waiting_for_others():  # a site is not slow because this machine is busy
                    return await self._read(request)
            except ReaderKilledError as error:
                reason = str(error)
            except OverrunError as error:
                spend_on_visit(self._settings.limits.cpu_seconds)
                reason = str(error)
                break
        _LOG.warning("page too costly", extra={"page": request.uri, "reason": reason})
        return unread(request.uri, f"{TOO_COSTLY}: {reason}")

    def expect(self) -> None:
        """Pages will come soon: a process is started now, which takes about a second, and reads the first of them."""
        if not (self._readers or self._tasks or self._expected or self._is_closed):
            self._expected = asyncio.create_task(self._started(), context=Context())

    async def aclose(self) -> None:
        """End all processes. Nobody may be waiting for one of them any more."""
        self._is_closed = True
        tasks: list[asyncio.Task[Any]] = [*self._tasks, *([self._expected] if self._expected else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for reader in list(self._readers):
            await self._dismiss(reader)

    async def _read(self, request: LookRequest) -> PageLook:
        page = AskedPage(request, asyncio.get_running_loop().create_future())
        places = self._slow if self._looks_slow(request) else self._quick
        places.line.append(page)
        self._open_lanes(places)
        try:
            answer = await page.answer
        except asyncio.CancelledError:
            await page.give_up()
            raise
        spend_on_visit(answer.seconds)  # while a page is read, its visit's time stands still but for this
        if answer.kind == "raised":
            raise answer.value
        return cast("PageLook", answer.value)

    def _looks_slow(self, request: LookRequest) -> bool:
        return bool(self._settings.slow_pages) and len(request.body) > self._settings.large

    # --- lanes: a process, and the pages that it reads one after the other

    def _open_lanes(self, places: _Places) -> None:
        """One for each place that is free, while pages wait."""
        while places.line and places.line[0].answer.done():  # whoever waited has gone
            places.line.popleft()
        if places.line and places.free and not self._is_closed:
            places.free -= 1
            self._begin(self._work(_Turn(places)))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, context=Context())  # a context of its own: it is nobody's visit
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self, turn: _Turn) -> None:
        line, reader = turn.places.line, None
        try:
            reader = await self._taken(is_slow=turn.places is self._slow)
            await self._read_on(turn, reader, line)
        except PageReaderLost as error:  # none could be started
            _fail_first(line, error)
        except BaseException as error:
            if reader is not None:
                reader.take_back(line, all_of_them=True)
            await self._dismiss(reader)
            reader = None
            if not isinstance(error, BrokenReaderError):
                raise
        finally:
            turn.rest()
            turn.places.free += 1
            if reader is not None:
                await self._give_back(reader)
            for places in (self._quick, self._slow):
                self._open_lanes(places)

    async def _read_on(self, turn: _Turn, reader: PageReader, line: deque[AskedPage]) -> None:
        """Page after page, for as long as some wait and none of them is slow."""
        while True:
            if turn.places.line is line:
                reader.hand_over(line, turn.places.most, look_at)
            self._open_lanes(turn.places)
            if not reader.pages:
                return
            self._watch(turn, reader)
            await reader.read_next()
            turn.rest()

    # --- a page that takes long

    def _watch(self, turn: _Turn, reader: PageReader) -> None:
        """Look again and again, until it has ended."""
        later = asyncio.get_running_loop().call_later
        turn.timer = later(self._settings.slow_seconds, self._look_after, turn, reader)

    def _look_after(self, turn: _Turn, reader: PageReader) -> None:
        used, turn.looks = reader.processor_seconds(), turn.looks + 1
        if turn.used_before is None:
            turn.used_before = used
        # A process that only waits for its turn at the processor is not at a slow page.
        taken = used - turn.used_before
        if taken >= self._settings.slow_seconds / 2 or turn.looks >= _LOOKS_AT_SLEEPERS:
            self._make_room(turn, reader)
        if taken >= self._settings.patient_seconds:
            reader.stand_back()
            return
        self._watch(turn, reader)

    def _make_room(self, turn: _Turn, reader: PageReader) -> None:
        """Somebody else may begin: this page takes long. Where all slow places are taken, it stays, and tries again."""
        reader.take_back(self._quick.line)
        if turn.places is self._quick and self._slow.free:
            self._slow.free -= 1
            self._quick.free += 1
            turn.places = self._slow
        self._open_lanes(self._quick)

    # --- processes

    def _prepare(self) -> None:
        """Once pages come in numbers, one process more than needed is started, for the first page that is slow."""
        self._pages += 1
        if self._pages == _READY_AFTER and self._settings.slow_pages:
            self._begin(self._ready())

    async def _ready(self) -> None:
        try:
            self._idle.insert(0, await self._started())
        except PageReaderLost as error:  # whoever needs it will say so
            _LOG.warning("no reader is kept ready", extra={"reason": error.message})

    async def _taken(self, *, is_slow: bool) -> PageReader:
        if is_slow and self._patient:
            return self._patient.pop()
        if len(self._idle) > (self._quick.free if is_slow else 0):
            return self._idle.pop()
        if self._expected and not is_slow:
            expected, self._expected = self._expected, None
            return await expected
        return await self._started()

    async def _give_back(self, reader: PageReader) -> None:
        if not reader.is_patient:
            self._idle.append(reader)
        elif len(self._patient) < self._settings.slow_pages:
            self._patient.append(reader)
        else:
            await self._dismiss(reader)

    async def _started(self) -> PageReader:
        reader = await PageReader.start(self._settings.limits, _WARM_UP)
        self._readers.add(reader)
        return reader

    async def _dismiss(self, reader: PageReader | None) -> None:
        if reader is not None:
            await reader.kill()
            self._readers.discard(reader)


@dataclass(slots=True)
class _Turn:
    """A process at work, and the places of which it has one."""

    places: _Places
    timer: asyncio.TimerHandle | None = None
    used_before: float | None = None
    """Processor time of the process, when the page that it is at was looked after for the first time."""
    looks: int = 0

    def rest(self) -> None:
        """Between two pages."""
        self.used_before, self.looks = None, 0
        if self.timer is not None:
            self.timer.cancel()


def _fail_first(line: deque[AskedPage], error: Exception) -> None:
    """Whoever the process was to be started for is told; the next one tries again."""
    if line:
        line.popleft().fail(error)
