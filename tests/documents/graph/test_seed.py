"""Seeding a cluster: everything a datasource brought in; cut off, it goes on; done twice, it does nothing."""

from __future__ import annotations

from typing import Any

import pytest

from cocli.documents import Document, DocumentSource
from cocli.documents.catalog.job_rows import Job, JobState
from cocli.documents.replay.jobs import Hold, run_job
from cocli.documents.replay.seed import plan_seed


def ours(number: int, datasource: str) -> Document:
    doc = f"https://example.com/{datasource}/{number:03d}"
    return Document.intake(
        account="acct", connector="web", doc=doc, datasource=datasource, source=DocumentSource(uri=doc)
    )


def seed(world: Any, engine: Any, datasource: str = "ds-one") -> Job:
    job = plan_seed(engine, "acct", datasource)
    return run_job(engine, "acct", job.job, hold=Hold("r1", 60, world.time), chunk=4)


@pytest.fixture
def full(world: Any) -> Any:
    for number in range(10):
        for datasource in ("ds-one", "ds-two"):
            world.repository.save(ours(number, datasource))
    return world


def test_a_new_cluster_gets_what_the_datasource_has(full: Any) -> None:
    engine = full.engine(full.graph("intake>a", "a=>b", keep=("b",)), "fresh")
    job = seed(full, engine)
    assert (job.kind, job.state, job.total, job.done) == ("seed", JobState.DONE, 10, 10)
    states = full.states("fresh")
    assert len(states) == 20
    assert {document.datasource for document in states.values()} == {"ds-one"}


def test_seeding_twice_does_nothing_the_second_time(full: Any) -> None:
    engine = full.engine(full.graph("intake>a", "a=>b", keep=("b",)), "fresh")
    first = seed(full, engine)
    rows, told = full.rows(), full.catalog.scan_events(0, 10_000)
    full.store.counts.clear()
    second = seed(full, engine)
    assert second.job != first.job
    assert (second.done, second.skipped) == (0, 10)
    assert not full.store.counts
    assert (full.rows(), full.catalog.scan_events(0, 10_000)) == (rows, told)


def test_another_machine_that_seeds_the_same_cluster_writes_no_object(full: Any, make_world: Any) -> None:
    """Its catalogue is its own; the store says what is there already."""
    wanted = full.graph("intake>a", keep=("a",))
    seed(full, full.engine(wanted, "fresh"))
    other = make_world(full.objects)
    for number in range(10):
        other.repository.save(ours(number, "ds-one"))
    other.store.counts.clear()
    before = {key: full.objects.get(key).etag for key in full.documents()}
    seed(other, other.engine(wanted, "fresh"))
    assert {key: full.objects.get(key).etag for key in full.documents()} == before
    assert len(other.states("fresh")) == 10


def test_a_seed_that_was_cut_off_goes_on(full: Any) -> None:
    seen: list[str] = []

    def a(document: Document, context: Any) -> Document:
        seen.append(document.doc)
        if len(seen) == 6:
            raise KeyboardInterrupt
        return document

    engine = full.engine(full.graph("intake>a", keep=("a",), a=a), "fresh")
    with pytest.raises(KeyboardInterrupt):
        seed(full, engine)
    job = seed(full, engine)
    assert (job.state, job.done) == (JobState.DONE, 10)
    assert len(seen) == 4 + 2 + 6, "the first stretch is not done again"
    assert len(full.states("fresh")) == 10
