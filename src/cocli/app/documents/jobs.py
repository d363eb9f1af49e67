"""Replay, seeding and comparison for people and services: which graph, over which documents, into which edition."""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from cocli.documents.graph.engine import Engine
from cocli.documents.graph.node import INTAKE
from cocli.documents.ids import check_parts
from cocli.documents.replay import jobs, replay, seed
from cocli.documents.replay.compare import EXAMPLES, compare_documents, compare_editions
from cocli.documents.replay.engines.workplace import Workplace, make_graph
from cocli.documents.replay.plan import ReplayPlan
from cocli.documents.replay.selection import DocumentQuery
from cocli.errors import UsageError
from cocli.keys.identities import datasource_id
from cocli.models.record import explain
from cocli.pipeline.nodes import PIPELINE
from cocli.pipeline.websites.fetch.capture import CONNECTOR
from cocli.pipeline.websites.site.document import VisitedPage, sites_without_visit, visit_document
from cocli.pipeline.websites.site.place import site_doc
from cocli.store.kinds import store_kind

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Mapping

    from cocli.app.documents.documents import Documents
    from cocli.documents import Document
    from cocli.documents.catalog.job_rows import DocumentOutcome, Job, JobCursor, OutcomeRow
    from cocli.documents.replay.compare import Comparison, DocumentComparison
    from cocli.documents.replay.crew import ReplayCrew
    from cocli.documents.replay.replay import Forecast

MAX_JOBS = 256
LAST = "last"
ALL = DocumentQuery()
DEFAULT_GRAPH = PIPELINE
"""The graph where no other one is named: that of the pipeline."""


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """`graph` is `package.module:function`; `edition` where the states are saved, the configured one if not said."""

    query: DocumentQuery = ALL
    start: str = INTAKE
    source: str | None = None
    edition: str | None = None
    graph: str | None = None
    memo: bool = True
    rate: float | None = None


def query_of(values: Mapping[str, object]) -> DocumentQuery:
    """A query from values of unknown origin; what is None or empty is not asked for."""
    for name in ("doc", "datasource"):
        if values.get(name):
            check_parts(**{name: str(values[name])})
    try:
        return DocumentQuery.model_validate({name: value for name, value in values.items() if value})
    except ValidationError as error:
        raise UsageError(reason=f"the query makes no sense: {explain(error)}") from error


def engine_of(documents: Documents, options: ReplayOptions) -> Engine:
    edition = documents.edition if options.edition is None else options.edition
    for name in (edition, options.source):
        if name is not None:
            check_parts(cluster=name)
            if name == INTAKE:
                raise UsageError(reason="an edition may not be called intake: that is the folder of what came in")
    if options.rate is not None and not (options.rate > 0 and math.isfinite(options.rate)):
        raise UsageError(reason=f"a rate is a number of documents in a second, not {options.rate}")
    graph = make_graph(options.graph or DEFAULT_GRAPH, {})
    return Engine(graph, documents.repository, edition=edition, clock=documents.store.now)


def _plan(engine: Engine, options: ReplayOptions) -> ReplayPlan:
    return ReplayPlan.of(
        engine, query=options.query, start=options.start, source=options.source, memo=options.memo, rate=options.rate
    )


def forecast(documents: Documents, options: ReplayOptions) -> Forecast:
    """What a replay would find. Nothing is written."""
    engine = engine_of(documents, options)
    found = replay.preview_replay(engine, documents.account, _plan(engine, options))
    return replace(found, documents=found.documents + sum(1 for _ in older_visits(documents, options)))


def plan(documents: Documents, options: ReplayOptions) -> Job:
    """The job of a replay; one of the same plan that is not done yet is gone on with."""
    engine = engine_of(documents, options)
    for visit in older_visits(documents, options):
        documents.repository.save(visit)
    return replay.plan_replay(engine, documents.account, _plan(engine, options))


def older_visits(documents: Documents, options: ReplayOptions) -> Iterator[Document]:
    """The visits of sites that were read before a visit was a document of its own, as far as the query is for them."""
    if options.start != INTAKE or options.query.datasource not in (None, datasource_id(documents.account, CONNECTOR)):
        return
    repository, account = documents.repository, documents.account
    for site in sites_without_visit(repository, account, documents.edition):
        doc, query = site_doc(site.state.domain), options.query
        if query.doc in (None, doc) and doc.startswith(query.doc_prefix or ""):
            pages = [VisitedPage.of(kept) for kept in site.pages(repository)]
            yield visit_document(account, site.state, pages, at=site.saved_at)


def plan_seed(documents: Documents, options: ReplayOptions, datasource: str) -> Job:
    check_parts(datasource=datasource)
    return seed.plan_seed(engine_of(documents, options), documents.account, datasource, rate=options.rate)


def run(
    documents: Documents,
    job: str,
    options: ReplayOptions,
    *,
    processes: int = 1,
    ray: str | None = None,
    on_progress: Callable[[Job], object] | None = None,
    stop: threading.Event | None = None,
) -> Job:
    """Run a job to its end, or until it is paused. `ray` is the address of a Ray cluster, empty for one of its own."""
    found = jobs.find_job(documents.repository, documents.account, job)
    if options.edition is None:
        options = ReplayOptions(graph=options.graph, edition=found.cluster)
    engine = engine_of(documents, options)
    with _crew(documents, engine, options, processes, ray) as crew:
        return jobs.run_job(engine, documents.account, job, crew=crew, on_progress=on_progress, stop=stop)


@contextmanager
def _crew(
    documents: Documents, engine: Engine, options: ReplayOptions, processes: int, ray: str | None
) -> Iterator[ReplayCrew | None]:
    if processes == 1 and ray is None:
        yield None
        return
    if not 1 <= processes <= MAX_JOBS:
        raise UsageError(reason=f"there may be 1 to {MAX_JOBS} processes, not {processes}")
    if not store_kind(documents.store_address).is_shared:
        raise UsageError(reason="a store in memory cannot be shared with other processes")
    workplace = Workplace(
        store=documents.store_address,
        catalog=documents.catalog_address,
        factory=options.graph or DEFAULT_GRAPH,
        edition=engine.edition,
        prefix=documents.section.prefix,
        inline_limit=documents.section.inline_limit,
        subscriptions=documents.repository.subscriptions,
    )
    if ray is not None:
        from cocli.documents.replay.engines.ray import RayCrew

        with RayCrew(workplace, jobs=processes, address=ray or None) as crew:
            yield crew
        return
    from cocli.documents.replay.engines.processes import ProcessCrew

    with ProcessCrew(workplace, jobs=processes) as crew:
        yield crew


# --- looking after jobs


def job_of(documents: Documents, job: str) -> Job:
    """By its id; `last` is the one that was planned last."""
    if job == LAST and (latest := jobs_of(documents, 1)):
        return latest[0]
    return jobs.find_job(documents.repository, documents.account, job)


def jobs_of(documents: Documents, limit: int, before: JobCursor | None = None) -> list[Job]:
    return jobs.list_jobs(documents.repository, documents.account, limit=limit, before=before)


def without_node(documents: Documents, job: Job, limit: int = EXAMPLES) -> tuple[int, list[str]]:
    """How many documents of a job no node of its graph takes, and the first of them."""
    where = documents.repository, documents.account, job.job
    return sum(jobs.count_without_node(*where).values()), jobs.list_without_node(*where, limit)


def pause(documents: Documents, job: str) -> Job:
    return jobs.pause_job(documents.repository, documents.account, job, clock=documents.store.now)


def cancel(documents: Documents, job: str) -> Job:
    return jobs.cancel_job(documents.repository, documents.account, job, clock=documents.store.now)


def outcomes_of(documents: Documents, job: str, outcome: DocumentOutcome | None, limit: int) -> list[OutcomeRow]:
    return jobs.list_outcomes(documents.repository, documents.account, job, outcome=outcome, limit=limit)


# --- comparison


def compare(
    documents: Documents,
    left: str,
    right: str,
    *,
    datasource: str | None = None,
    doc: str | None = None,
    examples: int = EXAMPLES,
) -> Comparison:
    """Two editions summed up, field by field."""
    return compare_editions(**_sides(documents, left, right, datasource, doc), examples=examples)


def compare_each(
    documents: Documents, left: str, right: str, *, datasource: str | None = None, doc: str | None = None
) -> Iterator[DocumentComparison]:
    """Document by document."""
    return compare_documents(**_sides(documents, left, right, datasource, doc))


def _sides(documents: Documents, left: str, right: str, datasource: str | None, doc: str | None) -> dict[str, Any]:
    check_parts(cluster=left)
    check_parts(cluster=right)
    query_of({"datasource": datasource, "doc": doc})
    return {
        "repository": documents.repository,
        "account": documents.account,
        "left": left,
        "right": right,
        "datasource": datasource,
        "doc": doc,
    }
