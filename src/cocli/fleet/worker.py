"""The worker of stages that keep a processor or a browser busy: threads, each with one task at a time."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import CocliError
from cocli.fleet.task_worker import TaskWorker, tell_verdict

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from cocli.fleet.task_worker import IdleSettings
    from cocli.pipeline.stages.stage import Stage
    from cocli.queue.base import AckOutcome, Claim, Queue, Verdict

_LOG = logs.get_logger(__name__)


class Worker(TaskWorker):
    """`threads` tasks are done at a time. All of them share one stage."""

    def __init__(
        self,
        stage: Stage,
        queue: Queue,
        *,
        rng: random.Random,
        threads: int = 1,
        until_empty: bool = False,
        timing: IdleSettings | None = None,
        on_trouble: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(queue, rng=rng, most=threads, until_empty=until_empty, timing=timing, on_trouble=on_trouble)
        self._stage = stage
        self._looking = threading.Lock()
        """One thread at a time looks into the queue: the others learn from what it finds."""
        self._quiet_until = 0.0

    def _begin(self) -> Callable[[], bool]:
        serve = logs.carried(self._serve)
        threads = [threading.Thread(target=serve, name=f"work-{n}", daemon=True) for n in range(self._most)]
        for thread in threads:
            thread.start()
        return lambda: any(thread.is_alive() for thread in threads)

    def _after(self) -> None:
        """A thread that goes on has lost its task, and ends with the process."""

    def _serve(self) -> None:
        claim: Claim | None = None
        try:
            while claim is not None or not self._takes_no_more:
                claim = self._step(claim)
        except BaseException as error:  # noqa: BLE001  a thread must not die unheard: `run` raises it
            self._fails(error)

    def _step(self, claim: Claim | None) -> Claim | None:
        """One task, or one look for one. What comes back is the next task."""
        if claim is None:
            claim = self._look()
        if claim is None:
            return None
        with logs.bound(campaign=claim.task.campaign, queue=claim.task.queue, task=claim.task.task_id):
            return self._do(claim)

    def _do(self, claim: Claim) -> Claim | None:
        try:
            _LOG.debug("task begins", extra={"attempt": claim.attempt})
            started = time.monotonic()
            with self._queue.held(claim) as work:
                verdict = self._stage.run(claim.task, work)
            tell_verdict(verdict, time.monotonic() - started)
        except Exception as error:  # noqa: BLE001  what each means for the task is told in one place
            self._stop.wait(self._failed(claim, error))
            return None
        return self._end(claim, verdict)

    def _end(self, claim: Claim, verdict: Verdict) -> Claim | None:
        following: Claim | None = None
        try:
            if self._takes_no_more:
                outcome: AckOutcome | CocliError = self._queue.ack(claim, verdict)
            else:
                outcome, following = self._queue.ack_and_claim(claim, verdict)
        except CocliError as error:
            outcome = error
        wait = self._ended(claim, outcome)
        if not isinstance(outcome, CocliError):
            self._troubles = 0
        if following is not None:
            self.tally.took(following)
        self._stop.wait(wait)
        return following

    def _look(self) -> Claim | None:
        with self._looking:
            wait = self._quiet_until - time.monotonic()
            if wait <= 0:
                try:
                    claim = self._queue.claim()
                except CocliError as error:
                    self._stop.wait(self._trouble(error))  # nobody else need look meanwhile
                    return None
                if claim is not None:
                    self._looks = 0
                    self.tally.took(claim)
                    return claim
                if self._until_empty and not self.tally.in_hand:
                    self._stop.set()
                wait = self._quiet()
                self._quiet_until = time.monotonic() + wait
        self._stop.wait(wait)
        return None
