"""Jobs: durable, one runner at a time, gone on with after whatever ended it."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest
from tests.kit.faulty_store import Fault, FaultKind, FaultyStore, Operation

from cocli.documents import Document
from cocli.documents.catalog.job_rows import DocumentOutcome, Job, JobState
from cocli.documents.graph.graph import Graph
from cocli.documents.graph.node import NodeContext
from cocli.documents.replay.jobs import (
    Hold,
    cancel_job,
    find_job,
    job_table,
    list_jobs,
    list_outcomes,
    pause_job,
    run_job,
)
from cocli.documents.replay.plan import ReplayPlan
from cocli.documents.replay.replay import plan_replay, preview_replay
from cocli.documents.replay.selection import DocumentQuery
from cocli.errors import JobBusy, JobError, LeaseLost, Unavailable, UnknownJob


def filled(world: Any, count: int = 10) -> Any:
    for number in range(count):
        world.repository.save(world.page(f"https://example.com/{number:03d}", http_status=200))
    return world


def hold(world: Any, name: str = "r1") -> Hold:
    return Hold(name, 60, world.time)


def start(world: Any, engine: Any, *, chunk: int = 3, runner: str = "r1", **options: Any) -> Job:
    job = plan_replay(engine, "acct", ReplayPlan.of(engine, **options))
    return run_job(engine, "acct", job.job, hold=hold(world, runner), chunk=chunk)


def test_a_job_takes_every_document_through_and_says_what_came_of_each(world: Any) -> None:
    def sometimes(document: Document, context: NodeContext) -> Document | None:
        if document.doc.endswith("3"):
            raise ValueError("no")
        return None if document.doc.endswith("4") else document.with_data("a", {"n": 1})

    engine = filled(world).engine(world.graph("intake>a", keep=("a",), a=sometimes))
    job = start(world, engine)
    assert (job.state, job.total, job.processed) == (JobState.DONE, 10, 10)
    assert (job.done, job.unchanged, job.skipped, job.failed) == (8, 1, 0, 1)
    assert job.started_at is not None
    assert job.finished_at is not None
    assert job.holder is None
    outcomes = list_outcomes(world.repository, "acct", job.job)
    assert [one.doc[-3:] for one in outcomes] == [f"{number:03d}" for number in range(10)]
    (failed,) = list_outcomes(world.repository, "acct", job.job, outcome=DocumentOutcome.FAILED)
    assert (failed.doc[-1], failed.code) == ("3", "node_failed")
    assert "ValueError: no" in (failed.error or "")
    assert len(list(engine.quarantine.entries("acct"))) == 1
    again = start(world, engine)
    assert (again.skipped, again.failed) == (9, 1), "what failed is tried again"


def test_outcomes_come_page_by_page(world: Any) -> None:
    engine = filled(world).engine(world.graph("intake>a", keep=("a",)))
    job = start(world, engine)
    seen, after = [], None
    while page := list_outcomes(world.repository, "acct", job.job, after=after, limit=3):
        seen += [one.doc for one in page]
        after = page[-1]
    assert len(seen) == len(set(seen)) == 10


def test_a_dry_run_writes_nothing_and_counts_what_would_be_skipped(world: Any) -> None:
    engine = filled(world).engine(world.graph("intake>a", keep=("a",)))
    plan = ReplayPlan.of(engine)
    store = dict(world.store.counts)
    forecast = preview_replay(engine, "acct", plan)
    assert (forecast.documents, forecast.skipped, forecast.to_do) == (10, 0, 10)
    assert (dict(world.store.counts), list_jobs(world.repository, "acct")) == (store, [])
    start(world, engine)
    world.repository.save(world.page("https://example.com/new"))
    forecast = preview_replay(engine, "acct", plan)
    assert (forecast.documents, forecast.skipped, forecast.to_do) == (11, 10, 1)


def test_a_job_that_is_paused_stops_after_what_it_has_in_hand_and_goes_on_there(world: Any) -> None:
    seen: list[str] = []

    def a(document: Document, context: NodeContext) -> Document:
        seen.append(document.doc)
        if len(seen) == 4:
            pause_job(world.repository, "acct", job.job, clock=world.time.now)
        return document

    engine = filled(world).engine(world.graph("intake>a", keep=("a",), a=a))
    job = plan_replay(engine, "acct", ReplayPlan.of(engine))
    paused = run_job(engine, "acct", job.job, hold=hold(world), chunk=3)
    assert (paused.state, paused.done, len(seen)) == (JobState.PAUSED, 6, 6)
    assert plan_replay(engine, "acct", ReplayPlan.of(engine)).job == job.job, "planned again, it is the same job"
    done = run_job(engine, "acct", job.job, hold=hold(world), chunk=3)
    assert (done.state, done.done, len(seen), len(set(seen))) == (JobState.DONE, 10, 10, 10)
    assert done.processed == 10, "what was done before is not looked at again"
    assert run_job(engine, "acct", job.job).state is JobState.DONE, "what is done is done"


def test_a_stop_pauses(world: Any) -> None:
    engine = filled(world).engine(world.graph("intake>a", keep=("a",)))
    job = plan_replay(engine, "acct", ReplayPlan.of(engine))
    stop = threading.Event()
    paused = run_job(engine, "acct", job.job, hold=hold(world), chunk=3, stop=stop, on_progress=lambda job: stop.set())
    assert (paused.state, paused.done) == (JobState.PAUSED, 3)


def test_a_cancelled_job_is_not_run_again(world: Any) -> None:
    engine = filled(world).engine(world.graph("intake>a", keep=("a",)))
    job = plan_replay(engine, "acct", ReplayPlan.of(engine))
    assert cancel_job(world.repository, "acct", job.job, clock=world.time.now).state is JobState.CANCELLED
    with pytest.raises(JobError, match="cancelled"):
        run_job(engine, "acct", job.job)
    with pytest.raises(JobError, match="cancelled already"):
        pause_job(world.repository, "acct", job.job, clock=world.time.now)
    assert plan_replay(engine, "acct", ReplayPlan.of(engine)).job != job.job


def test_one_runner_at_a_time_and_a_dead_one_is_followed(world: Any) -> None:
    engine = filled(world).engine(world.graph("intake>a", keep=("a",)))
    job = plan_replay(engine, "acct", ReplayPlan.of(engine))
    table = job_table(world.repository)
    now = world.time.now()
    assert table.take(job.job, "dead", now=now, until=now.replace(minute=1))
    with pytest.raises(JobBusy, match="dead"):
        run_job(engine, "acct", job.job, hold=hold(world))
    world.time.pass_by(61)
    assert run_job(engine, "acct", job.job, hold=hold(world)).state is JobState.DONE


def test_who_lost_the_job_writes_nothing_more(world: Any) -> None:
    engine = filled(world).engine(world.graph("intake>a", keep=("a",)))
    job = plan_replay(engine, "acct", ReplayPlan.of(engine))
    table = job_table(world.repository)

    def overtaken(job: Job) -> None:
        world.time.pass_by(61, renewing=False)
        now = world.time.now()
        assert table.take(job.job, "other", now=now, until=now.replace(minute=59))

    with pytest.raises(LeaseLost):
        run_job(engine, "acct", job.job, hold=hold(world), chunk=3, on_progress=overtaken)
    left = find_job(world.repository, "acct", job.job)
    assert (left.holder, left.state, left.done) == ("other", JobState.RUNNING, 3)
    assert len(world.states()) == 3
    world.time.pass_by(3600)
    done = run_job(engine, "acct", job.job, hold=hold(world), chunk=3)
    assert (done.done, len(world.states())) == (10, 10), "what had no row is adopted, and counted once"


def test_long_work_is_renewed(world: Any) -> None:
    def slow(document: Document, context: NodeContext) -> Document:
        world.time.pass_by(50)
        return document

    engine = filled(world, 4).engine(world.graph("intake>a", keep=("a",), a=slow))
    job = plan_replay(engine, "acct", ReplayPlan.of(engine))
    seen = []
    run_job(engine, "acct", job.job, hold=hold(world), on_progress=lambda job: seen.append(job.held_until))
    assert find_job(world.repository, "acct", job.job).state is JobState.DONE
    assert seen[0] > world.time.now()


def test_a_store_that_fails_stops_the_job_and_not_the_documents(make_world: Any) -> None:
    down = [False]

    def plan(operation: Operation) -> Fault | None:
        is_hit = down[0] and operation.name == "put" and "005" in operation.key
        return Fault(FaultKind.ERROR) if is_hit else None

    world = filled(make_world(wrap=lambda inner: FaultyStore(inner, plan)))
    engine = world.engine(world.graph("intake>a", keep=("a",)))
    job = plan_replay(engine, "acct", ReplayPlan.of(engine))
    down[0] = True
    with pytest.raises(Unavailable):
        run_job(engine, "acct", job.job, hold=hold(world), chunk=3)
    failed = find_job(world.repository, "acct", job.job)
    assert (failed.state, failed.done, failed.failed, failed.holder) == (JobState.FAILED, 3, 0, None)
    assert "unavailable" in (failed.error or "")
    down[0] = False
    done = run_job(engine, "acct", job.job, hold=hold(world), chunk=3)
    assert (done.state, done.done, done.error) == (JobState.DONE, 10, None)


def test_an_error_that_may_pass_is_tried_again_and_then_put_aside(world: Any) -> None:
    calls: list[str] = []

    def a(document: Document, context: NodeContext) -> Document:
        calls.append(document.doc[-1])
        if document.doc.endswith("1") or (document.doc.endswith("2") and calls.count("2") == 1):
            raise Unavailable(store="s3", reason="no answer")
        return document

    engine = filled(world, 4).engine(world.graph("intake>a", keep=("a",), a=a))
    job = start(world, engine)
    assert (job.done, job.failed) == (3, 1)
    assert [calls.count(name) for name in "0123"] == [1, 2, 2, 1]
    (entry,) = engine.quarantine.entries("acct")
    assert entry.retryable


def test_the_rate_is_kept(world: Any) -> None:
    class Waiting(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            world.time.seconds += timeout or 0
            return False

    engine = filled(world).engine(world.graph("intake>a", keep=("a",)))
    job = plan_replay(engine, "acct", ReplayPlan.of(engine, rate=2.0))
    began = world.time.seconds
    assert run_job(engine, "acct", job.job, hold=hold(world), stop=Waiting()).done == 10
    assert world.time.seconds - began == pytest.approx(4.0)
    again = plan_replay(engine, "acct", ReplayPlan.of(engine, rate=2.0))
    began = world.time.seconds
    assert run_job(engine, "acct", again.job, hold=hold(world), stop=Waiting()).skipped == 10
    assert world.time.seconds == began, "what is skipped costs nothing"


def test_a_job_is_of_one_account_and_one_graph(world: Any) -> None:
    engine = filled(world).engine(world.graph("intake>a", keep=("a",)))
    job = plan_replay(engine, "acct", ReplayPlan.of(engine))
    for look in (find_job, list_outcomes):
        with pytest.raises(UnknownJob):
            look(world.repository, "other", job.job)
    with pytest.raises(UnknownJob):
        run_job(engine, "other", job.job)
    with pytest.raises(UnknownJob):
        cancel_job(world.repository, "other", job.job, clock=world.time.now)
    assert list_jobs(world.repository, "other") == []
    assert preview_replay(engine, "other", ReplayPlan.of(engine)).documents == 0
    changed = Graph("g", [replace(node, version="2") for node in engine.graph.nodes], engine.graph.edges)
    with pytest.raises(JobError, match="another graph"):
        run_job(world.engine(changed), "acct", job.job)


def test_a_document_that_is_deleted_meanwhile_is_not_brought_back(world: Any) -> None:
    def a(document: Document, context: NodeContext) -> Document:
        if document.doc.endswith("1"):
            world.repository.delete("acct", document.doc)
        return document.with_data("a", {"n": 1})

    engine = filled(world, 3).engine(world.graph("intake>a", keep=("a",), a=a))
    start(world, engine)
    assert sorted(doc[-1] for doc, _ in world.states()) == ["0", "2"]
    rows = world.repository.states("acct", "https://example.com/001", deleted=True)
    assert all(row.deleted_at is not None for row in rows)


def test_purging_a_document_removes_its_outcomes(world: Any) -> None:
    engine = filled(world, 3).engine(world.graph("intake>a", keep=("a",)))
    job = start(world, engine)
    world.repository.purge("acct", "https://example.com/001")
    assert [one.doc[-1] for one in list_outcomes(world.repository, "acct", job.job)] == ["0", "2"]


def test_a_query_chooses_the_documents(world: Any) -> None:
    filled(world, 3)
    world.time.pass_by(3600)
    world.repository.save(world.page("https://other.example/", http_status=404, mime_type="text/html"))
    engine = world.engine(world.graph("intake>a"))

    def found(**said: Any) -> int:
        return preview_replay(engine, "acct", ReplayPlan.of(engine, query=DocumentQuery(**said))).documents

    noon = world.time.now().replace(minute=30, hour=0)
    assert found() == 4
    assert found(doc="https://other.example/") == 1
    assert found(uri_prefix="https://example.com/") == 3
    assert (found(http_status=200), found(http_status=404), found(http_status=500)) == (3, 1, 0)
    assert (found(saved_from=noon), found(saved_before=noon)) == (1, 3)
    assert (found(content_type="text/html"), found(content_type="image/")) == (1, 0)
    datasource = world.page().datasource
    assert (found(datasource=datasource), found(datasource="elsewhere")) == (4, 0)
