"""The queue on Amazon SQS: messages carry the tasks, the campaign's store keeps what became of them.

A message is a task's record; its visibility timeout is the lease. Completions and sidelined tasks are the same objects
under the same keys as those of the queue on a store, and the message is deleted only after they are written: a crash in
between is finished by whoever receives the message next.

A standard queue delivers a message twice now and then, and SQS has no fencing number. So the token is the number of
times that the message was received (more if a note of the task says so), and what makes a result single is the
completion: it is created if absent, so the first one is the result. A worker whose visibility has run out by its own
clock is refused at ack if it cannot renew it; where it cannot know, the first completion wins.

What waits in SQS cannot be listed. Where people want to see it (`listed`), a copy of each task lies in the store while
it waits: for looking only, nobody claims it.
"""

from __future__ import annotations

import math
import random
import secrets
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from cocli import logs
from cocli.errors import FormatError, LeaseLost, NotFound, QueueError, QueueUnusable, Unavailable
from cocli.formats import json_records
from cocli.keys.resources import resource_name
from cocli.models.campaign import LEASE_SECONDS
from cocli.models.task import Task, TaskError
from cocli.queue.base import AckOutcome, Category, NewTask, PutOutcome, PutReport, TaskPlace
from cocli.queue.custody import HISTORY, HoldingQueue, always_open
from cocli.queue.keeper import LeaseKeeper
from cocli.queue.leased.census import QueueCensus
from cocli.queue.leased.queue import default_worker
from cocli.queue.leased.sideline import Sideline
from cocli.queue.leased.statistics import Statistics
from cocli.queue.leased.tally import NoTally, Tally
from cocli.queue.places import Places
from cocli.queue.runtime import ThreadRuntime
from cocli.queue.sqs.connection import LONGEST_POLL, LONGEST_VISIBILITY, ReceiptExpired, SqsConnection
from cocli.queue.sqs.messages import ListedOutbox, Outbox, task_of
from cocli.queue.sqs.notes import Notes, SqsClaim
from cocli.queue.sqs.sifting import MessageSift
from cocli.queue.sqs.submission import SqsPutter
from cocli.store import settled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cocli.models.lease import Lease
    from cocli.models.task import Attempt
    from cocli.queue.base import Claim, QueueStats, TaskView
    from cocli.queue.leased.claim import LeasedClaim
    from cocli.queue.runtime import Runtime
    from cocli.queue.sqs.connection import SqsMessage
    from cocli.queue.sqs.sifting import Sifted
    from cocli.store.base import Store

_LOG = logs.get_logger(__name__)

_TIDY_SECONDS = 600.0
_RAW_LIMIT = 100_000
POLL_SECONDS = 10
"""How long a claim waits for a task. Long enough to cost little, short enough for a worker that is asked to stop."""


def queue_name(campaign: str, name: str) -> str:
    return resource_name(name, campaign)


class SqsQueue(HoldingQueue[SqsClaim]):
    """One queue of one campaign on SQS. Safe to share between threads."""

    _claim_type = SqsClaim
    _seconds: int

    def __init__(
        self,
        store: Store,
        campaign: str,
        name: str,
        *,
        connection: SqsConnection,
        worker: str | None = None,
        lease_seconds: float = LEASE_SECONDS,
        attempts: int = 5,
        poll_seconds: int = POLL_SECONDS,
        listed: bool = False,
        runtime: Runtime | None = None,
        rng: random.Random | None = None,
        gate: Callable[[], None] = always_open,
        counted: bool = False,
    ) -> None:
        """`counted`: what has ended is told in a tally, so that whoever counts need not list it."""
        if lease_seconds > LONGEST_VISIBILITY:
            reason = f"queue.lease_seconds is {lease_seconds:g}, and SQS allows {LONGEST_VISIBILITY} (12 hours) at most"
            raise QueueUnusable(provider="sqs", reason=reason, hint="Set lease_seconds under [queue] to less.")
        self.campaign = campaign
        self.name = name
        self.worker = worker or default_worker()
        self._store = store
        self._gate = gate
        self._connection = connection
        self._attempts = attempts
        self._seconds = math.ceil(lease_seconds)
        self._poll = max(0, min(poll_seconds, LONGEST_POLL))
        self._runtime = runtime or ThreadRuntime()
        self._random = rng or random.Random(secrets.randbits(64))  # noqa: S311 - for spreading, not for secrets
        self._tidied_at = self._runtime.monotonic()
        self._places = Places(campaign, name)
        self._keeper = LeaseKeeper(self._runtime, self._renew_kept, lease_seconds=self._seconds)
        self._notes = Notes(store, self._places, self._nonce)
        expiry = timedelta(seconds=self._seconds)
        self._outbox = ListedOutbox(connection, store, self._places) if listed else Outbox(connection)
        self._tally, census = NoTally(), None
        if counted:
            self._tally = Tally(store, campaign, name, self.worker, self._runtime, self._nonce)
            census = QueueCensus(store, self._places, campaign, name, expiry, self._nonce, self._runtime.monotonic)
        self._sideline = Sideline(
            store, self._places, self._nonce, settled_after=expiry, requeue=self._send_again, tally=self._tally
        )
        self._statistics = Statistics(store, self._places, name, expiry, census)
        self._putter = SqsPutter(
            store, self._places, campaign, name, self._nonce, outbox=self._outbox, runtime=self._runtime
        )

    def connect(self) -> None:
        """Make sure that the queue is there, instead of finding out later."""
        self._connection.open()

    # --- putting

    def put(self, task: NewTask) -> PutOutcome:
        return self._putter.put(task)

    def put_many(self, tasks: Iterable[NewTask]) -> PutReport:
        return self._putter.put_many(tasks)

    # --- claiming

    def claim(self) -> SqsClaim | None:
        """A task to work on, or None if none came while we waited."""
        while True:
            self._gate()
            # The visibility counts from some moment of the poll, we count from its start: where that makes a difference
            # (`_is_ours`), a renewal proves that the task is still ours.
            asked_at = self._runtime.monotonic()
            message = self._connection.receive(visibility=self._seconds, wait=self._poll)
            if message is None:
                self._tidy()
                return None
            claim = self._take(message, asked_at)
            if claim is not None and self._is_ours(claim):
                return claim

    def _take(self, message: SqsMessage, asked_at: float) -> SqsClaim | None:
        task: Task | None = None
        noted: tuple[Lease, str] | None = None
        try:
            task = task_of(message, self._places, self.campaign, self.name)
            if message.receives > 1 or task.recoveries:
                noted = self._notes.read(task)
        except FormatError as error:
            self._set_aside_malformed(message, task, error)
            return None
        # A first delivery can only be a repeated put: whether it is completed costs one look. Later ones may have
        # ended anywhere.
        again = message.receives > 1
        has_ended = self._sideline.is_final(task) if again else self._is_completed(task)
        if has_ended:
            self._tell(_LOG, "message dropped: its task had ended", task.task_id, receives=message.receives)
            self._drop(message, task, noted=again)
            return None
        claim = self._claim(message, task, noted, asked_at)
        if claim.attempt > self._attempts:
            last = claim.lease.error.message if claim.lease.error else "its worker fell silent"
            reason = f"{self._attempts} attempts did not finish it; last: {last}"
            self._aside(claim, Category.ATTEMPTS, reason, claim.lease.history)
            return None
        self._tell(_LOG, "claim won", task.task_id, token=claim.token, attempt=claim.attempt)
        return claim

    def _claim(self, message: SqsMessage, task: Task, noted: tuple[Lease, str] | None, asked_at: float) -> SqsClaim:
        now = self._store.now()
        note, etag = noted or (None, "")
        lease = self._notes.start(task, message.receives, note, now)
        finished = {item.item_id: item for item in lease.finished}
        return SqsClaim(
            task=task,
            token=lease.token,
            attempt=lease.attempt,
            worker=self.worker,
            claimed_at=now,
            finished=finished,
            kept=len(finished),
            written=lease,
            etag=etag,
            task_etag="",
            written_at=asked_at,
            received_at=asked_at,
            message=message,
        )

    def _is_completed(self, task: Task) -> bool:
        try:
            self._store.get(self._places.completion(task.task_id, batch=bool(task.items)))
        except NotFound:
            return False
        return True

    def _drop(self, message: SqsMessage, task: Task | None, *, noted: bool) -> None:
        """A message whose task has ended: it goes, and so does what was noted of it."""
        if task is not None:
            self._outbox.forget(task.task_id)
            if noted:
                self._notes.remove(task)
        with suppress(Unavailable):  # its end is written down: whoever receives it next drops it
            self._connection.delete(message.receipt)

    def _tidy(self) -> None:
        """Now and then, when there is nothing to do: a slow worker may have finished what others had given up."""
        if self._runtime.monotonic() - self._tidied_at > _TIDY_SECONDS:
            self._tidied_at = self._runtime.monotonic()
            self._sideline.tidy()

    # --- holding

    def _renew(self, claim: SqsClaim) -> None:
        with claim.writing:
            self._check(claim)
            asked_at = self._runtime.monotonic()
            self._show_after(claim, self._seconds)
            claim.written_at = asked_at
            if len(claim.finished) > claim.kept:
                self._notes.keep_items(claim, self._seconds)
        self._tell(_LOG, "visibility renewed", claim.task.task_id, token=claim.token)

    def _renew_kept(self, claim: LeasedClaim) -> None:
        """For the keeper, which knows two answers: the task is lost, or the request may be repeated."""
        try:
            self._renew(self._ours(claim))
        except Unavailable:
            if self._runtime.monotonic() - claim.written_at > self._seconds:
                raise self._lost(claim, "its visibility ran out, and SQS cannot be reached") from None
            raise
        except LeaseLost:
            raise
        except QueueError as error:
            raise self._lost(claim, error.message) from error

    def _show_after(self, claim: SqsClaim, seconds: float) -> None:
        """Nobody else sees the message for so long. `LeaseLost` if somebody does already."""
        left = LONGEST_VISIBILITY - (self._runtime.monotonic() - claim.received_at) - 1
        if left < 0:
            raise self._lost(claim, "SQS gives a message back after 12 hours")
        try:
            self._connection.change_visibility(claim.message.receipt, math.ceil(min(seconds, left)))
        except ReceiptExpired as error:
            raise self._lost(claim, f"its visibility ran out ({error})") from error

    def _lost(self, claim: Claim, reason: str) -> LeaseLost:
        claim.lost = True
        return super()._lost(claim, reason)

    # --- ending

    def _complete(self, claim: SqsClaim, data: bytes, *, batch: bool) -> AckOutcome:
        self._make_sure(claim)
        with self._tally.change() as change:
            created = settled.create(self._store, self._places.completion(claim.task.task_id, batch=batch), data)
            change.complete(created is not None)
            if claim.token > 1:
                # Others may have given up what we finished: a result is worth more than their reason.
                change.doubt()
                self._store.delete_many(self._places.sidelines(claim.task.task_id))
        self._end(claim)
        outcome = AckOutcome.ALREADY_COMPLETED if created is None else AckOutcome.COMPLETED
        self._tell(_LOG, "task ended", claim.task.task_id, outcome=outcome, token=claim.token, attempt=claim.attempt)
        return outcome

    def _end(self, claim: SqsClaim) -> None:
        claim.over = True
        self._drop(claim.message, claim.task, noted=bool(claim.etag))

    def _give_back(
        self, claim: SqsClaim, outcome: Literal["failed", "released"], error: TaskError | None, seconds: float
    ) -> None:
        self._make_sure(claim)
        # The note first: once the message can be seen, its next receiver looks for it.
        self._notes.give_back(claim, self._attempt(claim, outcome, error), error)
        self._show_after(claim, seconds)
        claim.over = True
        self._tell(_LOG, "task given back", claim.task.task_id, outcome=outcome, wait_seconds=round(seconds, 1))

    # --- setting aside

    def _set_aside(
        self, claim: SqsClaim, category: Category, reason: str, error: TaskError | None = None
    ) -> AckOutcome:
        self._make_sure(claim)
        if self._is_completed(claim.task):
            self._end(claim)
            return AckOutcome.ALREADY_COMPLETED
        outcome: Literal["failed", "blocked"] = "blocked" if category is Category.BLOCKED else "failed"
        self._aside(claim, category, reason, (*claim.lease.history, self._attempt(claim, outcome, error)))
        return AckOutcome.SIDELINED

    def _aside(self, claim: SqsClaim, category: Category, reason: str, history: Iterable[Attempt]) -> None:
        task = claim.task.with_changes(last_token=claim.token)
        self._sideline.add(task, category, reason, tuple(history)[-HISTORY:], self._store.now())
        self._tell(_LOG, "task set aside", task.task_id, category=category, reason=reason)
        self._end(claim)

    def _set_aside_malformed(self, message: SqsMessage, task: Task | None, error: FormatError) -> None:
        """A message without a task of ours: its text is kept under the message's id, with what is wrong with it."""
        extra = {"campaign": self.campaign, "queue": self.name, "message_id": message.message_id}
        _LOG.warning("a message holds no task of ours and is set aside: %s", error.message, extra=extra)
        now = self._store.now()
        placeholder = Task(
            task_id=task.task_id if task else f"sqs-{message.message_id}",
            queue=self.name,
            campaign=self.campaign,
            payload={"raw": {"message": message.body[:_RAW_LIMIT].encode("utf-8", "backslashreplace").decode()}},
            created_at=now,
            nonce=self._nonce(),
        )
        self._sideline.add(placeholder, Category.MALFORMED, error.message, (), now)
        self._drop(message, task, noted=True)

    # --- looking after

    def sift(self, goes: Callable[[str], bool]) -> Sifted:
        """Look through all messages that wait, and remove those whose text `goes`. What has ended is in the store."""
        return MessageSift(self._connection, self._note_look).run(goes)

    def _note_look(self, message: SqsMessage) -> None:
        """Somebody looked at a message, and nothing else: that is no attempt."""
        try:
            task = task_of(message, self._places, self.campaign, self.name)
            noted = self._notes.read(task)
        except FormatError:
            return  # no task of ours: whoever claims it sets it aside
        claim = self._claim(message, task, noted, self._runtime.monotonic())
        with suppress(LeaseLost):  # a worker has it by now, and its note holds
            self._notes.give_back(claim, self._attempt(claim, "released", None), None)

    def waiting(self) -> int:
        """About how many messages there are, as SQS counts them."""
        return sum(self._connection.numbers("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"))

    def _send_again(self, back: Task) -> str:
        """Back from the sideline. A crash before its entry goes leaves both; the message carries the later life."""
        self._outbox.send([(back.task_id, json_records.render(back))])
        return "recovered"

    def stats(self) -> QueueStats:
        """Messages as SQS counts them, approximately; what has ended as tallies tell, or a listing shows."""
        visible, taken, delayed = self._connection.numbers(
            "ApproximateNumberOfMessages",
            "ApproximateNumberOfMessagesNotVisible",
            "ApproximateNumberOfMessagesDelayed",
        )
        self._tally.tell()
        ended = self._statistics.stats()
        return replace(ended, pending=visible + taken + delayed, leased=taken, expired=None, oldest=None)

    def inspect(self, task_id: str) -> TaskView:
        view = super().inspect(task_id)
        if set(view.states) & {TaskPlace.COMPLETED, TaskPlace.SIDELINED}:
            return view
        blind = f"SQS cannot be asked for one task: whether it waits in {self._connection.queue_name} is not known"
        problems = filter(None, (view.problem, blind))
        return replace(view, problem="; ".join(problems))

    def close(self) -> None:
        self._keeper.close()
        try:
            self._tally.close()
        finally:
            self._connection.close()
