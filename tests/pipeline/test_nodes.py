"""The graph of the pipeline: which node takes which document, and what a state keeps of what a node read."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cocli.documents import Blob, Document, DocumentRepository, DocumentSource, open_catalog
from cocli.documents.catalog.job_rows import DocumentOutcome, JobState
from cocli.documents.graph.engine import Engine
from cocli.documents.graph.node import INTAKE, Node
from cocli.documents.graph.run import Ending
from cocli.documents.reading.limits import ReadingLimits
from cocli.documents.reading.room import ReadingRoom
from cocli.documents.replay.jobs import count_without_node, list_outcomes, list_without_node, run_job
from cocli.documents.replay.plan import ReplayPlan
from cocli.documents.replay.replay import plan_replay
from cocli.errors import TooCostly
from cocli.keys.tile import Tile
from cocli.models.place import Place
from cocli.pipeline.nodes import pipeline_graph
from cocli.pipeline.sources.google_maps.documents import details_document, list_document
from cocli.pipeline.sources.google_maps.nodes import MAPS_LIST, MAPS_PLACE
from cocli.pipeline.sources.open_places.node import OPEN_PLACES
from cocli.pipeline.sources.place_states import places_in, with_places
from cocli.pipeline.websites.page.document import PAGE, facts_in, page_node
from cocli.pipeline.websites.site.document import visit_document
from cocli.pipeline.websites.site.place import SITE
from cocli.pipeline.websites.site.record import SiteState
from cocli.store.memory import MemoryStore

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
TILE = Tile(38_500, -101_100)


@pytest.fixture
def repository(tmp_path: Path) -> DocumentRepository:
    return DocumentRepository(
        MemoryStore(), open_catalog(str(tmp_path / "documents.sqlite3"), durable=False), clock=lambda: NOON
    )


def documents() -> dict[str, Document]:
    given: dict[str, Any] = {"account": "acct", "url": "https://maps.example/", "html": "<p>-</p>", "fetched_at": NOON}
    rows = Document.intake(account="acct", connector="overture", doc="2026/38.5_-101.1/x", source=_source())
    page = Document.intake(account="acct", connector="web", doc="https://a.example/", source=_source())
    return {
        MAPS_LIST: list_document(tile=TILE, phrase="dentist", **given),
        MAPS_PLACE: details_document(place_id="ChIJ", **given),
        OPEN_PLACES: rows.with_blob("rows", Blob.of(b"")),
        PAGE: page.with_blob("body", Blob.of(b"<p>a@a.example</p>", "text/html")),
        SITE: visit_document("acct", SiteState("a.example", "https://a.example/", "dead"), [], at=NOON),
    }


def _source() -> DocumentSource:
    return DocumentSource(uri="https://a.example/", fetched_at=NOON)


def test_every_document_of_the_pipeline_has_one_node(repository: DocumentRepository) -> None:
    graph = pipeline_graph()
    assert {node.name for node in graph.nodes} >= set(documents())
    engine = Engine(graph, repository, edition="main", clock=lambda: NOON)
    for name, document in documents().items():
        repository.save(document)
        run = engine.run(document)
        assert [(way.node, way.ending) for way in run.outcomes] == [(name, Ending.FINISHED)]
        assert repository.current("acct", document.doc, name, "main").data[name]


def test_a_state_keeps_places_without_the_time_and_the_bytes_of_the_capture() -> None:
    place = Place(
        source="overture",
        source_id="7",
        name="Shop",
        tile=TILE,
        observed_at=NOON,
        document="0" * 8 + "-0000-0000-0000-" + "0" * 12,
    )
    capture = documents()[OPEN_PLACES].with_blob("rows", Blob.of(b"x" * 100))
    state = with_places(capture.at(OPEN_PLACES, "main"), OPEN_PLACES, [place])
    assert not state.blobs
    assert places_in(state) == [place.with_changes(document=capture.uuid)]
    later = with_places(
        capture.with_source(DocumentSource(uri="https://a.example/", fetched_at=NOON.replace(hour=13))).at(
            OPEN_PLACES, "main"
        ),
        OPEN_PLACES,
        [place.with_changes(observed_at=NOON.replace(hour=13))],
    )
    assert later.digest == state.digest


def test_a_new_version_of_the_page_reader_makes_sites_anew() -> None:
    def site(page: Node) -> str:
        return pipeline_graph(page).node(SITE).code_digest

    newer = Node(PAGE, page_node().function, version="another", keep=True)
    assert site(page_node()) == pipeline_graph().node(SITE).code_digest != site(newer)


def test_a_document_that_no_node_takes_is_counted_and_named(repository: DocumentRepository) -> None:
    known, stranger = documents()[OPEN_PLACES], Document.intake(account="acct", connector="fax", doc="fax/1")
    for document in (known, stranger):
        repository.save(document)
    engine = Engine(pipeline_graph(), repository, edition="main", clock=lambda: NOON)
    for _ in range(2):  # the second time nothing is to be done, and the stranger is still named
        job = plan_replay(engine, "acct", ReplayPlan.of(engine))
        assert run_job(engine, "acct", job.job).state is JobState.DONE
        assert sum(count_without_node(repository, "acct", job.job).values()) == 1
        assert list_without_node(repository, "acct", job.job, 10) == ["fax/1"]
    assert [edge.source for edge in engine.graph.edges] == [INTAKE] * len(engine.graph.nodes)


def test_a_page_that_takes_too_much_is_kept_and_says_so(
    repository: DocumentRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replay once read pages in its own process: one hostile page stood in its way for ever."""
    monkeypatch.setattr("cocli.pipeline.websites.page.document.PAGES", ReadingRoom(ReadingLimits(seconds=0.001)))
    page, rows = documents()[PAGE], documents()[OPEN_PLACES]
    for document in (page, rows):
        repository.save(document)
    engine = Engine(pipeline_graph(), repository, edition="main", clock=lambda: NOON)
    job = run_job(engine, "acct", plan_replay(engine, "acct", ReplayPlan.of(engine)).job)
    assert (job.state, job.done, job.failed) == (JobState.DONE, 2, 0)
    (failure,) = facts_in(repository.current("acct", page.doc, PAGE, "main")).failures
    assert failure.reason == "too-costly: no end within 0.001 s"


def test_a_capture_that_takes_too_much_is_kept_and_the_rest_goes_on(
    repository: DocumentRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cocli.pipeline.sources.google_maps.nodes.PAGES", ReadingRoom(ReadingLimits(seconds=0.001)))
    costly, rows = documents()[MAPS_LIST], documents()[OPEN_PLACES]
    for document in (costly, rows):
        repository.save(document)
    engine = Engine(pipeline_graph(), repository, edition="main", clock=lambda: NOON)
    job = run_job(engine, "acct", plan_replay(engine, "acct", ReplayPlan.of(engine)).job)
    assert (job.state, job.done, job.failed) == (JobState.DONE, 1, 1)
    (failed,) = list_outcomes(repository, "acct", job.job, outcome=DocumentOutcome.FAILED)
    assert (failed.doc, failed.code) == (costly.doc, "too_costly")
    assert repository.states("acct", costly.doc, cluster=None), "what came in is still there"
    with pytest.raises(TooCostly):
        engine.parse(costly)
