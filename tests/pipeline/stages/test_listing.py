"""The list stage on the demo town's open data, and settling what it wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cocli.demo.town import Town, Truth, build_town, truth_of, write_overture
from cocli.documents import Blob, Document, DocumentRepository, DocumentSource, open_catalog
from cocli.documents.graph.engine import Engine
from cocli.documents.graph.graph import Graph
from cocli.documents.graph.node import Node, NodeContext
from cocli.index.cache import MemoryCache
from cocli.index.index import Index
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.keys.identities import place_id_from_feature_id
from cocli.keys.paths import IndexRef
from cocli.keys.tile import Tile
from cocli.models.campaign import ExcludeSection
from cocli.models.completion import Blocked, Empty, Failed, Ok
from cocli.models.domain import Domain
from cocli.models.harvest import HarvestedTile
from cocli.models.place import Place
from cocli.models.prospect import Prospect
from cocli.models.task import Task
from cocli.models.website import FoundEmail, Website
from cocli.models.witness import Witness
from cocli.models.work import DetailsWork, EnrichmentWork, ListWork
from cocli.pipeline.exclusions import Exclusions
from cocli.pipeline.indexes import open_index
from cocli.pipeline.merge.settling import ProspectSettler, Settled
from cocli.pipeline.nodes import pipeline_graph
from cocli.pipeline.sources.capture import Capture
from cocli.pipeline.sources.categories import open_categories
from cocli.pipeline.sources.file_source import FileSource
from cocli.pipeline.sources.google_maps.nodes import MAPS_LIST
from cocli.pipeline.sources.open_places import Claims, Library, OpenPlaces
from cocli.pipeline.sources.place_states import with_places
from cocli.pipeline.sources.registry import category_schemes, file_kind, file_kinds
from cocli.pipeline.stages.list_pass import ListSinks
from cocli.pipeline.stages.listing import ListStage
from cocli.queue.base import NewTask
from cocli.queue.leased.queue import LeasedQueue
from cocli.store.memory import MemoryStore

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
TILE = Tile(38_500, -101_100)


class Held:
    """A hold that is never lost."""

    def check(self) -> None: ...


@dataclass
class Bench:
    """Everything the stage writes to, in memory."""

    store: MemoryStore
    repository: DocumentRepository
    queues: dict[str, LeasedQueue]
    prospects: Index[Prospect]
    witnesses: Index[Witness]
    harvests: Index[HarvestedTile]
    domains: Index[Domain]
    excluded: ExcludeSection = field(default_factory=ExcludeSection)
    graph: Graph = field(default_factory=lambda: pipeline_graph(Node(MAPS_LIST, told_places, keep=True)))

    def stage(self, **sources: Any) -> ListStage:
        sinks = ListSinks(
            self.repository,
            Engine(self.graph, self.repository, edition="main", clock=lambda: NOON),
            IndexWriter(self.prospects),
            IndexWriter(self.witnesses),
            IndexWriter(self.harvests),
            self.queues["gm-list"],
            self.queues["gm-details"],
            self.queues["enrichment"],
        )
        return ListStage(
            {name.replace("_", "-"): source for name, source in sources.items()},
            sinks,
            campaign="demo",
            worker="w",
            exclusions=Exclusions.of(self.excluded),
            clock=lambda: NOON,
            needs_details=lambda place: place.website is None,
        )

    def known(self) -> list[Prospect]:
        return [one for one in open_reader(self.prospects, fresh=True).scan() if one.merged_into is None]

    def witness(self) -> Witness:
        (witness,) = open_reader(self.witnesses, fresh=True).scan()
        return witness

    def payloads(self, queue: str) -> list[dict[str, Any]]:
        taken = list(self.queues[queue].claim_many(1000))
        return [dict(claim.task.payload) for claim in taken]

    def settle(self, websites: dict[str, Website] | None = None) -> Settled:
        known = websites or {}
        settler = ProspectSettler(
            self.prospects, self.domains, website_of=lambda name, _: known.get(name), clock=lambda: NOON
        )
        return settler.settle()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    store, cache = MemoryStore(), MemoryCache()
    catalog = open_catalog(str(tmp_path / "documents.sqlite3"), durable=False)
    with ExitStack() as stack:
        stack.callback(catalog.close)
        yield Bench(
            store,
            DocumentRepository(store, catalog, clock=lambda: NOON),
            {name: LeasedQueue(store, "demo", name, worker="w") for name in ("gm-list", "gm-details", "enrichment")},
            open_index(store, IndexRef("prospects", "demo"), cache),
            open_index(store, IndexRef("scraped-tiles"), cache),
            open_index(store, IndexRef("harvested-tiles", "demo"), cache),
            open_index(store, IndexRef("domains"), cache),
        )


def task(tile: Tile = TILE, phrase: str = "dentist", sources: Sequence[str] = ("overture",)) -> Task:
    payload = ListWork.model_validate({"tile": str(tile), "phrase": phrase, "sources": sources}).model_dump(mode="json")
    return Task(
        task_id=f"{tile}_{phrase}", queue="gm-list", campaign="demo", payload=payload, created_at=NOON, nonce="n" * 8
    )


@pytest.fixture(scope="module")
def town() -> Town:
    return build_town(seed=3)


@pytest.fixture(scope="module")
def truth(town: Town) -> Truth:
    return truth_of(town)


@pytest.fixture(scope="module")
def places(town: Town, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenPlaces]:
    folder = tmp_path_factory.mktemp("places")
    write_overture(town, folder / "places.parquet")
    library = Library(str(folder / "library"), file_kinds())
    library.add(str(folder / "places.parquet"), Claims(release="2026-11-01.0"), NOON)
    with OpenPlaces(
        file_kind("overture"), library.files("overture"), open_categories(category_schemes()), account="default"
    ) as opened:
        yield opened


def test_every_business_of_the_town_is_found_once(bench: Bench, places: OpenPlaces, truth: Truth) -> None:
    stage = bench.stage(overture=FileSource(places))
    kinds = set()
    for tile in truth.tiles:
        for phrase in truth.phrases:
            kinds.add(stage.run(task(Tile.parse(*tile.split("_")), phrase), Held()).kind)
    assert kinds == {"ok", "empty"}
    settled = bench.settle()
    found = [set(one.source_ids) for one in bench.known()]
    expected = [{f"overture:{row}" for row in one.listings["overture"].ids} for one in truth.planned("overture")]
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected))
    assert settled.prospects == len(expected)
    assert bench.settle() == replace(settled, moved=0), "a second time changes nothing"


def test_doing_it_twice_is_doing_it_once(bench: Bench, places: OpenPlaces, truth: Truth) -> None:
    search = next(one for one in truth.searches if len(one.overture) > 1)
    wanted = task(Tile.parse(*search.tile.split("_")), search.phrase)
    stage = bench.stage(overture=FileSource(places))
    first = stage.run(wanted, Held())
    before = set(bench.store.list(""))
    assert stage.run(wanted, Held()) == first
    assert {one.key for one in bench.store.list("")} == {one.key for one in before}
    assert isinstance(first, Ok)
    assert first.count == bench.witness().count
    works = [EnrichmentWork.model_validate(one) for one in bench.payloads("enrichment")]
    known = {one.company_hash: one for one in bench.known()}
    assert {hash_ for work in works for hash_ in work.prospects} <= set(known)
    for work in works:
        assert {known[one].domain for one in work.prospects} == {work.domain}
    document = bench.repository.current("default", *_address(bench, known), None)
    assert document.source.uri is not None


def _address(bench: Bench, known: dict[str, Prospect]) -> tuple[str, str]:
    """Every value names a document that there is."""
    (row,) = bench.repository.documents("default", kind="intake").items
    uuids = {origin.document for one in known.values() for origin in one.origins}
    assert uuids == {row.uuid}
    return row.doc, row.address


def test_outside_of_the_data_nothing_is_known_which_is_not_the_same_as_nothing_there(
    bench: Bench, places: OpenPlaces
) -> None:
    verdict = bench.stage(overture=FileSource(places)).run(task(Tile(0, 0)), Held())
    assert isinstance(verdict, Blocked)
    assert bench.witness().outcome == "blocked"


def test_a_payload_of_another_kind_and_a_source_that_is_not_here_are_told(bench: Bench) -> None:
    stage = bench.stage()
    verdict = stage.run(task().with_changes(payload={"tile": "north"}), Held())
    assert isinstance(verdict, Failed)
    assert (verdict.error.code, verdict.retryable) == ("malformed", False)
    verdict = stage.run(task(), Held())
    assert isinstance(verdict, Failed)
    assert verdict.error.code == "source_missing"


# --- a source that can be told what to answer


@dataclass
class Recorded:
    """A source whose answers were given before."""

    answers: list[tuple[str, list[Place]]]

    def read(self, tile: Tile, phrase: str) -> Capture:
        reach, found = self.answers.pop(0)
        doc = f"list/{tile}/{phrase}"
        document = Document.intake(account="default", connector="google-maps", doc=doc, source=DocumentSource(uri=doc))
        lines = "\n".join(place.model_dump_json() for place in found)
        captured = document.with_blob("places", Blob.of(lines.encode(), "application/x-ndjson"))
        return Capture(captured, reach, None)  # type: ignore[arg-type]


def told_places(document: Document, context: NodeContext) -> Document:
    """The node that reads such answers."""
    lines = document.blobs["places"].content.splitlines()
    return with_places(document, context.node, [Place.model_validate_json(line) for line in lines])


def place(number: int, **values: Any) -> Place:
    identity = place_id_from_feature_id(f"0x{number:x}:0x{number:x}")
    known = {"source": "google-maps", "source_id": identity, "place_id": identity, "name": f"Shop {number}"}
    return Place.model_validate(known | {"observed_at": NOON, "rank": number} | values)


MAPS = ("google-maps",)


def test_a_tile_that_held_more_than_it_showed_is_split_into_four(bench: Bench) -> None:
    stage = bench.stage(google_maps=Recorded([("cut_short", [place(1)])]))
    stage.run(task(sources=MAPS), Held())
    parts = [ListWork.model_validate(one) for one in bench.payloads("gm-list")]
    assert sorted(part.tile for part in parts) == sorted(TILE.split())
    assert {part.sources for part in parts} == {MAPS}
    floor = TILE.split()[0].split()[0]
    bench.stage(google_maps=Recorded([("cut_short", [place(1)])])).run(task(floor, sources=MAPS), Held())
    assert bench.payloads("gm-list") == [], "at the floor it stays as it is"


def test_only_places_that_lack_something_get_a_visit_of_their_own(bench: Bench) -> None:
    found = [place(1), place(2, website="https://two.com"), place(3, website="https://facebook.com/three")]
    bench.stage(google_maps=Recorded([("exhausted", found)])).run(task(sources=MAPS), Held())
    (details,) = [DetailsWork.model_validate(one) for one in bench.payloads("gm-details")]
    assert details.place_id == found[0].place_id
    (site,) = [EnrichmentWork.model_validate(one) for one in bench.payloads("enrichment")]
    assert site.domain == "two.com"


def test_a_second_pass_says_how_many_it_met_again(bench: Bench) -> None:
    first, second = [place(1), place(2), place(3)], [place(2), place(3), place(4), place(5)]
    source = Recorded([("exhausted", first), ("exhausted", second), ("exhausted", second)])
    stage = bench.stage(google_maps=source)
    stage.run(task(sources=MAPS), Held())
    assert bench.witness().earlier is None
    stage.run(task(sources=MAPS), Held())
    witness = bench.witness()
    assert (witness.earlier, witness.again, witness.count) == (3, 2, 4)
    stage.run(task(sources=MAPS), Held())
    assert bench.witness().again is None, "the same answer again is no second look"


def test_nothing_found_is_empty_only_where_the_end_was_seen(bench: Bench) -> None:
    source = Recorded([("exhausted", []), ("cut_short", []), ("blocked", [])])
    stage = bench.stage(google_maps=source)
    assert isinstance(stage.run(task(sources=MAPS), Held()), Empty)
    assert isinstance(stage.run(task(phrase="baker", sources=MAPS), Held()), Ok)
    assert isinstance(stage.run(task(phrase="florist", sources=MAPS), Held()), Blocked)


def test_what_is_excluded_is_neither_written_nor_queued(bench: Bench) -> None:
    bench.excluded = ExcludeSection(domains=("two.com",), names=("Shop 1",))
    found = [place(1), place(2, website="https://www.two.com/"), place(3, website="https://three.com")]
    bench.stage(google_maps=Recorded([("exhausted", found)])).run(task(sources=MAPS), Held())
    assert [one.name for one in bench.known()] == ["Shop 3"]
    assert [one["domain"] for one in bench.payloads("enrichment")] == ["three.com"]
    assert bench.payloads("gm-details") == []


# --- settling


def test_two_sources_meet_and_a_branch_that_came_late_gets_what_the_website_said(bench: Bench) -> None:
    at = {"lat": 38.55, "lon": -101.05, "street": "1 Main St", "postcode": "67801", "website": "https://zone.com"}
    row = place(7, **at).with_changes(source="overture", source_id="row-7", place_id=None, rank=None)
    other = place(8, **at | {"lat": 38.59, "street": "9 Oak Rd"})
    source = Recorded([("exhausted", [place(7, **at), row, other])])
    bench.stage(google_maps=source).run(task(sources=MAPS), Held())
    website = Website(
        domain="zone.com",
        final_url="https://zone.com/",
        emails=(FoundEmail(email="hello@zone.com", page="https://zone.com/", method="mailto"),),
        status="alive",
        scraper_version="1",
        crawled_at=NOON,
        primary_email="hello@zone.com",
    )
    IndexWriter(bench.domains).put(Domain(domain="zone.com", last_crawled=NOON, status="alive"))
    settled = bench.settle({"zone.com": website})
    assert (settled.prospects, settled.moved, settled.joined) == (2, 1, 2)
    businesses = bench.known()
    assert {one.primary_email for one in businesses} == {"hello@zone.com"}
    assert {one.place_id for one in businesses} == {place(7).place_id, place(8).place_id}
    assert bench.settle({"zone.com": website}) == Settled(2, 0, 0)


def test_queues_agree_on_what_a_task_is_called(bench: Bench) -> None:
    """A quarter that is planned later is the same task as the one that a worker queued."""
    quarter = TILE.split()[0]
    assert bench.queues["gm-list"].put(NewTask(f"{quarter}_dentist")).value == "queued"
    bench.stage(google_maps=Recorded([("cut_short", [])])).run(task(sources=MAPS), Held())
    assert len(bench.payloads("gm-list")) == 4
