"""The tables of jobs, beside the others of a catalogue: one runner at a time, and how far it came.

A stretch of a job is one transaction: the rows and events of what was saved, the memos, the outcomes, the counts and
the position. Killed before it, nothing of it is known; killed after it, all of it is.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cocli.documents.catalog.job_rows import (
    Advanced,
    DocumentOutcome,
    JobState,
    job_values,
    outcome_values,
    read_job,
    read_outcome,
)
from cocli.errors import LeaseLost
from cocli.keys.identities import origin_id

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from cocli.documents.catalog.database import DatabaseSession
    from cocli.documents.catalog.job_rows import Advance, Job, JobCursor, JobKind, OutcomeRow
    from cocli.documents.catalog.sql import SqlCatalog


class JobTable:
    """The jobs of a catalogue. `holder` is a name that no two runners share."""

    def __init__(self, catalog: SqlCatalog) -> None:
        self._catalog = catalog
        self._database = catalog.database
        self._statements = catalog.database.statements

    # --- looking

    def find(self, account: str, job: str) -> Job | None:
        return self._one("read_job", {"account": account, "job": job})

    def unfinished(self, account: str, kind: JobKind, plan: str) -> Job | None:
        """The job of this very plan that is not done yet."""
        return self._one("unfinished_job", {"account": account, "kind": kind, "plan": plan})

    def latest(self, account: str, limit: int, before: JobCursor | None = None) -> list[Job]:
        """The latest first; with `before`, those behind the end of a page."""
        values: dict[str, object] = {"account": account, "limit": limit}
        name = "list_jobs"
        if before is not None:
            name = "list_jobs_before"
            values |= {"planned_at": self._database.write_time(before.planned_at), "job": before.job}
        with self._database.read() as session:
            rows = session.rows(self._statements[name], values)
        return [read_job(columns, self._database.read_time) for columns in rows]

    def outcomes(
        self, account: str, job: str, *, outcome: DocumentOutcome | None, after: OutcomeRow | None, limit: int
    ) -> list[OutcomeRow]:
        values = {"account": account, "job": job, "outcome": outcome or "", "limit": limit}
        for name in ("doc", "address", "datasource", "connector"):
            values[f"after_{name}"] = getattr(after, name) if after else ""
        with self._database.read() as session:
            rows = session.rows(self._statements["list_outcomes"], values)
        return [read_outcome(columns, self._database.read_time) for columns in rows]

    def count_outcomes(self, account: str, job: str, outcome: DocumentOutcome, code: str) -> dict[str, int]:
        """How many documents of a job ended so, by the address that they were taken from."""
        values = {"account": account, "job": job, "outcome": outcome.value, "code": code}
        with self._database.read() as session:
            return {
                str(address): int(count) for address, count in session.rows(self._statements["count_outcomes"], values)
            }

    def _one(self, name: str, values: Mapping[str, object]) -> Job | None:
        with self._database.read() as session:
            rows = session.rows(self._statements[name], values)
        if rows:
            return read_job(rows[0], self._database.read_time)
        return None

    # --- what a page of documents has, in two looks

    def digests(self, account: str, cluster: str, first: str, last: str) -> dict[tuple[str, str], dict[str, str]]:
        """Of every document between two ids, by id and origin: the digest of its state at each address of a cluster."""
        found: dict[tuple[str, str], dict[str, str]] = {}
        values = {"account": account, "cluster": cluster, "first": first, "last": last}
        with self._database.read() as session:
            for doc, connector, datasource, address, digest in session.rows(
                self._statements["digests_between"], values
            ):
                found.setdefault((doc, origin_id(connector, datasource)), {})[address] = digest
        return found

    def memos(
        self, account: str, cluster: str, node: str, code_digest: str, *, first: str, last: str
    ) -> dict[tuple[str, str, str], str | None]:
        """Outputs by document, origin and input, of one node and code."""
        values = {"account": account, "cluster": cluster, "node": node, "first": first, "last": last}
        values["code_digest"] = code_digest
        with self._database.read() as session:
            rows = session.rows(self._statements["memos_between"], values)
        return {(doc, origin, given): made for doc, origin, given, made in rows}

    # --- changing

    def add(self, job: Job) -> None:
        with self._database.transaction() as session:
            session.run(self._statements["add_job"], job_values(job, self._database.write_time))

    def take(self, job: str, holder: str, *, now: datetime, until: datetime) -> bool:
        """Become the one who runs it. False if somebody else does, or if there is nothing left to run."""
        write = self._database.write_time
        values = {"job": job, "holder": holder, "now": write(now), "until": write(until)}
        with self._database.transaction() as session:
            return session.run(self._statements["take_job"], values) == 1

    def renew(self, job: str, holder: str, until: datetime) -> bool:
        values = {"job": job, "holder": holder, "until": self._database.write_time(until)}
        with self._database.transaction() as session:
            return session.run(self._statements["renew_job"], values) == 1

    def advance(self, job: Job, holder: str, until: datetime, stretch: Advance) -> Advanced:
        """Write a stretch. `LeaseLost`, and nothing written, if the job is somebody else's by now."""
        counts = Counter(outcome.outcome for outcome in stretch.outcomes)
        values: dict[str, object] = {outcome.value: counts[outcome] for outcome in DocumentOutcome}
        values |= {"job": job.job, "holder": holder, "position": stretch.position}
        values["until"] = self._database.write_time(until)
        with self._database.transaction() as session:
            if session.run(self._statements["advance_job"], values) != 1:
                raise LeaseLost(worker=holder, task_id=job.job, reason="another runner took the job over")
            refused = self._catalog.write_in(session, stretch.commits, stretch.memos)
            self._add_outcomes(session, stretch)
            (found,) = session.rows(self._statements["read_job"], {"account": job.account, "job": job.job})
        return Advanced(read_job(found, self._database.read_time), refused)

    def _add_outcomes(self, session: DatabaseSession, stretch: Advance) -> None:
        written = {outcome.at: self._database.write_time(outcome.at) for outcome in stretch.outcomes}
        session.run_many(
            self._statements["add_outcome"],
            [outcome_values(outcome, written[outcome.at]) for outcome in stretch.outcomes],
        )

    def leave(self, job: str, holder: str, state: JobState, *, at: datetime, error: str | None = None) -> None:
        """Stop running it. A pause or an end that was asked for meanwhile is not overwritten."""
        finished = None
        if state in (JobState.DONE, JobState.FAILED):
            finished = self._database.write_time(at)
        values = {"job": job, "holder": holder, "state": state.value, "error": error, "finished_at": finished}
        with self._database.transaction() as session:
            session.run(self._statements["leave_job"], values)

    def stop(self, account: str, job: str, state: JobState, at: datetime) -> bool:
        """Pause or cancel: whoever runs it finishes what it has in hand. False if it has ended already."""
        finished = self._database.write_time(at) if state.is_final else None
        values = {"account": account, "job": job, "state": state.value, "finished_at": finished}
        with self._database.transaction() as session:
            return session.run(self._statements["stop_job"], values) == 1
