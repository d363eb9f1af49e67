"""Plans the seeding of an edition: what a datasource ever brought in, through the edition's graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.documents.replay.plan import ReplayPlan
from cocli.documents.replay.replay import plan_replay, random_job_id
from cocli.documents.replay.selection import DocumentQuery

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.documents.catalog.job_rows import Job
    from cocli.documents.graph.engine import Engine


def plan_seed(
    engine: Engine,
    account: str,
    datasource: str,
    *,
    rate: float | None = None,
    new_id: Callable[[], str] = random_job_id,
) -> Job:
    """The job that fills the engine's edition. One that was cut off is gone on with; after one that is done, another
    one finds nothing to do."""
    plan = ReplayPlan.of(engine, query=DocumentQuery(datasource=datasource), rate=rate)
    return plan_replay(engine, account, plan, kind="seed", new_id=new_id)
