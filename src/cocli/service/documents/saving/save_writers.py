"""Who writes groups of saves: threads of the service, and once many save at a time a process beside it.

The process costs a second of processor and some memory, so that a service that few use does without. Where it cannot
be started, or has died, the threads do it.
"""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
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
MANY = 8
"""Saves at a time from which on the process is worth its price."""
_AGAIN_SECONDS = 30.0
"""After which one that died is started again."""


class SaveWriters:
    """Used within one event loop."""

    def __init__(self, documents: Documents) -> None:
        self._repository = documents.repository
        self._place = DocumentsPlace.of(documents)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="saves")
        self._process: SaveProcess | None = None
        self._starting: asyncio.Task[None] | None = None
        self._started_at = 0.0

    @property
    def process_id(self) -> int | None:
        """None as long as the threads write."""
        return None if self._process is None else self._process.process_id

    def write(self, calls: Sequence[SaveCall], company: int) -> asyncio.Future[list[SaveAnswer]]:
        """What became of each, when all are on the disk. `company` is how many save at the moment."""
        if self._process is not None and self._process.is_ready:
            return self._process.write(calls)
        if company >= MANY:
            self._start()
        write = partial(save_group, self._repository, calls)
        return asyncio.get_running_loop().run_in_executor(self._threads, write)

    def can_write_batch(self, size: int) -> bool:
        """Whether the process can be asked. A batch of many has it started: the next one finds it."""
        if self.process_id is None and size >= MANY:
            self._start()
        return self.process_id is not None

    async def write_batch(self, calls: Sequence[SaveCall]) -> list[SaveAnswer]:
        """As `write`, by the process."""
        if self._process is None:
            raise ServiceTroubled(reason="there is no process that writes batches")
        return await self._process.write(calls, is_batch=True)

    def _start(self) -> None:
        loop = asyncio.get_running_loop()
        if self._starting is not None and loop.time() < self._started_at + _AGAIN_SECONDS:
            return
        if self._place.is_shared and len(os.sched_getaffinity(0)) > 1:
            self._started_at = loop.time()
            self._process = SaveProcess(self._place, THREADS)
            self._starting = loop.create_task(self._process.start())

    async def started(self) -> None:
        """Wait for the process, if there is to be one."""
        if self._starting is not None:
            await self._starting

    async def close(self) -> None:
        """After the last group was answered."""
        await self.started()
        if self._process is not None:
            await self._process.close()
        await asyncio.to_thread(self._threads.shutdown)
