"""A few processes that read pages, so that no page can hold up an event loop, a lease or the health of a service.

A page that takes more processor time, time or memory than it may costs its process, which is replaced; the page is kept
and noted as too costly, and the site goes on.

Nobody waits for a slow page. There are places for quick pages and places for slow ones. A page that is large goes to a
slow place at once, and leaves the processes of the quick places alone. A page that turns out to be slow moves to a slow
place, and another process reads on in the quick one; a process more than needed is kept ready for that, because
starting one takes longer than most pages do. Once a page has taken half a second of processor time, its process gets a
lower priority. There is no way back from that, so it reads large pages from then on.

Written here because the pools of the standard library, and those built on them, share one pipe: killing one of their
processes can hurt the others. Here each has a pipe of its own.
"""

from __future__ import annotations

import asyncio
import os
import pickle
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from cocli import logs
from cocli.documents.reading.limits import (
    TOO_COSTLY,
    TRIES,
    OverrunError,
    ReaderKilledError,
    ReadingLimits,
    ReadingPatience,
    processor_seconds,
    why_ended,
)
from cocli.documents.reading.reader_process import HEAD, framed
from cocli.errors import PageReaderLost
from cocli.pipeline.websites.fetch.pace.visit_clock import spend_on_visit, waiting_for_others
from cocli.pipeline.websites.site.look import look_at, unread

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from asyncio.subprocess import Process
    from typing import Self

    from cocli.documents.reading.reader_process import ReaderAnswer
    from cocli.pipeline.websites.site.look import LookRequest, PageLook

_LOG = logs.get_logger(__name__)
_WARM_UP = "cocli.pipeline.websites.site.look:warm_up"
_MOST_PROCESSES = 2
_START_SECONDS = 120.0
_READY_AFTER = 20
"""Pages until a process is kept ready: who reads a few sites does not pay for it."""
_NICENESS = 5
"""Of a patient process: where others want the processor, it has about a quarter of their share."""
_Places = asyncio.LifoQueue[None]


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


class ReaderPool:
    """Fits `look.Look`. For one event loop; the processes are started when they are needed."""

    def __init__(self, settings: ReaderSettings | None = None) -> None:
        self._settings = settings or ReaderSettings(processes=readers_of_this_machine())
        self._quick = _places(self._settings.processes)
        self._slow = _places(self._settings.slow_pages)
        self._idle: list[_Reader] = []
        """Whoever read last reads next, so that a second process is started only while the first is busy."""
        self._patient: list[_Reader] = []
        self._readers: set[_Reader] = set()
        self._pages = 0
        self._preparing: asyncio.Task[None] | None = None

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
                with waiting_for_others():  # a site is not slow because this machine is busy: see `ask`
                    return await self._read(request)
            except ReaderKilledError as error:
                reason = str(error)
            except OverrunError as error:
                spend_on_visit(self._settings.limits.cpu_seconds)
                reason = str(error)
                break
        _LOG.warning("page too costly", extra={"page": request.uri, "reason": reason})
        return unread(request.uri, f"{TOO_COSTLY}: {reason}")

    async def aclose(self) -> None:
        """End all processes. Nobody may be waiting for one of them any more."""
        if self._preparing is not None:
            self._preparing.cancel()
            await asyncio.gather(self._preparing, return_exceptions=True)
        for reader in list(self._readers):
            await self._dismiss(reader)

    async def _read(self, request: LookRequest) -> PageLook:
        turn = _Turn(self._slow if self._looks_slow(request) else self._quick)
        await turn.places.get()
        reader: _Reader | None = None
        try:
            reader = await self._taken(is_slow=turn.places is self._slow)
            self._watch(turn, reader)
            look = await reader.ask(request)
        except BaseException:  # overrun, cancelled or broken: what it would still answer belongs to nobody
            turn.end()
            await self._dismiss(reader)
            raise
        turn.end()
        await self._give_back(reader)
        return look

    def _looks_slow(self, request: LookRequest) -> bool:
        return bool(self._settings.slow_pages) and len(request.body) > self._settings.large

    # --- a page that takes long

    def _watch(self, turn: _Turn, reader: _Reader) -> None:
        """Look again and again, until it has ended."""
        later = asyncio.get_running_loop().call_later
        turn.timer = later(self._settings.slow_seconds, self._look_after, turn, reader)

    def _look_after(self, turn: _Turn, reader: _Reader) -> None:
        if turn.places is self._quick:
            self._make_room(turn)
        used = reader.processor_seconds()
        if turn.used_before is None:
            turn.used_before = used
        elif used - turn.used_before >= self._settings.patient_seconds:
            reader.stand_back()
            return
        self._watch(turn, reader)

    def _make_room(self, turn: _Turn) -> None:
        """Somebody else may begin: this page takes long. Where all slow places are taken, it stays, and tries again."""
        with suppress(asyncio.QueueEmpty):
            self._slow.get_nowait()
            turn.places.put_nowait(None)
            turn.places = self._slow

    # --- processes

    def _prepare(self) -> None:
        """Once pages come in numbers, one process more than needed is started, for the first page that is slow."""
        self._pages += 1
        if self._pages == _READY_AFTER and self._settings.slow_pages:
            self._preparing = asyncio.create_task(self._ready())

    async def _ready(self) -> None:
        try:
            self._idle.insert(0, await self._started())
        except PageReaderLost as error:  # whoever needs it will say so
            _LOG.warning("no reader is kept ready", extra={"reason": error.message})

    async def _taken(self, *, is_slow: bool) -> _Reader:
        if is_slow and self._patient:
            return self._patient.pop()
        if len(self._idle) > (self._quick.qsize() if is_slow else 0):
            return self._idle.pop()
        return await self._started()

    async def _give_back(self, reader: _Reader) -> None:
        if not reader.is_patient:
            self._idle.append(reader)
        elif len(self._patient) < self._settings.slow_pages:
            self._patient.append(reader)
        else:
            await self._dismiss(reader)

    async def _started(self) -> _Reader:
        reader = await _Reader.start(self._settings.limits)
        self._readers.add(reader)
        return reader

    async def _dismiss(self, reader: _Reader | None) -> None:
        if reader is not None:
            self._readers.discard(reader)
            await reader.kill()


def _places(count: int) -> _Places:
    places = _Places()
    for _ in range(count):
        places.put_nowait(None)
    return places


@dataclass(slots=True)
class _Turn:
    """One page at its reader, and the places of which it has one."""

    places: _Places
    timer: asyncio.TimerHandle | None = None
    used_before: float | None = None
    """Processor time of its process, when it was looked after for the first time."""

    def end(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
        self.places.put_nowait(None)


@dataclass(eq=False, slots=True)
class _Reader:
    process: Process
    limits: ReadingLimits
    is_patient: bool = False
    _looks: asyncio.TimerHandle | None = None

    @classmethod
    async def start(cls, limits: ReadingLimits) -> _Reader:
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *limits.command(_WARM_UP), stdin=pipe, stdout=pipe, limit=1 << 20
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
        return reader

    async def ask(self, request: LookRequest) -> PageLook:
        stdin = cast("StreamWriter", self.process.stdin)
        patience = ReadingPatience(self.limits, self.processor_seconds())
        try:
            async with asyncio.timeout(None) as limit:
                self._wait_on(limit, patience)
                stdin.write(framed((look_at, (request,))))
                await stdin.drain()
                answer = await self._answer()
        except TimeoutError as error:
            raise patience.why() from error
        except (EOFError, ConnectionError) as error:
            raise why_ended(await self.process.wait(), self.limits) from error
        finally:
            if self._looks is not None:
                self._looks.cancel()
        spend_on_visit(answer.seconds)
        if answer.kind == "costly":
            raise OverrunError(answer.value)
        if answer.kind == "raised":
            raise answer.value
        return cast("PageLook", answer.value)

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

    def processor_seconds(self) -> float:
        return processor_seconds(self.process.pid)

    def stand_back(self) -> None:
        """From now on it takes what others leave."""
        self.is_patient = True
        with suppress(OSError):  # it has just ended
            os.setpriority(os.PRIO_PROCESS, self.process.pid, os.getpriority(os.PRIO_PROCESS, 0) + _NICENESS)

    async def kill(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()
