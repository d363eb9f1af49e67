"""What the providers share once a worker holds a task: proving that it still does, ending the task, batches, care.

A provider says how a claim is renewed, completed, given back and set aside. This module says what follows from a
verdict.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, NamedTuple, TypeVar

from cocli import logs
from cocli.errors import CocliError, HostEvicted, LeaseLost, QueueError, StoreError, UsageError
from cocli.formats import json_records
from cocli.formats.json_form import JsonForm
from cocli.formats.moment_text import moment_texts
from cocli.models.completion import Blocked, Completion, Empty, Failed, Ok
from cocli.models.task import Attempt, TaskError
from cocli.queue import batches
from cocli.queue.base import AckOutcome, Category, PutOutcome
from cocli.queue.leased.claim import LeasedClaim
from cocli.retries import Backoff

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager

    from cocli.queue.base import Claim, NewTask, Recovered, TaskView, Verdict
    from cocli.queue.keeper import Holding, LeaseKeeper
    from cocli.queue.leased.sideline import Sideline
    from cocli.queue.leased.statistics import Statistics
    from cocli.queue.runtime import Runtime
    from cocli.store.base import Store

_LOG = logs.get_logger(__name__)

C = TypeVar("C", bound=LeasedClaim)

HISTORY = 20
"""Attempts that are remembered with a lease."""
_SAFE_SHARE = 0.8
"""Of a lease's length: younger than this by our own clock, it cannot have been taken over. Clocks drift less."""
RENEWALS = 5
"""Before a claim is given up that is too old again after each of them."""
_BACKOFF = Backoff(first=30.0, longest=3600.0)
_CHECKPOINT_SECONDS = 5.0
_CLOCK_SECONDS = 1.0


@cache
def _plain_ok() -> str:
    """How the text of a verdict begins that has nothing but a result."""
    return json_records.text(vars(Ok())).removesuffix("{}}")


def verdict_text(verdict: Ok | Empty) -> str:
    """A verdict as it stands in a completion. Most have nothing but a result, and the rest of their text is known."""
    if type(verdict) is Ok and verdict.count is None and not verdict.documents:
        return f"{_plain_ok()}{json_records.text(verdict.result)}}}"
    return json_records.text(vars(verdict))


class WhyAside(NamedTuple):
    """Why a task is set aside."""

    category: Category
    reason: str
    error: TaskError | None = None


def always_open() -> None:
    """The gate of a queue that nobody is kept from."""


class HoldingQueue(ABC, Generic[C]):
    """The half of a queue that begins with a claim."""

    campaign: str
    name: str
    worker: str
    _claim_type: type[C]
    _store: Store
    _runtime: Runtime
    _random: random.Random
    _keeper: LeaseKeeper
    _sideline: Sideline
    _statistics: Statistics
    _seconds: float
    """How long a claim is ours without a renewal."""
    _attempts: int
    _gate: Callable[[], None]
    """Raises `HostEvicted` where this machine may not work any more."""
    ends_together: ClassVar[bool] = False
    NO_NONCE: ClassVar = "0" * 24
    """Stands in a form where the nonce of each record goes."""
    _asked: tuple[float, datetime] | None = None
    _last_moment: tuple[datetime | None, str] = (None, "")

    @abstractmethod
    def put(self, task: NewTask) -> PutOutcome: ...

    @abstractmethod
    def claim(self) -> C | None: ...

    @abstractmethod
    def _renew(self, claim: C) -> None:
        """Renew now, and write down which items are finished. `LeaseLost` if somebody else has the task."""

    @abstractmethod
    def _complete(self, claim: C, data: bytes, *, batch: bool) -> AckOutcome:
        """Create the completion, once, and let go of the task."""

    @abstractmethod
    def _give_back(
        self, claim: C, outcome: Literal["failed", "released"], error: TaskError | None, seconds: float
    ) -> None:
        """Let others have the task, after so many seconds."""

    @abstractmethod
    def _set_aside(self, claim: C, category: Category, reason: str, error: TaskError | None = None) -> AckOutcome:
        """Keep the task on the sideline, and let go of it."""

    def claim_many(self, limit: int) -> list[C]:
        """Up to so many tasks; one, where a provider cannot ask for more without waiting for them."""
        if limit < 1:
            return []
        claim = self.claim()
        return [] if claim is None else [claim]

    # --- holding

    def held(self, claim: Claim, on_lost: Callable[[], None] | None = None) -> AbstractContextManager[Holding]:
        """Renew in the background for as long as the block runs; `on_lost` is called once the task is lost."""
        return self._keeper.hold(self._ours(claim), on_lost)

    def renew(self, claim: Claim) -> None:
        """Renew now. `LeaseLost` if somebody else has the task."""
        self._renew(self._ours(claim))

    def _ours(self, claim: Claim) -> C:
        if not isinstance(claim, self._claim_type):
            raise TypeError("the claim is of another provider's queue")
        return claim

    def _check(self, claim: C) -> None:
        if claim.lost or claim.over:
            raise self._lost(claim, "the claim is over")
        try:
            self._gate()
        except HostEvicted as error:
            claim.lost = True
            raise self._lost(claim, error.message) from error

    def _make_sure(self, claim: C) -> None:
        """Prove, before a claim is ended, that it is still ours: by our own clock, or else by a renewal."""
        self._check(claim)
        if self._is_young(claim):
            return
        # More than once, because the renewal itself may take longer than a lease (a closed lid, a store that hangs).
        for _ in range(RENEWALS):
            if self._is_young(claim):
                return
            self._renew(claim)
        raise self._lost(claim, f"the store takes longer to answer than a lease lasts ({self._seconds:g} s)")

    def _is_young(self, claim: C) -> bool:
        """Whether nobody can have taken it over: by our own clock."""
        return self._runtime.monotonic() - claim.written_at <= self._seconds * _SAFE_SHARE

    def _is_ours(self, claim: C) -> bool:
        """Whether a fresh claim is worth handing out: the way here may have taken longer than the lease."""
        try:
            self._make_sure(claim)
        except LeaseLost:
            return False
        return True

    def _lost(self, claim: Claim, reason: str) -> LeaseLost:
        self._tell(_LOG, "lease lost", claim.task.task_id, reason=reason, token=claim.token)
        return LeaseLost(queue=self.name, worker=self.worker, task_id=claim.task.task_id, reason=reason)

    # --- ending

    def ack(self, claim: Claim, verdict: Verdict) -> AckOutcome:
        """End a claim. Nothing that is not a result becomes a completion."""
        mine = self._ours(claim)
        with mine.writing:
            aside = self._why_aside(mine, verdict)
            if aside is not None:
                return self._set_aside(mine, *aside)
            if isinstance(verdict, Failed):
                self._give_back(mine, "failed", verdict.error, self._backoff(mine.attempt))
                return AckOutcome.WAITING
            if not isinstance(verdict, (Ok, Empty)):
                raise TypeError(f"a task ends with a verdict, not with {type(verdict).__name__}")
            return self._complete(mine, self._completion(mine, verdict), batch=False)

    def ack_many(self, ended: Sequence[tuple[Claim, Verdict]]) -> list[AckOutcome | CocliError]:
        """End many claims. A failure stands where its outcome would."""
        return [self._ack_or_error(claim, verdict) for claim, verdict in ended]

    def _ack_or_error(self, claim: Claim, verdict: Verdict) -> AckOutcome | CocliError:
        try:
            return self.ack(claim, verdict)
        except (QueueError, StoreError) as error:
            return error

    def ack_and_claim(self, claim: Claim, verdict: Verdict) -> tuple[AckOutcome, C | None]:
        """End a claim and take the next task. Providers that can do both at once do."""
        outcome = self.ack(claim, verdict)
        try:
            return outcome, self.claim()
        except (QueueError, StoreError, HostEvicted):
            return outcome, None  # the end is written, and must be told; the next claim meets the error again

    def _completion(self, claim: C, verdict: Ok | Empty, now: datetime | None = None) -> bytes:
        """`now` is what the store's clock said since the work was done, where it was asked already."""
        claimed_at, finished_at = claim.claimed_at, now or self._store.now()
        began = self._moment(claimed_at)
        return self._ended_task.fill(
            str(claim.attempt),
            began,
            self._moment(finished_at if finished_at > claimed_at else claimed_at),
            f'"{self._nonce()}"',
            json_records.text(claim.task.task_id),
            str(claim.token),
            verdict_text(verdict),
        )

    def _moment(self, at: datetime) -> str:
        """A time as JSON. The last one is remembered: a task is often taken in the moment in which another ends."""
        known, text = self._last_moment
        if known is not at:
            text = self._moment_text(at)
            self._last_moment = at, text
        return text

    @cached_property
    def _moment_text(self) -> Callable[[datetime], str]:
        return moment_texts()

    @cached_property
    def _ended_task(self) -> JsonForm:
        """The completion of a task that we held."""
        never = datetime.min.replace(tzinfo=UTC)
        example = Completion(
            task_id="…",
            queue=self.name,
            campaign=self.campaign,
            verdict=Ok(),
            token=1,
            attempt=1,
            worker=self.worker,
            claimed_at=never,
            finished_at=never,
            nonce=self.NO_NONCE,
        )
        return JsonForm(example, "attempt", "claimed_at", "finished_at", "nonce", "task_id", "token", "verdict")

    def _why_aside(self, claim: C, verdict: Verdict) -> WhyAside | None:
        """Why a task that ends so is set aside; None if it is not."""
        if isinstance(verdict, Blocked):
            return WhyAside(Category.BLOCKED, verdict.reason)
        if not isinstance(verdict, Failed):
            return None
        error = verdict.error
        reason = f"{error.code}: {error.message}"
        if not error.retryable:
            return WhyAside(Category.FAILED, reason, error)
        if claim.attempt >= self._attempts:
            return WhyAside(Category.ATTEMPTS, f"attempt {claim.attempt}: {reason}", error)
        return None

    def release(self, claim: Claim) -> None:
        """Give the task back at once, without counting an attempt."""
        mine = self._ours(claim)
        with mine.writing:
            self._give_back(mine, "released", None, 0.0)

    def sideline(self, claim: Claim, category: Category, reason: str) -> None:
        """Set a task aside that we hold."""
        mine = self._ours(claim)
        with mine.writing:
            self._set_aside(mine, category, reason)

    def _attempt(self, claim: C, outcome: Literal["failed", "released", "blocked"], error: TaskError | None) -> Attempt:
        now = self._store.now()
        return Attempt(
            attempt=claim.attempt, token=claim.token, worker=self.worker, ended_at=now, outcome=outcome, error=error
        )

    def _backoff(self, attempt: int) -> float:
        return _BACKOFF.seconds(attempt, self._random)

    # --- batches

    def finish_item(self, claim: Claim, item_id: str, verdict: Verdict) -> None:
        """Note how one item of a batch ended; now and then this is written down."""
        mine = self._ours(claim)
        if item_id not in mine.item_ids:
            raise UsageError(reason=f'Task {mine.task.task_id} has no item "{item_id}".')
        with mine.writing:
            seconds = self._runtime.monotonic()
            mine.finished[item_id] = batches.item_completion(mine, item_id, verdict, self._about_now(seconds))
            if seconds - mine.written_at > _CHECKPOINT_SECONDS:
                self._renew(mine)

    def _about_now(self, seconds: float) -> datetime:
        """The store's clock, asked once a second: for what is told to people, never for what is decided."""
        asked_at, answered = self._asked or (seconds, self._store.now())
        if not 0 <= seconds - asked_at <= _CLOCK_SECONDS:
            asked_at, answered = seconds, self._store.now()
        self._asked = asked_at, answered
        return answered + timedelta(seconds=seconds - asked_at)

    def checkpoint(self, claim: Claim) -> None:
        """Write down now which items are finished."""
        mine = self._ours(claim)
        if len(mine.finished) > mine.kept:
            self._renew(mine)

    def ack_batch(self, claim: Claim) -> AckOutcome:
        """End a batch: one row per item. Items that may succeed next time are put again as a batch of their own."""
        mine = self._ours(claim)
        if mine.remaining:
            raise UsageError(reason=f"{len(mine.remaining)} items of {mine.task.task_id} are not finished.")
        with mine.writing:
            self._make_sure(mine)
            again = batches.to_try_again(mine)
            if again is not None and batches.lives(mine.task) < self._attempts:
                self.put(again)
            rows = [mine.finished[item.item_id] for item in mine.task.items]
            return self._complete(mine, batches.render_rows(rows), batch=True)

    def split(self, claim: Claim, parts: int = 2) -> AckOutcome:
        """Deal the unfinished items of a batch out to smaller ones, and end it."""
        mine = self._ours(claim)
        with mine.writing:
            self._make_sure(mine)
            for part in batches.parts_of(mine, parts):
                self.put(part)
                moved = Ok(result={"moved_to": part.task_id})
                for item in part.items:
                    mine.finished[item.item_id] = batches.item_completion(mine, item.item_id, moved, self._store.now())
            return self.ack_batch(mine)

    # --- looking after

    def recover(
        self, *, category: str | None = None, task_ids: Iterable[str] | None = None, dry_run: bool = False
    ) -> list[Recovered]:
        """Bring tasks back from the sideline with fresh attempts."""
        with logs.bound(campaign=self.campaign, queue=self.name):
            return self._sideline.recover(category=category, task_ids=task_ids, dry_run=dry_run)

    def inspect(self, task_id: str) -> TaskView:
        return self._statistics.inspect(task_id)

    def _tell(self, log: logging.Logger, message: str, task_id: str, **fields: object) -> None:
        """Log a decision about a task, for those who want to see every one."""
        if log.isEnabledFor(logging.DEBUG):
            about = {"campaign": self.campaign, "queue": self.name, "task": task_id, "worker": self.worker}
            log.debug(message, extra=about | fields, stacklevel=2)

    def _nonce(self) -> str:
        return self._random.getrandbits(96).to_bytes(12).hex()
