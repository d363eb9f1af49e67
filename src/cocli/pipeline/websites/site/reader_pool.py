"""A few processes that read pages, so that no page can hold up an event loop, a lease or the health of a service.

A page that takes more processor time, time or memory than it may costs its process, which is replaced; the page is kept
and noted as too costly, and the site goes on.

A page that takes longer than most makes room: it goes on beside the others, in a process that is added for them, so
that they do not wait for it. Written here because the pools of the standard library, and those built on them, share
one pipe: killing one of their processes can hurt the others. Here each has a pipe of its own.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from cocli import logs
from cocli.errors import PageReaderLost
from cocli.pipeline.websites.site.extractor_quality import TOO_COSTLY
from cocli.pipeline.websites.site.look import unread
from cocli.pipeline.websites.site.reader_process import HEAD

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from asyncio.subprocess import Process
    from typing import Self

    from cocli.pipeline.websites.site.look import LookRequest, PageLook

_LOG = logs.get_logger(__name__)
_MODULE = "cocli.pipeline.websites.site.reader_process"
_MOST_PROCESSES = 2
_START_SECONDS = 120.0
_FROM_OUTSIDE = (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGHUP)
"""Exit codes of a process that somebody ended: a person, or a machine that is short of memory."""
_TRIES = 2


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """What one page may take. A page of a megabyte takes half a second on a laptop, some seconds on a small board."""

    processes: int = 1
    cpu_seconds: int = 10
    seconds: float = 60.0
    """By the clock on the wall: a machine can be busy with other things."""
    memory: int = 1 << 30
    slow_seconds: float = 0.3
    """A page that takes longer goes on beside the others. An ordinary one takes some hundredths on a laptop."""
    slow_pages: int = 2
    """So many of them at a time: each costs a process more."""


def readers_of_this_machine() -> int:
    """One processor is left to whoever fetches."""
    return max(1, min(_MOST_PROCESSES, (os.cpu_count() or 1) - 1))


class TooCostlyError(Exception):
    """A page overran what it may take."""


class ReaderKilledError(Exception):
    """A process was ended from outside. Its page may be innocent."""


class ReaderPool:
    """Fits `look.Look`. For one event loop; the processes are started when they are needed."""

    def __init__(self, settings: ReaderSettings | None = None) -> None:
        self._settings = settings or ReaderSettings(processes=readers_of_this_machine())
        self._idle: asyncio.LifoQueue[_Reader | None] = asyncio.LifoQueue()
        """Whoever read last reads next, so that a second process is started only while the first is busy."""
        for _ in range(self._settings.processes):
            self._idle.put_nowait(None)
        self._readers: set[_Reader] = set()
        self._spare: list[_Reader] = []
        """Those that read slow pages, and whose places others have taken."""
        self._slow = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def __call__(self, request: LookRequest) -> PageLook:
        """Read a page; once more if its process was ended from outside, and then it is taken to be the page's fault."""
        reason = ""
        for _ in range(_TRIES):
            try:
                return await self._read(request)
            except ReaderKilledError as error:
                reason = str(error)
        return _too_costly(request, reason)

    async def _read(self, request: LookRequest) -> PageLook:
        reader, turn = await self._idle.get(), _Turn()
        try:
            if reader is None:
                reader = await self._started()
            turn.timer = asyncio.get_running_loop().call_later(self._settings.slow_seconds, self._make_room, turn)
            return await reader.ask(request)
        except TooCostlyError as error:
            await self._dismiss(reader)
            reader = None
            return _too_costly(request, str(error))
        except BaseException:  # cancelled, or broken: what it would still answer belongs to nobody
            await self._dismiss(reader)
            reader = None
            raise
        finally:
            self._give_back(reader, turn)

    async def aclose(self) -> None:
        """End all processes. Nobody may be waiting for one of them any more."""
        for reader in list(self._readers):
            await self._dismiss(reader)

    def _make_room(self, turn: _Turn) -> None:
        """Somebody else may begin: this page takes long."""
        if self._slow < self._settings.slow_pages:
            self._slow += 1
            turn.is_slow = True
            self._idle.put_nowait(None)

    def _give_back(self, reader: _Reader | None, turn: _Turn) -> None:
        if turn.timer is not None:
            turn.timer.cancel()
        if not turn.is_slow:
            self._idle.put_nowait(reader)
            return
        self._slow -= 1
        if reader is not None:
            self._spare.append(reader)

    async def _started(self) -> _Reader:
        if self._spare:
            return self._spare.pop()
        reader = await _Reader.start(self._settings)
        self._readers.add(reader)
        return reader

    async def _dismiss(self, reader: _Reader | None) -> None:
        if reader is not None:
            self._readers.discard(reader)
            await reader.kill()


def _too_costly(request: LookRequest, reason: str) -> PageLook:
    _LOG.warning("page too costly", extra={"page": request.uri, "reason": reason})
    return unread(request.uri, f"{TOO_COSTLY}: {reason}")


@dataclass(slots=True)
class _Turn:
    """One page at its reader."""

    timer: asyncio.TimerHandle | None = None
    is_slow: bool = False


@dataclass(eq=False, slots=True)
class _Reader:
    process: Process
    settings: ReaderSettings

    @classmethod
    async def start(cls, settings: ReaderSettings) -> _Reader:
        words = [sys.executable, "-P", "-m", _MODULE, str(settings.cpu_seconds), str(settings.memory)]
        try:
            process = await asyncio.create_subprocess_exec(
                *words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 20
            )
        except OSError as error:
            raise PageReaderLost(reason=error.strerror or str(error)) from error
        reader = cls(process, settings)
        try:
            async with asyncio.timeout(_START_SECONDS):
                await reader._answer()
        except (TimeoutError, EOFError, ConnectionError) as error:
            await reader.kill()
            raise PageReaderLost(reason=f"it did not start: exit code {process.returncode}") from error
        return reader

    async def ask(self, request: LookRequest) -> PageLook:
        stdin = cast("StreamWriter", self.process.stdin)
        data = pickle.dumps(request, pickle.HIGHEST_PROTOCOL)
        try:
            async with asyncio.timeout(self.settings.seconds):
                stdin.write(HEAD.pack(len(data)))
                stdin.write(data)
                await stdin.drain()
                answer = await self._answer()
        except TimeoutError as error:
            raise TooCostlyError(f"no end within {self.settings.seconds:g} s") from error
        except (EOFError, ConnectionError) as error:
            raise await self._ended() from error
        if isinstance(answer, str):
            raise TooCostlyError(answer)
        return answer

    async def _answer(self) -> PageLook | str:
        stdout = cast("StreamReader", self.process.stdout)
        head = await stdout.readexactly(HEAD.size)
        data = await stdout.readexactly(HEAD.unpack(head)[0])
        return cast("PageLook | str", pickle.loads(data))  # noqa: S301  from our own program

    async def _ended(self) -> Exception:
        """Why it is gone: by the page that it read, or by something that the next page would meet as well."""
        code = await self.process.wait()
        if code == -signal.SIGXCPU:
            return TooCostlyError(f"more than {self.settings.cpu_seconds} s of processor time")
        if code in _FROM_OUTSIDE:
            return ReaderKilledError(f"its process was ended by {signal.Signals(-code).name}, twice")
        if code < 0:
            return TooCostlyError(f"its process was ended by {signal.Signals(-code).name}")
        return PageReaderLost(reason=f"it ended with exit code {code}")

    async def kill(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()
