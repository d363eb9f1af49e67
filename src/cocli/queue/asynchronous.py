"""A queue for asyncio: blocking calls go to threads, and work whose lease is lost is cancelled.

if found := await claim(queue):
    outcome = await run(queue, found, work)      # work(claim) is a coroutine that returns a verdict

async with held(queue, found):                   # or step by step
    result = await do(found.task)
outcome = await ack(queue, found, Ok(result=result))
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from cocli.errors import LeaseLost
from cocli.queue.base import Queue

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType

    from cocli.errors import CocliError
    from cocli.queue.base import AckOutcome, Claim, Verdict, Work


class NoticingQueue(Queue, Protocol):
    """A queue that tells at once when a lease is lost. All providers do."""

    def held(self, claim: Claim, on_lost: Callable[[], None] | None = None) -> AbstractContextManager[Work]: ...


async def claim(queue: Queue) -> Claim | None:
    """A task to work on, or None if there is none now."""
    return await asyncio.to_thread(queue.claim)


async def ack(queue: Queue, claim: Claim, verdict: Verdict) -> AckOutcome:
    return await asyncio.to_thread(queue.ack, claim, verdict)


async def claim_many(queue: Queue, limit: int) -> Sequence[Claim]:
    return await asyncio.to_thread(queue.claim_many, limit)


async def ack_many(queue: Queue, ended: Sequence[tuple[Claim, Verdict]]) -> Sequence[AckOutcome | CocliError]:
    return await asyncio.to_thread(queue.ack_many, ended)


async def ack_and_claim(queue: Queue, claim: Claim, verdict: Verdict) -> tuple[AckOutcome, Claim | None]:
    return await asyncio.to_thread(queue.ack_and_claim, claim, verdict)


async def release(queue: Queue, claim: Claim) -> None:
    await asyncio.to_thread(queue.release, claim)


async def run(queue: NoticingQueue, claim: Claim, work: Callable[[Claim], Awaitable[Verdict]]) -> AckOutcome:
    """Do the work, renewing meanwhile, and end the claim with its verdict.

    `LeaseLost` if the task went to another: the work is cancelled at once. What the work raises comes out, and the
    claim stays as it is: the caller decides between `release`, a `Failed` verdict, and letting the lease run out.
    """
    async with held(queue, claim):
        verdict = await work(claim)
    return await ack(queue, claim, verdict)


class held:  # noqa: N801 - reads as the function that it is
    """Renew the lease while the block runs. Once it is lost the block is cancelled, and `LeaseLost` comes out of it."""

    def __init__(self, queue: NoticingQueue, claim: Claim) -> None:
        self._queue = queue
        self._claim = claim
        self._lost = False
        self._over = False

    async def __aenter__(self) -> Claim:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a claim is held inside a task of asyncio")
        self._task: asyncio.Task[object] = task
        self._cancelling = task.cancelling()
        self._loop = asyncio.get_running_loop()
        self._hold = self._queue.held(self._claim, self._notice)
        self._hold.__enter__()
        return self._claim

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over = True
        self._hold.__exit__(kind, error, traceback)
        if not self._lost:
            return
        # Our own cancellation ends here; somebody else's goes on.
        asked_by_others = self._task.uncancel() > self._cancelling
        if kind is None or (issubclass(kind, asyncio.CancelledError) and not asked_by_others):
            reason = "its lease was taken over or could not be renewed"
            raise LeaseLost(worker=self._claim.worker, task_id=self._claim.task.task_id, reason=reason) from error

    def _notice(self) -> None:
        """Called by the thread that renews."""
        with suppress(RuntimeError):  # the loop is closed: there is nobody left to tell
            self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if not self._over:
            self._lost = True
            self._task.cancel()
