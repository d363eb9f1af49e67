"""A room for reading: functions are called in processes with limits, and the caller waits for the answer.

    facts = PAGES.call(read_document, document, what=document.doc)

For threads and plain code. A process is started when it is needed, used again, and ends with this one. What overran is
`TooCostly`; what the function raised is raised here.
"""

from __future__ import annotations

import atexit
import os
import pickle
import subprocess
import threading
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, TypeVar, cast

from cocli import logs
from cocli.documents.reading.limits import (
    TRIES,
    OverrunError,
    ReaderKilledError,
    ReadingLimits,
    ReadingPatience,
    processor_seconds,
    why_ended,
)
from cocli.documents.reading.reader_process import HEAD, ReaderAnswer, framed
from cocli.errors import PageReaderLost, TooCostly

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_LOG = logs.get_logger(__name__)
_KEPT = 2
"""Processes that wait for the next page: others end when they have read theirs."""


class ReadingRoom:
    """Shared by all threads of this process. `what`, in its errors, is what was read."""

    def __init__(self, limits: ReadingLimits) -> None:
        self._limits = limits
        self._idle: deque[_RoomReader] = deque()
        self._owner = os.getpid()

    def call(
        self,
        function: Callable[..., T],
        *arguments: object,
        what: str,
        progress: Callable[[int], None] = lambda _done: None,
    ) -> T:
        """Call a function of a module, by its name. Arguments and answer are sent as pickles.

        `progress` hears what the function says by `tell_progress`.
        """
        message, reason = framed((function, arguments)), ""
        for _ in range(TRIES):
            try:
                return cast("T", self._read(message, progress))
            except ReaderKilledError as error:
                reason = str(error)
            except OverrunError as error:
                reason = str(error)
                break
        _LOG.warning("too costly to read", extra={"what": what, "reason": reason})
        raise TooCostly(what=what, reason=reason)

    def close(self) -> None:
        """End the processes that wait."""
        while (reader := self._waiting()) is not None:
            reader.end()

    def _waiting(self) -> _RoomReader | None:
        if self._owner != os.getpid():  # after a fork: these are the other one's
            self._idle, self._owner = deque(), os.getpid()
        with suppress(IndexError):
            return self._idle.pop()
        return None

    def _read(self, message: bytes, progress: Callable[[int], None]) -> object:
        reader = self._waiting()
        if reader is None or reader.is_gone():
            reader = _RoomReader(self._limits)
        try:
            answer = reader.ask(message, progress)
        except BaseException:  # overrun, or Ctrl-C: what it would still answer belongs to nobody
            reader.end()
            raise
        if answer.kind == "costly":
            reader.end()
            raise OverrunError(answer.value)
        if len(self._idle) < _KEPT:
            self._idle.append(reader)
        else:
            reader.end()
        if answer.kind == "raised":
            raise answer.value
        return answer.value


class _RoomReader:
    def __init__(self, limits: ReadingLimits) -> None:
        self._limits = limits
        self._late = False
        self._ending = threading.Lock()
        self._is_over = True
        try:
            self._process = subprocess.Popen(  # noqa: S603  this program
                limits.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1 << 16
            )
        except OSError as error:
            raise PageReaderLost(reason=error.strerror or str(error)) from error
        self._requests = cast("BinaryIO", self._process.stdin)
        self._answers = cast("BinaryIO", self._process.stdout)
        self._is_ready = False

    def is_gone(self) -> bool:
        """Ended while it waited: by a person, or by a machine that is short of memory."""
        if self._process.poll() is None:
            return False
        self.end()
        return True

    def ask(self, message: bytes, progress: Callable[[int], None]) -> ReaderAnswer:
        patience = ReadingPatience(self._limits, processor_seconds(self._process.pid))
        self._is_over = False
        self._arm(patience)
        try:
            if not self._is_ready:
                self._answer()
                self._is_ready = True
            self._requests.write(message)
            self._requests.flush()
            while (answer := self._answer()).kind == "progress":
                progress(answer.value)
            return answer
        except (EOFError, OSError) as error:
            code = self._process.wait()
            if self._late:
                raise patience.why() from error
            raise why_ended(code, self._limits) from error
        finally:
            self._disarm()

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._requests, self._answers):
            with suppress(OSError):  # what was not written yet is of no use to anybody
                pipe.close()

    def _arm(self, patience: ReadingPatience) -> None:
        timer = threading.Timer(self._limits.seconds, self._expire, (patience,))
        timer.daemon = True
        self._timer = timer
        timer.start()

    def _disarm(self) -> None:
        with self._ending:
            self._is_over = True
            self._timer.cancel()

    def _expire(self, patience: ReadingPatience) -> None:
        with self._ending:
            if self._is_over:
                return
            if patience.goes_on(processor_seconds(self._process.pid)):
                self._arm(patience)
                return
            self._late = True
            self._process.kill()

    def _answer(self) -> ReaderAnswer:
        head = self._answers.read(HEAD.size)
        if len(head) < HEAD.size:
            raise EOFError
        length = HEAD.unpack(head)[0]
        data = self._answers.read(length)
        if len(data) < length:
            raise EOFError
        return cast("ReaderAnswer", pickle.loads(data))  # noqa: S301  from our own program


PAGES = ReadingRoom(ReadingLimits())
"""For single pages: of websites, of Google Maps."""
FILES = ReadingRoom(ReadingLimits(cpu_seconds=300, seconds=900.0, memory=4 << 30))
"""For files that a person brings: they may be large, and somebody waits."""
SHOWN = ReadingRoom(ReadingLimits(cpu_seconds=4, seconds=30.0))
"""For pages that somebody waits to see in a browser: what takes longer is shown in another way."""
PLACES = ReadingRoom(ReadingLimits(cpu_seconds=24 * 3600, seconds=900.0, memory=4 << 30))
"""For files of open places: they may be as large as a disk, so what they may take is said with each."""
for _room in (PAGES, FILES, SHOWN, PLACES):
    atexit.register(_room.close)
