"""A process beside the service for what takes the processor: replays, comparisons, long pages. Callers keep theirs.

It opens store and catalogue for itself, is started when it is first needed and again when it has died, and gives way
to others of the machine. What it is asked for is one of `TASKS`; a replay is a durable job, so that nothing is lost
with the process: the job can be resumed.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from cocli.errors import CocliError, CrewLost, ServiceTroubled, UsageError
from cocli.service.documents.documents_place import DocumentsPlace
from cocli.service.gentle_start import gently, packed, unpack_and_serve
from cocli.service.statuses import logged

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

    from cocli.app.documents.documents import Documents

_AT_ONCE = 16
_NICENESS = 5
_SWITCH_SECONDS = 0.0005
"""Between those who compute, and somebody who has the catalogue to itself for a moment: others wait for that one."""
_GRACE_SECONDS = 5.0


class _Request(NamedTuple):
    number: int
    task: str
    account: str
    arguments: tuple[Any, ...]


class WorkProcess:
    """Safe to share between threads."""

    def __init__(self, documents: Documents) -> None:
        self._place = DocumentsPlace.of(documents)
        self._lock = threading.Lock()
        self._process: SpawnProcess | None = None
        self._line: Connection | None = None
        self._waiting: dict[int, Future[Any]] = {}
        self._number = 0

    @property
    def can_be_used(self) -> bool:
        return self._place.is_shared

    def do(self, task: str, account: str, *arguments: object) -> tuple[int, Future[Any]]:
        """Begin a task; its number and what it will come to."""
        if not self.can_be_used:
            raise UsageError(reason="a store in memory cannot be shared with other processes")
        with self._lock:
            line = self._started()
            self._number += 1
            future: Future[Any] = Future()
            self._waiting[self._number] = future
            try:
                line.send(_Request(self._number, task, account, arguments))
            except OSError as error:
                del self._waiting[self._number]
                raise ServiceTroubled(reason="the process that does the work has just ended") from error
            return self._number, future

    def stop(self, number: int) -> None:
        """Ask a task to come to an end, if it knows how."""
        with self._lock, suppress(OSError):  # the process is gone: so is the task
            if number in self._waiting and self._line is not None:
                self._line.send(number)

    def close(self) -> None:
        """Replays pause, and have some seconds for that."""
        with self._lock:
            process, line, self._process = self._process, self._line, None
            if line is not None:
                with suppress(OSError):  # it has ended before
                    line.send(None)
        if process is not None:
            process.join(_GRACE_SECONDS)
            if process.is_alive():
                process.kill()
                process.join()

    def _started(self) -> Connection:
        if self._process is not None and self._process.is_alive() and self._line is not None:
            return self._line
        context = multiprocessing.get_context("spawn")
        self._line, theirs = context.Pipe()
        call = packed(_serve, self._place)
        self._process = context.Process(target=unpack_and_serve, args=(theirs, call), daemon=True)
        self._process.start()
        theirs.close()
        threading.Thread(target=self._listen, args=(self._line,), name="work-answers", daemon=True).start()
        return self._line

    def _listen(self, line: Connection) -> None:
        while True:
            try:
                number, answer = line.recv()
            except (EOFError, OSError):
                break
            with self._lock:
                future = self._waiting.pop(number, None)
            _settle(future, answer)
        with self._lock:
            lost, self._waiting = self._waiting, {}
        for future in lost.values():
            _settle(future, CrewLost(job="of the service", reason="the process that did the work has ended"))


def _settle(future: Future[Any] | None, answer: object) -> None:
    if future is None or not future.set_running_or_notify_cancel():
        return  # nobody waits for it any more
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)


# --- in the process itself


def _serve(line: Connection, place: DocumentsPlace) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asked for it says when it ends
    os.nice(_NICENESS)
    sys.setswitchinterval(_SWITCH_SECONDS)
    documents = gently(place.opened)
    stops: dict[int, threading.Event] = {}
    sending = threading.Lock()

    def work(request: _Request, stop: threading.Event) -> None:
        answer = _done(documents, request, stop)
        with sending, suppress(OSError):  # the service is gone
            line.send((request.number, answer))
        stops.pop(request.number, None)

    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="work") as threads:
        while (asked := _next(line)) is not None:
            if isinstance(asked, _Request):
                stop = stops[asked.number] = threading.Event()
                threads.submit(work, asked, stop)
            elif asked in stops:
                stops[asked].set()
        for stop in list(stops.values()):
            stop.set()


def _next(line: Connection) -> _Request | int | None:
    try:
        asked: _Request | int | None = line.recv()
    except (EOFError, OSError):
        return None  # the service is gone
    return asked


def _done(documents: Documents, request: _Request, stop: threading.Event) -> object:
    from cocli.service.documents.work_tasks import TASKS

    task: Callable[..., object] = TASKS[request.task]
    try:
        return task(documents.of(request.account), stop, *request.arguments)
    except CocliError as error:
        return error
    except Exception as error:  # noqa: BLE001  the service answers with a status and no trace
        return RuntimeError(logged(error))
