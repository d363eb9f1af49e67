"""A process beside the service that writes groups of saves, one of a few: event loop and writers share no interpreter.

It opens store and catalogue for itself and answers a group when all of it is on the disk. A batch is written piece by
piece by threads of its own: groups wait neither for one of them nor, for long, for its transaction. Whoever was not
answered when it died is told to try again. It ends when the service has closed its line, or is gone.
"""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import pickle
import signal
import socket
import struct
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from cocli import logs
from cocli.errors import CocliError, ServiceTroubled
from cocli.service.documents.saving.save_group import save_group
from cocli.service.gentle_start import gently, packed, unpack_and_serve
from cocli.service.statuses import logged

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.context import SpawnProcess

    from cocli.documents.repository import DocumentRepository
    from cocli.service.documents.documents_place import DocumentsPlace
    from cocli.service.documents.saving.save_group import SaveAnswer, SaveCall

_LOG = logs.get_logger(__name__)

_HEAD = struct.Struct("!I")
_READY = 0
"""The number of the first message: store and catalogue are open."""
BATCHES = 2
"""At a time."""
_PIECE = 128
"""Saves of a batch that are one transaction."""
_SWITCH_SECONDS = 0.0005
_GRACE_SECONDS = 10.0


class _Asked(NamedTuple):
    number: int
    calls: Sequence[SaveCall]
    is_batch: bool


class SaveProcess:
    """Used within one event loop."""

    def __init__(self, place: DocumentsPlace, threads: int) -> None:
        self._place = place
        self._threads = threads
        self._process: SpawnProcess | None = None
        self._line: asyncio.WriteTransport | None = None
        self._ended: asyncio.Future[None] | None = None
        self._waiting: dict[int, asyncio.Future[list[SaveAnswer]]] = {}
        self._number = _READY

    @property
    def is_ready(self) -> bool:
        return self._line is not None

    @property
    def in_hand(self) -> int:
        """Groups and batches that are not answered yet."""
        return len(self._waiting)

    @property
    def process_id(self) -> int | None:
        """None where it cannot be asked."""
        return self._process.pid if self._process is not None and self.is_ready else None

    async def start(self) -> None:
        """Returns when it can be asked, or could not be started."""
        ours, theirs = socket.socketpair()
        context = multiprocessing.get_context("spawn")
        call = packed(_serve, self._place, self._threads)
        process = self._process = context.Process(
            target=unpack_and_serve, args=(theirs, call), name="saves", daemon=True
        )
        await asyncio.to_thread(process.start)
        theirs.close()
        loop = asyncio.get_running_loop()
        ready = self._waiting[_READY] = loop.create_future()
        self._ended = loop.create_future()
        line, _ = await loop.create_connection(partial(_Answers, self._answered, self._lost), sock=ours)
        try:
            await ready
        except CocliError as error:
            _LOG.warning("saves are written by the service itself: %s", error.message)
        else:
            self._line = None if line.is_closing() else line

    def write(self, calls: Sequence[SaveCall], *, is_batch: bool = False) -> asyncio.Future[list[SaveAnswer]]:
        """As `save_group`. The process has it when this returns: with a task of its own, a group would wait until the
        event loop has heard everybody else."""
        answer: asyncio.Future[list[SaveAnswer]] = asyncio.get_running_loop().create_future()
        if self._line is None:
            answer.set_exception(ServiceTroubled(reason="the process that writes has just ended"))
            return answer
        self._number += 1
        self._waiting[self._number] = answer
        data = pickle.dumps(_Asked(self._number, calls, is_batch), pickle.HIGHEST_PROTOCOL)
        self._line.write(_HEAD.pack(len(data)) + data)
        return answer

    def _answered(self, number: int, answers: object) -> None:
        _settle(self._waiting.pop(number), answers)

    def _lost(self) -> None:
        self._line = None
        lost, self._waiting = self._waiting, {}
        for future in lost.values():
            _settle(future, ServiceTroubled(reason="the process that writes has ended"))
        if self._ended is not None:
            self._ended.set_result(None)

    async def close(self) -> None:
        """After the last group was answered."""
        if self._line is not None:
            self._line.close()
        if self._process is not None:
            await asyncio.to_thread(self._process.join, _GRACE_SECONDS)
            if self._process.is_alive():
                self._process.kill()
        if self._ended is not None:
            await self._ended


class _Answers(asyncio.Protocol):
    """The service's end of the line. An answer is passed on as soon as it is whole: a stream would have the event loop
    go round twice more for each, while everybody of the group waits."""

    def __init__(self, answered: Callable[[int, object], None], lost: Callable[[], None]) -> None:
        self._answered = answered
        self._lost = lost
        self._received = bytearray()

    def data_received(self, data: bytes) -> None:
        received = self._received
        received += data
        while len(received) >= _HEAD.size:
            end = _HEAD.size + _HEAD.unpack_from(received)[0]
            if len(received) < end:
                return
            number, answers = pickle.loads(received[_HEAD.size : end])  # noqa: S301  of our own process
            del received[:end]
            self._answered(number, answers)

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002  the library's signature
        self._lost()


def _settle(future: asyncio.Future[Any], answer: object) -> None:
    if future.done():
        return  # nobody waits for it any more
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)


# --- in the process itself


def _serve(line: socket.socket, place: DocumentsPlace, threads: int) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):  # it ends with the service, after what is under way
        signal.signal(number, signal.SIG_IGN)
    sending = threading.Lock()
    try:
        repository = gently(place.opened).repository
    except CocliError as error:
        _send(line, sending, _READY, error)
        return
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.freeze()
    try:
        _send(line, sending, _READY, [])
        with (
            repository.catalog.tended(),
            ThreadPoolExecutor(threads, thread_name_prefix="saves") as groups,
            ThreadPoolExecutor(BATCHES, thread_name_prefix="batches") as batches,
        ):
            while (asked := _next(line)) is not None:
                (batches if asked.is_batch else groups).submit(_write, line, sending, repository, asked)
    finally:
        repository.catalog.close()


def _write(line: socket.socket, sending: threading.Lock, repository: DocumentRepository, asked: _Asked) -> None:
    answers: list[SaveAnswer] | Exception
    calls = asked.calls
    try:
        answers = [
            answer
            for first in range(0, len(calls), _PIECE)
            for answer in save_group(repository, calls[first : first + _PIECE])
        ]
    except Exception as error:  # noqa: BLE001  the service answers with a status and no trace
        answers = error if isinstance(error, CocliError) else RuntimeError(logged(error))
    _send(line, sending, asked.number, answers)


def _send(line: socket.socket, sending: threading.Lock, number: int, answers: list[SaveAnswer] | Exception) -> None:
    data = pickle.dumps((number, answers), pickle.HIGHEST_PROTOCOL)
    with sending, suppress(OSError):  # the service is gone
        line.sendall(_HEAD.pack(len(data)) + data)


def _next(line: socket.socket) -> _Asked | None:
    """The next group or batch; None when the service has closed the line, or is gone."""
    head = _received(line, _HEAD.size)
    data = head and _received(line, _HEAD.unpack(head)[0])
    if not data:
        return None
    asked: _Asked = pickle.loads(data)  # noqa: S301  of the service that started this process
    return asked


def _received(line: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        try:
            piece = line.recv(size - len(data))
        except OSError:
            return None
        if not piece:
            return None
        data += piece
    return bytes(data)
