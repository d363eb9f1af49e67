"""The worker: claims tasks, has its stage do them, and ends each as its verdict says. Threads share one stage.

It may die anywhere. A task that was not ended is taken by another once its lease has run out; everything its stage
wrote is recognised then. What goes wrong with a task is the stage's verdict; what goes wrong with this machine gives
the task back, and too much of it in a row ends the worker.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import CocliError, Denied, HostEvicted, LeaseLost, ParserAlarm, SourceResting, WorkerGaveUp
from cocli.fleet.tally import LOST, RELEASED, WorkerTally
from cocli.models.completion import Blocked, Empty, Failed, Ok
from cocli.models.task import TaskError
from cocli.retries import Backoff

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from cocli.fleet.drain import Drain
    from cocli.pipeline.stages.stage import Stage
    from cocli.queue.base import Claim, Queue, Verdict

_LOG = logs.get_logger(__name__)

_LOOK_SECONDS = 0.1
_MESSAGE_LENGTH = 500


@dataclass(frozen=True, slots=True)
class IdleSettings:
    """How long a worker waits for what. Seconds."""

    idle_first: float = 0.25
    idle_longest: float = 8.0
    """Between two looks into an empty queue; spread, so that workers do not look together."""
    trouble_first: float = 1.0
    trouble_longest: float = 60.0
    rest: float = 60.0
    """Between two questions whether a source that rests may be asked again."""
    troubles: int = 8
    """Failures of this machine in a row before the worker gives up."""
    drain: float = 60.0
    """For what is in hand when the worker is asked to stop; then it is given back."""


class Worker:
    """`run` once. `threads` tasks are done at a time."""

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
        self._stage = stage
        self._queue = queue
        self._random = rng
        self._count = threads
        self._until_empty = until_empty
        self._timing = timing or IdleSettings()
        self._on_trouble = on_trouble
        self.tally = WorkerTally()
        self._stop = threading.Event()
        self._drain: Drain | None = None
        self._let_go = threading.Event()
        self._looking = threading.Lock()
        """One thread at a time looks into the queue: the others learn from what it finds."""
        self._quiet_until = 0.0
        self._looks = 0
        """Into an empty queue, one after the other."""
        self._troubles = 0
        self._fatal: BaseException | None = None

    def run(self, drain: Drain, *, seconds: float | None = None, on_look: Callable[[], None] | None = None) -> bool:
        """Work until asked to stop, or for so many seconds, or until the queue is empty.

        True if everything in hand came to its end; False if some of it had to be given back.
        """
        _LOG.info("worker begins", extra={"queue": self._queue.name, "threads": self._count})
        self._drain = drain
        serve = logs.carried(self._serve)
        threads = [threading.Thread(target=serve, name=f"work-{n}", daemon=True) for n in range(self._count)]
        for thread in threads:
            thread.start()
        until = None if seconds is None else time.monotonic() + seconds
        given_up_at: float | None = None
        while any(thread.is_alive() for thread in threads):
            time.sleep(_LOOK_SECONDS)
            now = time.monotonic()
            if drain.asked or (until is not None and now >= until):
                self._stop.set()
            if self._stop.is_set() and given_up_at is None:
                given_up_at = now + self._timing.drain
            if on_look:
                on_look()
            if drain.now or self._is_evicted or (given_up_at is not None and now >= given_up_at):
                break
        whole = self._give_back()
        _LOG.info("worker ended", extra={"queue": self._queue.name, "whole": whole, **self.tally.counts})
        self._raise()
        return whole

    @property
    def _takes_no_more(self) -> bool:
        """A thread asks the drain itself: `run` looks at it only now and then, and later on a busy machine."""
        return self._stop.is_set() or (self._drain is not None and self._drain.asked)

    @property
    def _is_evicted(self) -> bool:
        """Then nothing that is in hand can be ended any more."""
        return isinstance(self._fatal, HostEvicted)

    # --- one thread

    def _serve(self) -> None:
        claim: Claim | None = None
        try:
            while claim is not None or not self._takes_no_more:
                claim = self._step(claim)
        except BaseException as error:  # noqa: BLE001  a thread must not die unheard: `run` raises it
            self._fatal = self._fatal or error
            self._stop.set()

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
            _tell_verdict(verdict, time.monotonic() - started)
            return self._end(claim, verdict)
        except LeaseLost:
            self._lost(claim)
        except SourceResting as error:
            self._release(claim)
            self._rest(error)
        except ParserAlarm as error:
            _LOG.error("the parser's self-check raised an alarm: %s", error.message)
            self._release(claim)
            raise  # nothing more is to be read by anybody
        except (CocliError, OSError, MemoryError) as error:
            self._release(claim)
            self._trouble(error)
        except Exception as error:  # noqa: BLE001  a mistake in the program, met by this task: it counts as an attempt
            _LOG.exception("a mistake in the program: the task counts as tried")
            self._end(claim, _mistake(error), go_on=False)
            self._trouble(error)
        return None

    def _end(self, claim: Claim, verdict: Verdict, *, go_on: bool = True) -> Claim | None:
        try:
            if self._takes_no_more or not go_on:
                outcome, following = self._queue.ack(claim, verdict), None
            else:
                outcome, following = self._queue.ack_and_claim(claim, verdict)
        except LeaseLost:
            self._lost(claim)
            return None
        except CocliError as error:
            # Its completion may or may not be written. The lease runs out, and whoever meets the task next can tell.
            self._over(claim, LOST)
            self._trouble(error)
            return None
        self._over(claim, outcome.value)
        if go_on:
            self._troubles = 0
        if following is not None:
            self.tally.took(following)
        return following

    def _lost(self, claim: Claim) -> None:
        _LOG.warning("somebody else has the task now: what was done is dropped")
        self._over(claim, LOST)

    def _over(self, claim: Claim, how: str) -> None:
        if not self._let_go.is_set():  # else it was counted when it was given back
            self.tally.ended(claim, how)

    # --- looking for work

    def _look(self) -> Claim | None:
        with self._looking:
            wait = self._quiet_until - time.monotonic()
            if wait <= 0:
                try:
                    claim = self._queue.claim()
                except CocliError as error:
                    self._trouble(error)
                    return None
                if claim is not None:
                    self._looks = 0
                    self.tally.took(claim)
                    return claim
                if self._until_empty and not self.tally.in_hand:
                    self._stop.set()
                wait = self._quiet()
        self._stop.wait(wait)
        return None

    def _quiet(self) -> float:
        """How long nobody looks: longer each time, because an empty queue costs a listing per look."""
        timing = self._timing
        self._looks += 1
        wait = Backoff(timing.idle_first, timing.idle_longest).seconds(self._looks, self._random)
        self._quiet_until = time.monotonic() + wait
        return wait

    # --- trouble

    def _trouble(self, error: BaseException) -> None:
        """Something is wrong with this machine: say it, wait, and give up where it does not end.

        What is not allowed does not pass by waiting.
        """
        if isinstance(error, (Denied, HostEvicted)):
            raise error
        message = error.message if isinstance(error, CocliError) else f"{type(error).__name__}: {error}"
        message = message[:_MESSAGE_LENGTH]
        _LOG.warning("trouble with this machine: %s", message, extra={"in_a_row": self._troubles + 1})
        self.tally.failed(message)
        if self._on_trouble:
            self._on_trouble(message)
        self._troubles += 1
        if self._troubles >= self._timing.troubles:
            raise WorkerGaveUp(queue=self._queue.name, times=self._troubles, reason=message) from error
        timing = self._timing
        backoff = Backoff(timing.trouble_first, timing.trouble_longest)
        self._stop.wait(backoff.seconds(self._troubles, self._random))

    def _rest(self, error: SourceResting) -> None:
        """Nothing is wrong, but nothing is to be asked now. Nobody waits for that who only wants to empty the queue."""
        _LOG.info("the source rests: %s", error.message)
        self.tally.failed(error.message)
        if self._on_trouble:
            self._on_trouble(error.message)
        if self._until_empty:
            self._stop.set()
        self._stop.wait(self._timing.rest)

    def _release(self, claim: Claim) -> None:
        try:
            self._queue.release(claim)
            self._over(claim, RELEASED)
        except CocliError as error:  # then its lease runs out
            _LOG.warning("the task cannot be given back: %s", error.message)
            self._over(claim, LOST)

    def _give_back(self) -> bool:
        """What threads still have in hand once nobody waits for them any more; a thread that goes on has lost it."""
        self._let_go.set()
        left = self.tally.in_hand
        for claim in left:
            try:
                self._queue.release(claim)
                self.tally.ended(claim, RELEASED)
            except CocliError:  # its lease runs out
                self.tally.ended(claim, LOST)
        return not left

    def _raise(self) -> None:
        if self._fatal is not None:
            raise self._fatal


def _tell_verdict(verdict: Verdict, seconds: float) -> None:
    """One record per task that came to a verdict; a verdict with less than was hoped for says why."""
    told: dict[str, object] = {"verdict": verdict.kind, "seconds": round(seconds, 3)}
    match verdict:
        case Ok():
            told |= {"count": verdict.count, "documents": len(verdict.documents)}
        case Failed():
            told |= {"code": verdict.error.code, "reason": verdict.error.message, "retryable": verdict.retryable}
        case Blocked():
            told["reason"] = verdict.reason
        case Empty():
            told["reason"] = verdict.evidence
    _LOG.info("task done", extra=told)


def _mistake(error: Exception) -> Failed:
    message = f"{type(error).__name__}: {error}"[:_MESSAGE_LENGTH]
    return Failed(error=TaskError(code="internal", message=message, retryable=True))
