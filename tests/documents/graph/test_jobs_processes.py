"""Jobs with several processes, and killed ones: the result is that of an undisturbed run in one process."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cocli.documents import Document, DocumentRepository, DocumentSource, open_catalog
from cocli.documents.care import fsck as checking
from cocli.documents.catalog.job_rows import JobState
from cocli.documents.replay.engines.processes import ProcessCrew
from cocli.documents.replay.engines.workplace import Workplace
from cocli.documents.replay.jobs import find_job, list_jobs, list_outcomes, run_job
from cocli.documents.replay.plan import ReplayPlan
from cocli.documents.replay.replay import plan_replay
from cocli.documents.subscriptions import EVERYBODY
from cocli.errors import CrewLost, UsageError
from cocli.store import open_store

HERE = Path(__file__).parent
FACTORY = "replay_factory:make_graph"
KILLS = 2


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs are made by functions with a dotted name, in this process and in others."""
    monkeypatch.syspath_prepend(str(HERE))


def filled(folder: Path, count: int) -> Workplace:
    store, catalog = str(folder / "store"), str(folder / "documents.sqlite3")
    with repository(store, catalog) as documents:
        for number in range(count):
            doc = f"https://example.com/{number:03d}"
            documents.save(Document.intake(account="acct", connector="web", doc=doc, source=DocumentSource(uri=doc)))
    return Workplace(store, catalog, FACTORY, "prod", fsync="never", subscriptions=EVERYBODY)


@contextmanager
def repository(store: str, catalog: str) -> Iterator[DocumentRepository]:
    opened, rows = open_store(store, fsync="never"), open_catalog(catalog, durable=False)
    yield DocumentRepository(opened, rows, clock=lambda: datetime.now(UTC), subscriptions=EVERYBODY)
    rows.close()
    opened.close()


def everything(place: Workplace) -> dict[str, Any]:
    """States, events and outcomes, without times."""
    with repository(place.store, place.catalog) as documents:
        rows = documents.documents("acct", limit=10_000).items
        (job,) = list_jobs(documents, "acct")
        outcomes = list_outcomes(documents, "acct", job.job, limit=10_000)
        report = checking.check(documents, deep=True)
        assert report.clean, report.findings
        return {
            "states": [(row.doc, row.cluster, row.address, row.digest, row.version) for row in rows],
            "data": [(row.doc, row.address, dict(documents.get("acct", row.reference).data)) for row in rows],
            "events": sorted(entry.event.event_id for entry in documents.catalog.scan_events(0, 10_000)),
            "outcomes": [(one.doc, one.outcome, one.code, one.error) for one in outcomes],
            "counts": (job.state, job.total, job.done, job.unchanged, job.skipped, job.failed),
        }


def undisturbed(folder: Path, count: int) -> dict[str, Any]:
    place = filled(folder, count)
    with place.opened() as engine:
        run_job(engine, "acct", plan_replay(engine, "acct", ReplayPlan.of(engine)).job)
    return everything(place)


def test_two_processes_make_what_one_makes(tmp_path: Path) -> None:
    expected = undisturbed(tmp_path / "one", 50)
    assert expected["counts"] == (JobState.DONE, 50, 40, 0, 0, 10)
    place = filled(tmp_path / "two", 50)
    seen = []
    with place.opened() as engine, ProcessCrew(place, jobs=2) as crew:
        job = plan_replay(engine, "acct", ReplayPlan.of(engine))
        run_job(engine, "acct", job.job, crew=crew, chunk=4, on_progress=lambda job: seen.append(job.processed))
    assert everything(place) == expected
    assert seen == sorted(seen), "in the order of the documents"
    assert len(seen) == 13


def test_a_process_that_dies_stops_the_job_which_goes_on_later(tmp_path: Path) -> None:
    expected = undisturbed(tmp_path / "one", 30)
    place = filled(tmp_path / "two", 30)
    with place.opened() as engine:
        job = plan_replay(engine, "acct", ReplayPlan.of(engine))
        with ProcessCrew(place, jobs=2) as crew:

            def kill(_: object) -> None:
                crew._workers[0].process.kill()

            with pytest.raises(CrewLost, match=rf"{job.job} stopped.*(died|gone)"):
                run_job(engine, "acct", job.job, crew=crew, chunk=2, on_progress=kill)
        assert find_job(engine.repository, "acct", job.job).state is JobState.FAILED
        run_job(engine, "acct", job.job)
    assert everything(place) == expected


def test_what_a_crew_cannot_begin_with(tmp_path: Path) -> None:
    place = filled(tmp_path, 1)
    for factory in ("replay_factory:no_graph", "replay_factory:absent", "no.such.module:f", "replay_factory"):
        wrong = Workplace(place.store, place.catalog, factory, "prod")
        with pytest.raises(UsageError), wrong.opened():
            pass
    wrong = Workplace(place.store, place.catalog, "no.such.module:f", "prod")
    with pytest.raises(UsageError, match=r"no\.such"), ProcessCrew(wrong, jobs=1):
        pass
    with pytest.raises(UsageError, match="memory"), Workplace(place.store, "sqlite://:memory:", FACTORY, "p").opened():
        pass
    with pytest.raises(UsageError):
        ProcessCrew(place, jobs=0)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_killed_again_and_again_it_ends_as_if_nothing_had_happened(tmp_path: Path, jobs: str) -> None:
    expected = undisturbed(tmp_path / "one", 40)
    place = filled(tmp_path / "killed", 40)
    rng = random.Random(f"kill {jobs}")
    command = [sys.executable, str(HERE / "replay_factory.py"), place.store, place.catalog, jobs]
    reached = []
    for _ in range(KILLS):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "REPLAY_PAUSE": "0.03"})
        assert process.stdout is not None
        assert int(process.stdout.readline()) > 0
        time.sleep(rng.uniform(0.0, 0.3))
        process.kill()
        process.communicate()
        reached.append(processed(place))
    assert 0 < reached[-1] < 40, "it was hit in the middle"
    last = subprocess.run(command, capture_output=True, timeout=60, check=True)
    assert b"done 32 8" in last.stdout
    assert everything(place) == expected


def processed(place: Workplace) -> int:
    with repository(place.store, place.catalog) as documents:
        return list_jobs(documents, "acct")[0].processed
