"""The queue `enrichment`, for a worker: one event loop and one fetcher for all sites that are read at a time."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from cocli.models.completion import Failed
from cocli.models.record import explain
from cocli.models.task import TaskError
from cocli.models.work import EnrichmentWork

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

    from cocli.models.task import Task
    from cocli.pipeline.stages.enrichment import Enrichment
    from cocli.pipeline.stages.stage import VisitCounts
    from cocli.pipeline.websites.fetch.fetcher import Fetcher
    from cocli.queue.base import Verdict, Work

T = TypeVar("T")
QUEUE = "enrichment"
_LOOK_SECONDS = 1.0
_STORE_THREADS = 16
"""For what blocks: reading and writing documents and records. Most of their time they wait for a disk or a network."""


class EnrichmentStage:
    """Fits `stage.WaitingStage`, and `stage.Stage` for callers in threads. The loop lives in a thread of its own."""

    queue = QUEUE

    def __init__(
        self,
        open_fetcher: Callable[[], Fetcher],
        enrichment: Callable[[Fetcher], Enrichment],
        *,
        close: Callable[[], Coroutine[Any, Any, None]] | None = None,
    ) -> None:
        """`close` lets go of what the enrichment uses beside the fetcher, before the fetcher itself goes."""
        self.loop = asyncio.new_event_loop()
        self.loop.set_default_executor(ThreadPoolExecutor(_STORE_THREADS, thread_name_prefix="store"))
        self._thread = threading.Thread(target=self.loop.run_forever, name="enrichment", daemon=True)
        self._thread.start()
        self._fetcher = self._call(_entered(open_fetcher))
        self._enrichment = enrichment(self._fetcher)
        self._close = close

    @property
    def counts(self) -> VisitCounts:
        """What its visits wait for now."""
        return self._enrichment.counts(self._fetcher.under_way)

    async def visit(self, task: Task, work: Work) -> Verdict:  # noqa: ARG002  who loses the task is cancelled
        """Read the site of a task."""
        try:
            wanted = EnrichmentWork.model_validate(dict(task.payload))
        except ValidationError as error:
            return Failed(error=TaskError(code="payload", message=explain(error), retryable=False))
        return (await self._enrichment.enrich(wanted, reuse=_is_first(task, wanted))).verdict

    def run(self, task: Task, work: Work) -> Verdict:
        """The same for a thread. Once the lease is lost, reading stops: somebody else does it."""
        running = asyncio.run_coroutine_threadsafe(self.visit(task, work), self.loop)
        while True:
            try:
                return running.result(_LOOK_SECONDS)
            except TimeoutError:
                if running.done():
                    raise  # not our waiting is over, but the work failed so
                try:
                    work.check()
                except BaseException:  # the lease is lost, or the store: goes on from here
                    running.cancel()
                    raise

    def close(self) -> None:
        """Stop what is still being read, and let go of every connection."""
        self._call(_wound_up(self._fetcher, self._close))
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    def _call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()


def _is_first(task: Task, wanted: EnrichmentWork) -> bool:
    """Whether what is kept of the site will do. Somebody who had a task brought back, or asks for a second pass (which
    is named otherwise than by its domain alone), wants to have it visited."""
    return task.task_id == wanted.domain and not task.recoveries


async def _wound_up(fetcher: Fetcher, close: Callable[[], Coroutine[Any, Any, None]] | None) -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    if close is not None:
        await close()
    await fetcher.__aexit__(None, None, None)
    await asyncio.get_running_loop().shutdown_default_executor()
    await asyncio.sleep(0)  # transports say goodbye in the next round of the loop


async def _entered(open_fetcher: Callable[[], Fetcher]) -> Fetcher:
    """Opened inside the loop that it belongs to."""
    return await open_fetcher().__aenter__()
