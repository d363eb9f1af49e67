"""The tables of jobs on both databases: one runner at a time, and a stretch is written whole or not at all."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from cocli.documents import Document, DocumentRepository, Memo
from cocli.documents.catalog.job_rows import Advance, DocumentOutcome, Job, JobState, OutcomeRow
from cocli.documents.catalog.jobs import JobTable
from cocli.documents.catalog.sql import SqlCatalog
from cocli.documents.subscriptions import EVERYBODY
from cocli.errors import LeaseLost
from cocli.store.memory import MemoryStore

MINUTE = timedelta(minutes=1)


def planned(clock: Any, name: str = "j1", **values: Any) -> Job:
    return Job(name, "acct", "replay", "prod", '{"a": 1}', JobState.PLANNED, 2, clock(), **values)


def outcome(clock: Any, doc: str, what: DocumentOutcome = DocumentOutcome.DONE, job: str = "j1") -> OutcomeRow:
    return OutcomeRow(job, "acct", doc, "ds", what, clock(), "code", "says: 100 % :colon {brace}")


def test_a_job_is_kept_as_it_is(any_catalog: SqlCatalog, clock: Any) -> None:
    table, job = JobTable(any_catalog), planned(clock)
    table.add(job)
    table.add(planned(clock, "j2"))
    assert table.find("acct", "j1") == job
    assert table.find("other", "j1") is None
    assert [one.job for one in table.latest("acct", 10)] == ["j2", "j1"]
    found = table.unfinished("acct", "replay", job.plan)
    assert found is not None
    assert found.job == "j2"
    assert table.unfinished("acct", "seed", job.plan) is None
    assert table.unfinished("acct", "replay", "{}") is None


def test_one_holds_it_until_it_is_left_or_given_up(any_catalog: SqlCatalog, clock: Any) -> None:
    table = JobTable(any_catalog)
    table.add(planned(clock))
    now = clock()
    assert table.take("j1", "a", now=now, until=now + MINUTE)
    assert not table.take("j1", "b", now=now + MINUTE / 2, until=now + 2 * MINUTE)
    assert table.renew("j1", "a", now + 3 * MINUTE)
    assert not table.take("j1", "b", now=now + 2 * MINUTE, until=now + 5 * MINUTE)
    assert table.take("j1", "b", now=now + 4 * MINUTE, until=now + 5 * MINUTE)
    assert not table.renew("j1", "a", now + 9 * MINUTE)
    table.leave("j1", "a", JobState.DONE, at=now)
    job = table.find("acct", "j1")
    assert job is not None
    assert (job.state, job.holder, job.started_at) == (JobState.RUNNING, "b", now)
    table.leave("j1", "b", JobState.DONE, at=now + MINUTE)
    job = table.find("acct", "j1")
    assert job is not None
    assert (job.state, job.holder, job.finished_at) == (JobState.DONE, None, now + MINUTE)
    assert not table.take("j1", "c", now=now + 9 * MINUTE, until=now + 10 * MINUTE)
    assert not table.stop("acct", "j1", JobState.PAUSED, now)


def test_a_pause_outlives_the_runner(any_catalog: SqlCatalog, clock: Any) -> None:
    table = JobTable(any_catalog)
    table.add(planned(clock))
    now = clock()
    table.take("j1", "a", now=now, until=now + MINUTE)
    assert not table.stop("other", "j1", JobState.PAUSED, now)
    assert table.stop("acct", "j1", JobState.PAUSED, now)
    table.leave("j1", "a", JobState.DONE, at=now)
    job = table.find("acct", "j1")
    assert job is not None
    assert (job.state, job.finished_at) == (JobState.PAUSED, None)
    assert table.take("j1", "a", now=now, until=now + MINUTE)


def test_a_stretch_is_written_whole_or_not_at_all(any_catalog: SqlCatalog, clock: Any) -> None:
    table = JobTable(any_catalog)
    job = planned(clock)
    table.add(job)
    now = clock()
    table.take("j1", "a", now=now, until=now + MINUTE)
    memo = Memo("acct", "d1", "~intake", "prod", "1" * 64, "2" * 64, "3" * 64, now, "o")
    stretch = Advance("p1", [outcome(clock, "d1"), outcome(clock, "d2", DocumentOutcome.FAILED)], memos=[memo])
    advanced = table.advance(job, "a", now + MINUTE, stretch).job
    assert (advanced.position, advanced.done, advanced.failed, advanced.processed) == ("p1", 1, 1, 2)
    assert table.memos("acct", "prod", "~intake", "2" * 64, first="d0", last="d9") == {("d1", "o", "1" * 64): "3" * 64}
    with pytest.raises(LeaseLost):
        table.advance(job, "b", now + MINUTE, Advance("p2", [outcome(clock, "d3")]))
    found = table.outcomes("acct", "j1", outcome=None, after=None, limit=10)
    assert [(one.doc, one.outcome, one.error) for one in found] == [
        ("d1", "done", "says: 100 % :colon {brace}"),
        ("d2", "failed", "says: 100 % :colon {brace}"),
    ]
    assert [one.doc for one in table.outcomes("acct", "j1", outcome=None, after=found[0], limit=10)] == ["d2"]
    (failed,) = table.outcomes("acct", "j1", outcome=DocumentOutcome.FAILED, after=None, limit=10)
    assert failed.doc == "d2"
    any_catalog.forget("acct", "d1")
    assert [one.doc for one in table.outcomes("acct", "j1", outcome=None, after=None, limit=10)] == ["d2"]


def test_the_digests_of_a_range_of_documents(any_catalog: SqlCatalog, clock: Any) -> None:
    repository = DocumentRepository(MemoryStore(clock=clock), any_catalog, clock=clock, subscriptions=EVERYBODY)
    for doc in ("d1", "d2", "d3"):
        page = Document.intake(account="acct", connector="web", doc=doc)
        repository.save(page)
        repository.save(page.at("a", "prod").with_data("a", {"doc": doc}))
    repository.delete("acct", "d3")
    table = JobTable(any_catalog)
    expected = {(row.doc, row.origin): {"a": row.digest} for row in repository.documents("acct", cluster="prod").items}
    assert {doc for doc, _ in expected} == {"d1", "d2"}
    assert table.digests("acct", "prod", "d1", "d3") == expected
    assert table.digests("acct", "prod", "d1", "d1") == {
        key: states for key, states in expected.items() if key[0] == "d1"
    }
    assert table.digests("other", "prod", "d1", "d3") == {}
