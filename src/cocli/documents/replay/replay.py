"""Plans a replay: everything that was fetched, or a part of it, through a graph again. `jobs` runs it.

The intake is read and never written. A step whose input and code did not change is not done again, and what does not
change is neither written nor told of.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.documents.catalog.job_rows import Job, JobState
from cocli.documents.replay.chunks import starting_rows
from cocli.documents.replay.glance import Glance
from cocli.documents.replay.jobs import job_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.documents.catalog.job_rows import JobKind
    from cocli.documents.graph.engine import Engine
    from cocli.documents.replay.plan import ReplayPlan


@dataclass(frozen=True, slots=True)
class Forecast:
    """Of `documents` in all, `skipped` went through this very graph before: nothing would be done with them."""

    documents: int
    skipped: int

    @property
    def to_do(self) -> int:
        return self.documents - self.skipped


def random_job_id() -> str:
    return secrets.token_hex(8)


def preview_replay(engine: Engine, account: str, plan: ReplayPlan) -> Forecast:
    """What a job of this plan would find. Nothing is written, and no document is read."""
    glance = Glance(job_table(engine.repository), account, plan, engine.graph)
    documents = skipped = 0
    for rows in starting_rows(engine, account, plan):
        documents += len(rows)
        skipped += len(glance.look(rows).done)
    return Forecast(documents, skipped)


def plan_replay(
    engine: Engine,
    account: str,
    plan: ReplayPlan,
    *,
    kind: JobKind = "replay",
    new_id: Callable[[], str] = random_job_id,
) -> Job:
    """The job of a plan, to be run by `run_job`. One of the same plan that is not done yet is gone on with."""
    table = job_table(engine.repository)
    there = table.unfinished(account, kind, plan.text())
    if there is not None:
        return there
    total = sum(len(rows) for rows in starting_rows(engine, account, plan))
    job = Job(new_id(), account, kind, engine.edition, plan.text(), JobState.PLANNED, total, engine.clock())
    table.add(job)
    return job
