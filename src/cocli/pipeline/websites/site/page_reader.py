"""One process that reads pages: it is handed several, reads one after the other, and answers for each.

A process that had to wait for the next page after every answer would stand still for as long as the event loop has
something else to do. Which page it is at is known all the same: the first that it has not answered. What ends a process
is that page's fault, and nobody else's.
"""

from __future__ import annotations

import asyncio
import os
import pickle
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from cocli.documents.reading.limits import OverrunError, ReadingPatience, processor_seconds, why_ended
from cocli.documents.reading.reader_process import HEAD, framed
from cocli.errors import PageReaderLost

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from asyncio.subprocess import Process
    from collections.abc import Callable

    from cocli.documents.reading.limits import ReadingLimits
    from cocli.documents.reading.reader_process import ReaderAnswer
    from cocli.pipeline.websites.site.look import LookRequest, PageLook

_START_SECONDS = 120.0
_NICENESS = 5
"""Of a patient process: where others want the processor, it has about a quarter of their share."""
_HANDED_BYTES = 256 * 1024
"""Of the pages that a process was handed and has not answered."""


class BrokenReaderError(Exception):
    """The process is of no use any more. Whoever's page it was has been told."""


@dataclass(eq=False, slots=True)
class AskedPage:
    """A page that somebody waits for."""

    request: LookRequest
    answer: asyncio.Future[ReaderAnswer]
    reader: PageReader | None = None
    """The process that was handed it."""

    def settle(self, answer: ReaderAnswer) -> None:
        if not self.answer.done():
            self.answer.set_result(answer)

    def fail(self, error: BaseException) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)

    async def give_up(self) -> None:
        """Nobody waits any more. A process that is just at it is ended; one that is not answers in vain."""
        if self.reader is not None and self.reader.is_at(self):
            self.reader.end()
            await self.reader.process.wait()


class PageReader:
    """For one event loop. `pages` are those that it was handed and has not answered, in their order; None stands for
    one that was given to another process meanwhile."""

    def __init__(self, process: Process, limits: ReadingLimits) -> None:
        self.process = process
        self.limits = limits
        self.is_patient = False
        self.pages: deque[AskedPage | None] = deque()
        self._used = 0.0
        """Seconds of processor time, as far as it told."""
        self._looks: asyncio.TimerHandle | None = None

    @classmethod
    async def start(cls, limits: ReadingLimits, warm_up: str) -> PageReader:
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *limits.command(warm_up), stdin=pipe, stdout=pipe, limit=1 << 20
            )
        except OSError as error:
            raise PageReaderLost(reason=error.strerror or str(error)) from error
        reader = cls(process, limits)
        try:
            async with asyncio.timeout(_START_SECONDS):
                await reader._answer()
        except (TimeoutError, EOFError, ConnectionError) as error:
            await reader.kill()
            raise PageReaderLost(reason=f"it did not start: exit code {process.returncode}") from error
        except BaseException:
            await reader.kill()
            raise
        reader._used = reader.processor_seconds()
        return reader

    # --- pages

    def is_at(self, page: AskedPage) -> bool:
        return bool(self.pages) and self.pages[0] is page

    def hand_over(self, line: deque[AskedPage], most: int, look: Callable[[LookRequest], PageLook]) -> None:
        """As many of those who wait as it may have at a time."""
        stdin = cast("StreamWriter", self.process.stdin)
        handed = sum(len(page.request.body) for page in self.pages if page is not None)
        while line and len(self.pages) < most and (handed < _HANDED_BYTES or not self.pages):
            page = line.popleft()
            if page.answer.done():  # nobody waits for it any more
                continue
            page.reader = self
            self.pages.append(page)
            handed += len(page.request.body)
            stdin.write(framed((look, (page.request,))))

    def take_back(self, line: deque[AskedPage], *, all_of_them: bool = False) -> None:
        """Whoever stands behind the page that it is at need not wait for that one."""
        for place in range(len(self.pages) - 1, -1 if all_of_them else 0, -1):
            page = self.pages[place]
            if page is not None:
                self.pages[place] = None
                page.reader = None
                line.appendleft(page)

    async def read_next(self) -> None:
        """Until the first page is answered. What ends the process instead is that page's fault."""
        patience = ReadingPatience(self.limits, self._used)
        error: Exception | None = None
        try:
            async with asyncio.timeout(None) as limit:
                self._wait_on(limit, patience)
                answer = await self._answer()
        except TimeoutError:
            error = patience.why()
        except (EOFError, ConnectionError):
            error = why_ended(await self.process.wait(), self.limits)
        finally:
            if self._looks is not None:
                self._looks.cancel()
        if error is None and answer.kind == "costly":  # it ends itself: what is left of its memory is in pieces
            error = OverrunError(answer.value)
        page = self.pages.popleft()
        if error is not None:
            if page is not None:
                page.fail(error)
            raise BrokenReaderError
        self._used += answer.seconds
        if page is not None:
            page.settle(answer)

    async def _answer(self) -> ReaderAnswer:
        stdout = cast("StreamReader", self.process.stdout)
        head = await stdout.readexactly(HEAD.size)
        data = await stdout.readexactly(HEAD.unpack(head)[0])
        return cast("ReaderAnswer", pickle.loads(data))  # noqa: S301  from our own program

    def _wait_on(self, limit: asyncio.Timeout, patience: ReadingPatience) -> None:
        loop = asyncio.get_running_loop()
        self._looks = loop.call_later(self.limits.seconds, self._look_again, limit, patience)

    def _look_again(self, limit: asyncio.Timeout, patience: ReadingPatience) -> None:
        if patience.goes_on(self.processor_seconds()):
            self._wait_on(limit, patience)
        else:
            limit.reschedule(0.0)

    # --- the process

    def processor_seconds(self) -> float:
        return processor_seconds(self.process.pid)

    def stand_back(self) -> None:
        """From now on it takes what others leave."""
        self.is_patient = True
        with suppress(OSError):  # it has just ended
            os.setpriority(os.PRIO_PROCESS, self.process.pid, os.getpriority(os.PRIO_PROCESS, 0) + _NICENESS)

    def end(self) -> None:
        if self.process.returncode is None:
            self.process.kill()

    async def kill(self) -> None:
        self.end()
        await self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()
