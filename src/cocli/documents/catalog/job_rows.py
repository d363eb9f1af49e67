"""A job and the outcome of one document in it, as the catalogue keeps them. Who runs a job is in `documents.replay`."""

from __future__ import annotations

from dataclasses import astuple, dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

from cocli.documents.catalog.base import parts_of, token_of
from cocli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cocli.documents.catalog.base import Memo
    from cocli.documents.outbox import Event
    from cocli.models.document import PipeDoc

JobKind = Literal["replay", "seed"]


class JobState(StrEnum):
    PLANNED = "planned"
    RUNNING = "running"
    """Somebody runs it, or did and died: then whoever comes next takes it over."""
    PAUSED = "paused"
    DONE = "done"
    """Every document has its outcome, failures included."""
    FAILED = "failed"
    """The runner could not go on (disk full, no access); it can be run again."""
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        return self in (JobState.DONE, JobState.CANCELLED)


class DocumentOutcome(StrEnum):
    """What a job has made of one document."""

    DONE = "done"
    """At least one state was written."""
    UNCHANGED = "unchanged"
    """Nodes ran, and made what was there already."""
    SKIPPED = "skipped"
    """Nothing ran: the same input and the same code as before."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Job:
    """`plan` is JSON, and the graph's business; `position` is the cursor's token."""

    job: str
    account: str
    kind: JobKind
    cluster: str
    plan: str
    state: JobState
    total: int
    planned_at: datetime
    position: str | None = None
    done: int = 0
    unchanged: int = 0
    skipped: int = 0
    failed: int = 0
    holder: str | None = None
    held_until: datetime | None = None
    error: str | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None

    @property
    def processed(self) -> int:
        return self.done + self.unchanged + self.skipped + self.failed


@dataclass(frozen=True, slots=True)
class JobCursor:
    """Where a page of jobs ended; the latest come first."""

    planned_at: datetime
    job: str

    def token(self) -> str:
        return token_of([self.planned_at.isoformat(), self.job])

    @classmethod
    def parse(cls, token: str) -> JobCursor:
        planned_at, job = parts_of(token, 2)
        try:
            moment = datetime.fromisoformat(str(planned_at))
        except ValueError as error:
            raise UsageError(reason="this is no page of a listing") from error
        if moment.tzinfo is None:
            raise UsageError(reason="this is no page of a listing")
        return cls(moment, str(job))


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    job: str
    account: str
    doc: str
    address: str
    outcome: DocumentOutcome
    at: datetime
    code: str | None = None
    error: str | None = None
    datasource: str = ""
    connector: str = ""


@dataclass(frozen=True, slots=True)
class Commit:
    """What `Catalog.commit` was asked for, to be done later together with others."""

    rows: Sequence[PipeDoc]
    events: Sequence[Event]
    intake: str | None


@dataclass(frozen=True, slots=True)
class Advance:
    """Everything that a stretch of a job came to. It is written in one transaction, or not at all."""

    position: str
    outcomes: Sequence[OutcomeRow]
    commits: Sequence[Commit] = ()
    memos: Sequence[Memo] = ()


@dataclass(frozen=True, slots=True)
class Advanced:
    """The job as it is now; `refused` are the commits whose documents were deleted meanwhile."""

    job: Job
    refused: Sequence[Commit] = field(default=())


JOB = tuple(column.name for column in fields(Job))
OUTCOME = tuple(column.name for column in fields(OutcomeRow))
_JOB_TIMES = ("planned_at", "held_until", "started_at", "finished_at")


def job_values(job: Job, write: Callable[[datetime], object]) -> dict[str, object]:
    values: dict[str, object] = dict(zip(JOB, astuple(job), strict=True))
    for name in _JOB_TIMES:
        moment = values[name]
        values[name] = write(moment) if isinstance(moment, datetime) else None
    return values | {"state": str(job.state)}


def read_job(columns: Sequence[Any], read: Callable[[Any], datetime]) -> Job:
    values = dict(zip(JOB, columns, strict=True))
    times = {name: read(values[name]) for name in _JOB_TIMES if values[name] is not None}
    return Job(**values | times | {"state": JobState(values["state"])})


def outcome_values(outcome: OutcomeRow, at: object) -> dict[str, object]:
    """`at` is its moment as the database writes it: the outcomes of a stretch share one."""
    return {
        "job": outcome.job,
        "account": outcome.account,
        "doc": outcome.doc,
        "address": outcome.address,
        "outcome": outcome.outcome.value,
        "at": at,
        "code": outcome.code,
        "error": outcome.error,
        "datasource": outcome.datasource,
        "connector": outcome.connector,
    }


def read_outcome(columns: Sequence[Any], read: Callable[[Any], datetime]) -> OutcomeRow:
    values = dict(zip(OUTCOME, columns, strict=True))
    return OutcomeRow(**values | {"at": read(values["at"]), "outcome": DocumentOutcome(values["outcome"])})
