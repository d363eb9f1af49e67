"""What every worker promises, however it does several tasks at a time: how each of them ends, and when it stops.

It may die anywhere. A task that was not ended is taken by another once its lease has run out; everything its stage
wrote is recognised then. What goes wrong with a task is the stage's verdict; what goes wrong with this machine gives
the task back, and too much of it in a row ends the worker.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import CocliError, Denied, HostEvicted, LeaseLost, ParserAlarm, SourceResting, TooCostly, WorkerGaveUp
from cocli.fleet.tally import LOST, RELEASED, WorkerTally
from cocli.models.completion import Blocked, Empty, Failed, Ok
from cocli.models.task import TaskError
from cocli.retries import Backoff

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from cocli.fleet.drain import Drain
    from cocli.queue.base import AckOutcome, Claim, Queue, Verdict

_LOG = logs.get_logger(__name__)

_LOOK_SECONDS = 0.1
_MESSAGE_LENGTH = 500
_AT_ONCE = 16
"""Claims that are given back side by side: each is a request."""


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


class TaskWorker(ABC):
    """`run` once."""

    def __init__(
        self,
        queue: Queue,
        *,
        rng: random.Random,
        most: int,
        until_empty: bool = False,
        timing: IdleSettings | None = None,
        on_trouble: Callable[[str], None] | None = None,
    ) -> None:
        """`most` is how many tasks are done at a time at most."""
        self._queue = queue
        self._random = rng
        self._most = most
        self._until_empty = until_empty
        self._timing = timing or IdleSettings()
        self._on_trouble = on_trouble
        self.tally = WorkerTally()
        self._stop = threading.Event()
        self._drain: Drain | None = None
        self._let_go = threading.Event()
        self._looks = 0
        """Into an empty queue, one after the other."""
        self._troubles = 0
        self._fatal: BaseException | None = None

    def run(self, drain: Drain, *, seconds: float | None = None, on_look: Callable[[], None] | None = None) -> bool:
        """Work until asked to stop, or for so many seconds, or until the queue is empty.

        True if everything in hand came to its end; False if some of it had to be given back.
        """
        _LOG.info("worker begins", extra={"queue": self._queue.name, "threads": self._most})
        self._drain = drain
        is_working = self._begin()
        until = None if seconds is None else time.monotonic() + seconds
        given_up_at: float | None = None
        while is_working():
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
        self._after()
        _LOG.info("worker ended", extra={"queue": self._queue.name, "whole": whole, **self.tally.counts})
        if self._fatal is not None:
            raise self._fatal
        return whole

    @abstractmethod
    def _begin(self) -> Callable[[], bool]:
        """Begin to work in the background; what comes back says whether it still goes on."""

    @abstractmethod
    def _after(self) -> None:
        """Let go of what the work needed. Nothing is in hand any more."""

    @property
    def _takes_no_more(self) -> bool:
        """Whoever takes tasks asks the drain itself: `run` looks at it only now and then, and later on a busy
        machine."""
        return self._stop.is_set() or (self._drain is not None and self._drain.asked)

    @property
    def _is_evicted(self) -> bool:
        """Then nothing that is in hand can be ended any more."""
        return isinstance(self._fatal, HostEvicted)

    def _fails(self, error: BaseException) -> None:
        """Nothing more can be done here: `run` raises it. Once everything was given back, it harms nobody."""
        if not self._let_go.is_set():
            self._fatal = self._fatal or error
            self._stop.set()

    # --- how a task ends

    def _failed(self, claim: Claim, error: BaseException) -> float:
        """Its work raised an error instead of giving a verdict. How many seconds nothing is to be begun.

        It raises what ends the whole worker.
        """
        if isinstance(error, LeaseLost):
            self._lost(claim)
            return 0.0
        if isinstance(error, SourceResting):
            self._release(claim)
            return self._rest(error)
        if isinstance(error, TooCostly):  # the fault of what it read, which is kept: the next task may begin at once
            return self._ended(claim, self._ack(claim, _unread(error)))
        if isinstance(error, ParserAlarm):
            _LOG.error("the parser's self-check raised an alarm: %s", error.message)
            self._release(claim)
            raise error  # nothing more is to be read by anybody
        if isinstance(error, (CocliError, OSError, MemoryError)):
            self._release(claim)
            return self._trouble(error)
        if not isinstance(error, Exception):
            raise error
        # a mistake in the program, met by this task: it counts as an attempt
        _LOG.error("a mistake in the program: the task counts as tried", exc_info=error)
        self._ended(claim, self._ack(claim, _mistake(error)))
        return self._trouble(error)

    def _ack(self, claim: Claim, verdict: Verdict) -> AckOutcome | CocliError:
        try:
            return self._queue.ack(claim, verdict)
        except CocliError as error:
            return error

    def _ended(self, claim: Claim, outcome: AckOutcome | CocliError) -> float:
        """What came of ending a claim. How many seconds nothing is to be begun."""
        if isinstance(outcome, LeaseLost):
            self._lost(claim)
        elif isinstance(outcome, CocliError):
            # Its completion may or may not be written. The lease runs out, and whoever meets the task next can tell.
            self._over(claim, LOST)
            return self._trouble(outcome)
        else:
            self._over(claim, outcome.value)
        return 0.0

    def _lost(self, claim: Claim) -> None:
        _LOG.warning("somebody else has the task now: what was done is dropped")
        self._over(claim, LOST)

    def _over(self, claim: Claim, how: str) -> None:
        if not self._let_go.is_set():  # else it was counted when it was given back
            self.tally.ended(claim, how)

    # --- looking for work

    def _quiet(self) -> float:
        """How long nobody looks: longer each time, because an empty queue costs a listing per look."""
        timing = self._timing
        self._looks += 1
        return Backoff(timing.idle_first, timing.idle_longest).seconds(self._looks, self._random)

    # --- trouble

    def _trouble(self, error: BaseException) -> float:
        """Something is wrong with this machine: say it, and give up where it does not end. How many seconds to wait.

        What is not allowed does not pass by waiting.
        """
        if isinstance(error, (Denied, HostEvicted)):
            raise error
        message = _said(error)
        _LOG.warning("trouble with this machine: %s", message, extra={"in_a_row": self._troubles + 1})
        self.tally.failed(message)
        if self._on_trouble:
            self._on_trouble(message)
        self._troubles += 1
        if self._troubles >= self._timing.troubles:
            raise WorkerGaveUp(queue=self._queue.name, times=self._troubles, reason=message) from error
        timing = self._timing
        return Backoff(timing.trouble_first, timing.trouble_longest).seconds(self._troubles, self._random)

    def _rest(self, error: SourceResting) -> float:
        """Nothing is wrong, but nothing is to be asked now. Nobody waits for that who only wants to empty the queue."""
        _LOG.info("the source rests: %s", error.message)
        self.tally.failed(error.message)
        if self._on_trouble:
            self._on_trouble(error.message)
        if self._until_empty:
            self._stop.set()
        return self._timing.rest

    def _release(self, claim: Claim) -> None:
        try:
            self._queue.release(claim)
            self._over(claim, RELEASED)
        except CocliError as error:  # then its lease runs out
            _LOG.warning("the task cannot be given back: %s", error.message)
            self._over(claim, LOST)

    def _give_back(self) -> bool:
        """What is still in hand once nobody waits for it any more; work that goes on has lost it."""
        self._let_go.set()
        left = self.tally.in_hand
        if not left:
            return True
        with ThreadPoolExecutor(min(_AT_ONCE, len(left)), thread_name_prefix="give-back") as threads:
            for claim, how in zip(left, threads.map(logs.carried(self._given_back), left), strict=True):
                self.tally.ended(claim, how)
        return False

    def _given_back(self, claim: Claim) -> str:
        try:
            self._queue.release(claim)
        except CocliError:  # its lease runs out
            return LOST
        return RELEASED


def tell_verdict(verdict: Verdict, seconds: float) -> None:
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


def _said(error: BaseException) -> str:
    message = error.message if isinstance(error, CocliError) else f"{type(error).__name__}: {error}"
    return message[:_MESSAGE_LENGTH]


def _unread(error: TooCostly) -> Failed:
    return Failed(error=TaskError(code=error.code, message=_said(error), retryable=False))


def _mistake(error: Exception) -> Failed:
    return Failed(error=TaskError(code="internal", message=_said(error), retryable=True))
