"""What a queue is, whichever provider keeps it: put, claim, ack, and what each of them can lead to.

    claim = queue.claim()
    with queue.held(claim) as work:          # renews the lease while the block runs
        result = do(claim.task, work)        # work.check() raises LeaseLost once it is lost
    queue.ack(claim, Ok(result=result))

A task ends with a typed verdict: `Ok` and `Empty` complete it, `Blocked` and a final `Failed` set it aside, a
retryable `Failed` sends it back to wait. Whoever lost the lease cannot end the task any more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime, timedelta

    from pydantic import JsonValue

    from cocli.errors import CocliError
    from cocli.models.completion import Blocked, Completion, Empty, Failed, ItemCompletion, Ok
    from cocli.models.document import DocumentReference
    from cocli.models.lease import Lease
    from cocli.models.task import Sidelined, Task, TaskItem

    Verdict = Ok | Empty | Blocked | Failed


class TaskPlace(StrEnum):
    """Where a task is. Once its steps are finished it is in exactly one place."""

    PENDING = "pending"
    COMPLETED = "completed"
    SIDELINED = "sidelined"


class PutOutcome(StrEnum):
    QUEUED = "queued"
    ALREADY_PENDING = "already_pending"
    ALREADY_COMPLETED = "already_completed"
    ALREADY_SIDELINED = "already_sidelined"


class AckOutcome(StrEnum):
    COMPLETED = "completed"
    ALREADY_COMPLETED = "already_completed"
    WAITING = "waiting"
    """It failed, and will be tried again."""
    SIDELINED = "sidelined"


class Category(StrEnum):
    """Why a task was set aside. A person may use other words, in the same alphabet."""

    BLOCKED = "blocked"
    FAILED = "failed"
    ATTEMPTS = "attempts"
    """The last attempt failed, or its worker fell silent."""
    MALFORMED = "malformed"
    MANUAL = "manual"


@dataclass(frozen=True, slots=True)
class NewTask:
    """What is to be done, before a queue has it."""

    task_id: str
    payload: Mapping[str, JsonValue] = field(default_factory=dict)
    document: DocumentReference | None = None
    items: Sequence[TaskItem] = ()


@dataclass(slots=True)
class Claim:
    """A task in somebody's hands. `token` is its fencing number; `finished` are the items a predecessor completed."""

    task: Task
    token: int
    attempt: int
    worker: str
    claimed_at: datetime
    finished: dict[str, ItemCompletion] = field(default_factory=dict)
    lost: bool = False

    @property
    def remaining(self) -> list[TaskItem]:
        """The items of a batch that are still to be done."""
        return [item for item in self.task.items if item.item_id not in self.finished]


class Work(Protocol):
    """The hold on a claim while work goes on."""

    def check(self) -> None:
        """Raise `LeaseLost` if somebody else has the task now: a good moment to stop."""
        ...


@dataclass(frozen=True, slots=True)
class PutReport:
    """What `put_many` did, by outcome."""

    counts: Mapping[PutOutcome, int]

    @property
    def queued(self) -> int:
        return self.counts.get(PutOutcome.QUEUED, 0)


@dataclass(frozen=True, slots=True)
class Recovered:
    """What `recover` did with one task."""

    task_id: str
    category: str
    outcome: str
    """`recovered`, `would_recover`, `already_pending`, `already_completed`, or why it was skipped."""


@dataclass(frozen=True, slots=True)
class QueueStats:
    """A queue at a glance. What a provider cannot tell is None."""

    queue: str
    pending: int
    leased: int
    expired: int | None
    completed: int | None
    sidelined: Mapping[str, int]
    oldest: datetime | None = None
    completed_recently: int | None = None
    recent: timedelta | None = None
    as_of: datetime | None = None
    """While somebody works on a large queue: when those who do had told what they did. None: now."""

    @property
    def waiting(self) -> int:
        """Tasks that nobody works on."""
        return self.pending - self.leased

    @property
    def rate(self) -> float | None:
        """Completions per minute, lately."""
        if self.completed_recently is None or not self.recent:
            return None
        return self.completed_recently / (self.recent.total_seconds() / 60)

    @property
    def minutes_left(self) -> float | None:
        rate = self.rate
        return self.pending / rate if rate else None


@dataclass(frozen=True, slots=True)
class TaskView:
    """All that is known of one task, for people."""

    task_id: str
    states: Sequence[TaskPlace]
    task: Task | None = None
    lease: Lease | None = None
    completion: Completion | None = None
    items: Sequence[ItemCompletion] = ()
    sidelined: Sidelined | None = None
    problem: str | None = None


class Queue(Protocol):
    """One queue of one campaign. Safe to share between threads."""

    campaign: str
    name: str
    ends_together: ClassVar[bool]
    """Whether `ack_many` takes as few round trips and synchronisations for many as for one, whatever the verdicts."""

    def put(self, task: NewTask) -> PutOutcome: ...

    def put_many(self, tasks: Iterable[NewTask]) -> PutReport: ...

    def claim(self) -> Claim | None:
        """A task to work on, or None if there is none now."""
        ...

    def claim_many(self, limit: int) -> Sequence[Claim]:
        """Up to so many tasks, each a claim of its own, with as few round trips and synchronisations as one."""
        ...

    def held(self, claim: Claim, on_lost: Callable[[], None] | None = None) -> AbstractContextManager[Work]:
        """Renew the lease in the background for as long as the block runs; `on_lost` is called once it is lost."""
        ...

    def finish_item(self, claim: Claim, item_id: str, verdict: Verdict) -> None:
        """Note how one item of a batch ended. It is kept with the next renewal, and not done again after a crash."""
        ...

    def ack(self, claim: Claim, verdict: Verdict) -> AckOutcome:
        """End the claim. `LeaseLost` if somebody else has the task now."""
        ...

    def ack_many(self, ended: Sequence[tuple[Claim, Verdict]]) -> Sequence[AckOutcome | CocliError]:
        """End many claims together. A failure (`LeaseLost`, an error of the store) stands where its outcome would."""
        ...

    def ack_and_claim(self, claim: Claim, verdict: Verdict) -> tuple[AckOutcome, Claim | None]:
        """`ack` and `claim` in one, for a worker that goes on: the two are under way at the same time."""
        ...

    def ack_batch(self, claim: Claim) -> AckOutcome:
        """End a batch whose items are all finished."""
        ...

    def release(self, claim: Claim) -> None:
        """Give the task back unfinished, without counting an attempt."""
        ...

    def recover(
        self, *, category: str | None = None, task_ids: Iterable[str] | None = None, dry_run: bool = False
    ) -> list[Recovered]:
        """Bring tasks back from the sideline with fresh attempts."""
        ...

    def stats(self) -> QueueStats: ...

    def inspect(self, task_id: str) -> TaskView: ...

    def close(self) -> None:
        """Finish what is still to be written."""
        ...
