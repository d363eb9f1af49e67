"""Runs jobs, and looks after them: begins, goes on, pauses, cancels, lists. What a job does is in its plan.

A job is run by one runner at a time, which renews its hold; if it dies, whoever comes after the hold has ended goes on
behind the last stretch that was written. Nothing of a stretch is written without all of it.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, cast

from cocli.documents.catalog.job_rows import Advance, DocumentOutcome, JobState, OutcomeRow
from cocli.documents.catalog.jobs import JobTable
from cocli.documents.places import DocumentPlace
from cocli.documents.replay.chunks import CHUNK, chunks, starting_rows
from cocli.documents.replay.crew import Alone, work_through
from cocli.documents.replay.glance import Glance
from cocli.documents.replay.plan import ReplayPlan, graph_digest
from cocli.documents.replay.work import NO_NODE
from cocli.errors import CocliError, CrewLost, JobBusy, JobError, LeaseLost, UnknownJob
from cocli.models.record import render_utc
from cocli.queue.runtime import Runtime, ThreadRuntime

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.documents.catalog.base import Memo
    from cocli.documents.catalog.job_rows import Advanced, Job, JobCursor
    from cocli.documents.catalog.sql import SqlCatalog
    from cocli.documents.graph.engine import Engine
    from cocli.documents.replay.chunks import Chunk
    from cocli.documents.replay.crew import ReplayCrew
    from cocli.documents.replay.work import ReplayWork
    from cocli.documents.repository import DocumentRepository

LEASE_SECONDS = 60.0
_RENEWALS = 3
OnProgress = Callable[["Job"], object]


def _unique_name() -> str:
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"


@dataclass(frozen=True, slots=True)
class Hold:
    """How a runner holds its job. A dead runner's job is taken over after `seconds`."""

    name: str = field(default_factory=_unique_name)
    seconds: float = LEASE_SECONDS
    runtime: Runtime = field(default_factory=ThreadRuntime)


# --- looking after jobs


def job_table(repository: DocumentRepository) -> JobTable:
    return JobTable(cast("SqlCatalog", repository.catalog))


def find_job(repository: DocumentRepository, account: str, job: str) -> Job:
    found = job_table(repository).find(account, job)
    if found is None:
        raise UnknownJob(job=job)
    return found


def list_jobs(
    repository: DocumentRepository, account: str, *, limit: int = 100, before: JobCursor | None = None
) -> list[Job]:
    """The latest first; with `before`, those behind the end of a page."""
    return job_table(repository).latest(account, limit, before)


def list_outcomes(
    repository: DocumentRepository,
    account: str,
    job: str,
    *,
    outcome: DocumentOutcome | None = None,
    after: OutcomeRow | None = None,
    limit: int = 100,
) -> list[OutcomeRow]:
    """In the order of the documents; the next page begins behind the last one of this page."""
    find_job(repository, account, job)
    return job_table(repository).outcomes(account, job, outcome=outcome, after=after, limit=limit)


def count_without_node(repository: DocumentRepository, account: str, job: str) -> dict[str, int]:
    """How many documents the graph of a job has no node for, by the datasource that brought them."""
    return job_table(repository).count_outcomes(account, job, DocumentOutcome.SKIPPED, NO_NODE)


def list_without_node(repository: DocumentRepository, account: str, job: str, limit: int) -> list[str]:
    """Which documents these are; the first of them."""
    found: list[str] = []
    after: OutcomeRow | None = None
    while len(found) < limit:
        rows = list_outcomes(repository, account, job, outcome=DocumentOutcome.SKIPPED, after=after, limit=1_000)
        found += [row.doc for row in rows if row.code == NO_NODE]
        if len(rows) < 1_000:
            break
        after = rows[-1]
    return found[:limit]


def pause_job(repository: DocumentRepository, account: str, job: str, *, clock: Callable[[], datetime]) -> Job:
    """Whoever runs it finishes what it has in hand and stops. `run_job` goes on."""
    return _stop(repository, account, job, JobState.PAUSED, clock)


def cancel_job(repository: DocumentRepository, account: str, job: str, *, clock: Callable[[], datetime]) -> Job:
    """As a pause, but for good. What was done stays."""
    return _stop(repository, account, job, JobState.CANCELLED, clock)


def _stop(
    repository: DocumentRepository, account: str, job: str, state: JobState, clock: Callable[[], datetime]
) -> Job:
    found = find_job(repository, account, job)
    if not job_table(repository).stop(account, job, state, clock()) and found.state is not state:
        raise JobError(job=job, reason=f"it is {found.state} already")
    return find_job(repository, account, job)


# --- running one


def run_job(
    engine: Engine,
    account: str,
    job: str,
    *,
    crew: ReplayCrew | None = None,
    on_progress: OnProgress | None = None,
    stop: threading.Event | None = None,
    hold: Hold | None = None,
    chunk: int = CHUNK,
) -> Job:
    """Run a job from where it stands to its end, or until it is paused, cancelled or `stop` is set (then: paused).

    A job that is done is returned as it is. `JobBusy` if somebody else runs it.
    """
    found = find_job(engine.repository, account, job)
    if found.state is JobState.DONE:
        return found
    runner = _Runner(engine, found, crew or Alone(engine), hold or Hold(), stop or threading.Event())
    runner.run(on_progress, chunk)
    return find_job(engine.repository, account, job)


class _Runner:
    def __init__(self, engine: Engine, job: Job, crew: ReplayCrew, hold: Hold, stop: threading.Event) -> None:
        self._engine = engine
        self._job = job
        self._crew = crew
        self._hold = hold
        self._stop = stop
        self._table = job_table(engine.repository)
        self._plan = ReplayPlan.parse(job.plan)
        self._glance = Glance(self._table, job.account, self._plan, engine.graph)
        self._stopping = False

    def run(self, on_progress: OnProgress | None, chunk: int) -> None:
        self._check()
        self._take()
        renewing = self._hold.runtime.every(self._hold.seconds / _RENEWALS, self._renew)
        try:
            self._work(on_progress, chunk)
        except LeaseLost:
            raise
        except CrewLost as error:
            lost = CrewLost(job=self._job.job, reason=error.details["reason"])  # who is lost does not know for what
            self._leave(JobState.FAILED, f"{lost.code}: {lost.message}")
            raise lost from error
        except CocliError as error:
            self._leave(JobState.FAILED, f"{error.code}: {error.message}")
            raise
        except KeyboardInterrupt:
            self._leave(JobState.PAUSED)
            raise
        except BaseException as error:
            self._leave(JobState.FAILED, f"{type(error).__name__}: {error}")
            raise
        else:
            self._leave(JobState.PAUSED if self._stopping else JobState.DONE)
        finally:
            renewing.stop()

    # --- whose it is

    def _check(self) -> None:
        if self._job.state.is_final:
            raise JobError(job=self._job.job, reason=f"it is {self._job.state}", hint="Plan a new one.")
        if (self._plan.graph_digest, self._plan.cluster) != (graph_digest(self._engine.graph), self._engine.edition):
            hint = "Plan a new one: what was done already and did not change will be skipped."
            raise JobError(job=self._job.job, reason="it was planned for another graph or edition", hint=hint)

    def _take(self) -> None:
        now = self._engine.clock()
        if not self._table.take(self._job.job, self._hold.name, now=now, until=self._until(now)):
            job = find_job(self._engine.repository, self._job.account, self._job.job)
            until = render_utc(job.held_until) if job.held_until else "?"
            raise JobBusy(job=job.job, holder=job.holder or "nobody", until=until)
        # Who held it before may have come further than when we looked.
        self._job = find_job(self._engine.repository, self._job.account, self._job.job)

    def _renew(self) -> bool:
        return self._table.renew(self._job.job, self._hold.name, self._until(self._engine.clock()))

    def _until(self, now: datetime) -> datetime:
        return now + timedelta(seconds=self._hold.seconds)

    def _leave(self, state: JobState, error: str | None = None) -> None:
        self._table.leave(self._job.job, self._hold.name, state, at=self._engine.clock(), error=error)

    # --- the work

    def _work(self, on_progress: OnProgress | None, chunk: int) -> None:
        for stretch, work in work_through(self._crew, self._plan, self._chunks(chunk)):
            advanced = self._write(stretch, work)
            self._bury(advanced)
            self._stopping = self._stopping or advanced.job.state is not JobState.RUNNING
            if on_progress is not None:
                on_progress(advanced.job)

    def _chunks(self, size: int) -> Iterator[Chunk]:
        """Until there are no more, or until it is time to stop; at most as many in a second as the plan allows."""
        rate, begun = self._plan.rate, self._hold.runtime.monotonic()
        rows = starting_rows(self._engine, self._job.account, self._plan, self._job.position)
        dealt = 0
        for chunk in chunks(rows, self._glance, min(size, max(1, int(rate))) if rate else size):
            if rate:
                self._stop.wait(max(0.0, begun + dealt / rate - self._hold.runtime.monotonic()))
            self._stopping = self._stopping or self._stop.is_set()
            if self._stopping:
                return
            dealt += len(chunk.waiting)
            yield chunk

    def _write(self, chunk: Chunk, work: ReplayWork) -> Advanced:
        at = self._engine.clock()
        results = dict(zip((row.state_key for row in chunk.waiting), work.results, strict=True))
        outcomes = []
        for row in chunk.rows:
            result = results.get(row.state_key)
            outcome = result.outcome if result else DocumentOutcome.SKIPPED
            said = (result.code, result.error) if result else (None, None)
            owner = (row.datasource, row.connector)
            where = (self._job.job, self._job.account, row.doc, row.address)
            outcomes.append(OutcomeRow(*where, outcome, at, *said, *owner))
        memos = [*work.memos, *self._memos(chunk, work, at)]
        stretch = Advance(chunk.position, outcomes, work.commits, memos)
        return self._table.advance(self._job, self._hold.name, self._until(at), stretch)

    def _memos(self, chunk: Chunk, work: ReplayWork, at: datetime) -> Iterator[Memo]:
        """Of documents that came through: with the states that they have now."""
        for row in (row for commit in work.commits for row in commit.rows):
            if row.cluster == self._plan.cluster and (row.doc, row.origin) in chunk.states:
                chunk.states[row.doc, row.origin][row.address] = row.digest
        for row, result in zip(chunk.waiting, work.results, strict=True):
            if result.outcome is not DocumentOutcome.FAILED and result.code != NO_NODE:
                yield self._glance.memo(row, chunk.states[row.doc, row.origin], at)

    def _bury(self, advanced: Advanced) -> None:
        """What was saved while its document was deleted goes the same way."""
        repository = self._engine.repository
        for row in (row for commit in advanced.refused for row in commit.rows):
            repository.tombstones.bury(
                DocumentPlace.of(repository.objects.prefix, row), by="deleted while it was saved"
            )
