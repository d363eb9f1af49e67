"""The worker of stages that wait for others: one event loop, with as many tasks in flight as this machine can bear.

Tasks are claimed many at a time and ended in groups, while others go on. Whatever blocks (claims, ends, what is given
back) has a few threads of its own: the loop never waits for the store.
"""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from cocli import logs
from cocli.errors import CocliError, Denied, HostEvicted
from cocli.fleet.ending_group import EndingGroup
from cocli.fleet.scaling.load_watch import LoadWatch
from cocli.fleet.scaling.scaler import scaled
from cocli.fleet.task_worker import TaskWorker, tell_verdict

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from concurrent.futures import Future

    from cocli.errors import SourceResting
    from cocli.fleet.scaling.load_meter import LoadMeter
    from cocli.fleet.scaling.scaler import Scaling
    from cocli.fleet.task_worker import IdleSettings
    from cocli.pipeline.stages.stage import WaitingStage
    from cocli.queue.base import Claim, Queue

_LOG = logs.get_logger(__name__)

P = ParamSpec("P")
R = TypeVar("R")
_THREADS = 6
"""For claims, ends and what is given back."""
_NAP_SECONDS = 0.1
_GATHER_SECONDS = 0.4
"""So long a claim waits for more room, while most places are taken: one for many costs what one for one does."""
_FEW = 12
"""… where less than this part of all places is free."""
_LET_GO_SECONDS = 2.0
_CLAIM_MOST = 64
"""Tasks of one claim: the first need not wait for the last."""
_LOOKING_SHARE = 20
"""A twentieth of the time goes into looks at a queue that has nothing to give."""
_LIVELY_LOOKS = 2
"""While tasks end, an empty queue is looked into at least as often as after so many looks: something is going on."""


class LoopWorker(TaskWorker):
    """At most `most` tasks are in flight; how many really are is found out while it works."""

    def __init__(
        self,
        stage: WaitingStage,
        queue: Queue,
        *,
        rng: random.Random,
        most: int,
        until_empty: bool = False,
        timing: IdleSettings | None = None,
        on_trouble: Callable[[str], None] | None = None,
        scaling: Scaling = scaled,
        meter: LoadMeter | None = None,
    ) -> None:
        super().__init__(queue, rng=rng, most=most, until_empty=until_empty, timing=timing, on_trouble=on_trouble)
        self._stage = stage
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="tasks")
        self._ending = EndingGroup(queue, self._threads)
        self._watch = LoadWatch(stage, self.tally, most=most, scaling=scaling, meter=meter)
        self._visits: set[asyncio.Task[None]] = set()
        self._reading: dict[int, asyncio.Task[None]] = {}
        """Claims whose stage is at work, by their ids: these can be broken off."""
        self._main: Future[None] | None = None
        self._quiet_until = self._resume_at = 0.0
        self._troubling = threading.Lock()

    def _begin(self) -> Callable[[], bool]:
        main = self._main = asyncio.run_coroutine_threadsafe(self._serve(), self._stage.loop)
        return lambda: not main.done()

    def _after(self) -> None:
        if self._main is not None:
            self._main.cancel()
        broken_off = asyncio.run_coroutine_threadsafe(self._break_all_off(), self._stage.loop)
        with suppress(TimeoutError):  # a busy loop breaks them off later
            broken_off.result(_LET_GO_SECONDS)
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _break_all_off(self) -> None:
        """What is still being done belongs to others now."""
        self._ending.close()
        for visit in self._visits:
            visit.cancel()
        if self._visits:
            await asyncio.wait(set(self._visits), timeout=_LET_GO_SECONDS)

    async def _serve(self) -> None:
        watch = asyncio.create_task(self._watch.run(lambda: (len(self._visits), self._looks > 0)))
        try:
            try:
                while not self._takes_no_more:
                    await self._take()
            except Exception as error:  # noqa: BLE001  it must not die unheard: `run` raises it
                self._fails(error)
            while self._visits:
                await asyncio.wait(set(self._visits), timeout=_NAP_SECONDS)
        finally:
            watch.cancel()

    async def _blocking(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        call = logs.carried(lambda: function(*args, **kwargs))
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    # --- looking for work

    async def _take(self) -> None:
        """Claim as many tasks as there is room for; or wait a moment for room, or for tasks."""
        now = time.monotonic()
        is_last_look = self._until_empty and not self.tally.in_hand
        is_quiet = now < self._quiet_until and not is_last_look
        if now < self._resume_at or is_quiet or self._room <= 0:
            await asyncio.sleep(min(_NAP_SECONDS, max(self._quiet_until, self._resume_at, now + 0.01) - now))
            return
        if self._room < self._watch.target // _FEW:
            await asyncio.sleep(_GATHER_SECONDS)
        if self._takes_no_more:
            return
        began = time.monotonic()
        try:
            claims = await self._blocking(self._queue.claim_many, min(self._room, _CLAIM_MOST))
        except CocliError as error:
            self._trouble(error)
            return
        for claim in claims:
            self.tally.took(claim)
            self._start(claim)
        self._looks = 0 if claims else self._looks
        if not claims:
            self._found_nothing(time.monotonic() - began)

    @property
    def _room(self) -> int:
        return self._watch.target - len(self._visits)

    def _found_nothing(self, took: float) -> None:
        """What is in flight is listed with every look: a look that took long is not repeated soon."""
        if self._until_empty and not self.tally.in_hand:
            self._stop.set()
        self._quiet_until = time.monotonic() + max(self._quiet(), min(_LOOKING_SHARE * took, self._timing.idle_longest))

    # --- one task

    def _start(self, claim: Claim) -> None:
        visit = asyncio.create_task(self._visit(claim))
        self._visits.add(visit)
        visit.add_done_callback(self._visited)

    def _visited(self, visit: asyncio.Task[None]) -> None:
        self._visits.discard(visit)
        self._looks = min(self._looks, _LIVELY_LOOKS)

    async def _visit(self, claim: Claim) -> None:
        try:
            with logs.bound(campaign=claim.task.campaign, queue=claim.task.queue, task=claim.task.task_id):
                await self._do(claim)
        except Exception as error:  # noqa: BLE001  a task must not die unheard: `run` raises it
            self._fails(error)

    async def _do(self, claim: Claim) -> None:
        if self._takes_no_more:  # asked to stop while it was claimed
            await self._blocking(self._release, claim)
            return
        _LOG.debug("task begins", extra={"attempt": claim.attempt})
        loop, started = asyncio.get_running_loop(), time.monotonic()
        visit = asyncio.current_task()
        if visit is not None:
            self._reading[id(claim)] = visit
        try:
            with self._queue.held(claim, partial(_call, loop, self._break_off, claim)) as work:
                verdict = await self._stage.visit(claim.task, work)
        except asyncio.CancelledError:
            if not claim.lost or visit is None:
                raise  # the worker is over
            visit.uncancel()
            self._lost(claim)
            return
        except Exception as error:  # noqa: BLE001  what each means for the task is told in one place
            await self._blocking(self._failed, claim, error)
            return
        finally:
            self._reading.pop(id(claim), None)
        tell_verdict(verdict, time.monotonic() - started)
        outcome = await self._ending.end(claim, verdict, in_hand=len(self._visits))
        self._ended(claim, outcome)
        if not isinstance(outcome, CocliError):
            self._troubles = 0

    def _break_off(self, claim: Claim) -> None:
        """Its lease is lost: somebody else does it. All others go on."""
        visit = self._reading.get(id(claim))
        if visit is not None:
            visit.cancel()

    # --- trouble

    def _trouble(self, error: BaseException) -> float:
        """What fails together is one trouble: hundreds are in flight when a store goes away."""
        with self._troubling:
            now = time.monotonic()
            if now < self._resume_at and not isinstance(error, (Denied, HostEvicted)):
                return 0.0
            wait = super()._trouble(error)
            self._resume_at = now + wait
            return wait

    def _rest(self, error: SourceResting) -> float:
        with self._troubling:
            now = time.monotonic()
            if now < self._resume_at:
                return 0.0
            wait = super()._rest(error)
            self._resume_at = now + wait
            return wait


def _call(loop: asyncio.AbstractEventLoop, function: Callable[[Claim], None], claim: Claim) -> None:
    """In the loop, from whichever thread noticed."""
    loop.call_soon_threadsafe(function, claim)
