"""Who writes groups of saves: threads of the service, and once many save at a time two processes beside it.

As a rule two groups are being written: each of them has an interpreter for itself then. A process costs a second of
processor and some memory, so that a service that few use does without, and the second is started when many still save
after the first one has written some groups. Where none can be started, or all have died, the threads do it.
"""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

from cocli.errors import ServiceTroubled
from cocli.service.documents.documents_place import DocumentsPlace
from cocli.service.documents.saving.save_group import save_group
from cocli.service.documents.saving.save_process import SaveProcess

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.app.documents.documents import Documents
    from cocli.service.documents.saving.save_group import SaveAnswer, SaveCall

THREADS = 4
PROCESSES = 2
MANY = 8
"""Saves at a time from which on a process is worth its price."""
_LASTING = 64
"""Groups that a process has written while many saved, after which there is another: a burst is over before."""
_AGAIN_SECONDS = 30.0
"""After which one that died is started again."""


class SaveWriters:
    """Used within one event loop."""

    def __init__(self, documents: Documents) -> None:
        self._repository = documents.repository
        self._place = DocumentsPlace.of(documents)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="saves")
        self._processes: list[SaveProcess] = []
        self._starting: asyncio.Task[None] | None = None
        self._started_at = 0.0
        self._groups = 0

    @property
    def process_ids(self) -> list[int]:
        """Empty as long as the threads write."""
        return [process.process_id for process in self._ready() if process.process_id is not None]

    def _ready(self) -> list[SaveProcess]:
        return [process for process in self._processes if process.is_ready]

    def write(self, calls: Sequence[SaveCall], company: int) -> asyncio.Future[list[SaveAnswer]]:
        """What became of each, when all are on the disk. `company` is how many save at the moment."""
        ready = self._ready()
        if company >= MANY and len(ready) < PROCESSES:
            self._groups += len(ready)
            if not ready or self._groups > _LASTING:
                self._start()
        if ready:
            return _idlest(ready).write(calls)
        write = partial(save_group, self._repository, calls)
        return asyncio.get_running_loop().run_in_executor(self._threads, write)

    def can_write_batch(self, size: int) -> bool:
        """Whether a process can be asked. A batch of many has it started: the next one finds it."""
        is_ready = bool(self._ready())
        if not is_ready and size >= MANY:
            self._start()
        return is_ready

    async def write_batch(self, calls: Sequence[SaveCall]) -> list[SaveAnswer]:
        """As `write`, by a process."""
        ready = self._ready()
        if not ready:
            raise ServiceTroubled(reason="there is no process that writes batches")
        return await _idlest(ready).write(calls, is_batch=True)

    def _start(self) -> None:
        """One at a time: what they load is taken from those who save."""
        loop = asyncio.get_running_loop()
        if self._starting is not None and not self._starting.done():
            return
        ready = self._ready()
        if len(ready) < len(self._processes) and loop.time() < self._started_at + _AGAIN_SECONDS:
            return
        if self._place.is_shared and len(os.sched_getaffinity(0)) > 1:
            process = SaveProcess(self._place, THREADS)
            self._processes = [*ready, process]
            self._groups = 0
            self._started_at = loop.time()
            self._starting = loop.create_task(process.start())

    async def started(self) -> None:
        """Wait for the process that is being started, if there is one."""
        if self._starting is not None:
            await self._starting

    async def close(self) -> None:
        """After the last group was answered."""
        await self.started()
        await asyncio.gather(*(process.close() for process in self._processes))
        await asyncio.to_thread(self._threads.shutdown)


def _idlest(processes: Sequence[SaveProcess]) -> SaveProcess:
    return min(processes, key=attrgetter("in_hand"))
