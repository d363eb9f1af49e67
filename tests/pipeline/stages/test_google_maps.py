"""Workers that read Google Maps: a real Chromium, the town's map site on loopback, and processes that are killed.

Run as a program, this file is such a worker: `python test_google_maps.py STORE URL`.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from cocli.demo.town import MapsBehaviour, MapsSite, Town, build_town, by_tile, serve_maps
from cocli.documents import Document, DocumentRepository, open_catalog
from cocli.documents.graph.engine import Engine
from cocli.errors import ParserAlarm
from cocli.fleet.drain import Drain
from cocli.fleet.stall import parser_problems
from cocli.fleet.task_worker import IdleSettings
from cocli.fleet.worker import Worker
from cocli.index.cache import MemoryCache
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.keys.identities import company_hash
from cocli.keys.paths import IndexRef
from cocli.keys.tile import Tile
from cocli.models.campaign import ExcludeSection
from cocli.models.completion import Failed, Ok
from cocli.models.place import Place
from cocli.models.prospect import Prospect
from cocli.models.task import Task
from cocli.models.witness import Witness
from cocli.models.work import DetailsWork, ListWork
from cocli.pipeline.exclusions import Exclusions
from cocli.pipeline.indexes import open_index
from cocli.pipeline.nodes import pipeline_graph
from cocli.pipeline.sources.google_maps.browser.pace import Pace, PaceLimits
from cocli.pipeline.sources.google_maps.browser.reader import MapsReader
from cocli.pipeline.sources.google_maps.browser.session import BrowserSession
from cocli.pipeline.sources.google_maps.browser.settings import BrowserSettings
from cocli.pipeline.sources.google_maps.documents import page_identity
from cocli.pipeline.sources.google_maps.list_source import GoogleMapsSource
from cocli.pipeline.sources.google_maps.quality import CONTACT, IDENTITY, PageFill
from cocli.pipeline.sources.google_maps.quality_book import QualityBook, quality_of
from cocli.pipeline.stages.google_maps import (
    DetailsSinks,
    DetailsStage,
    PatientStage,
)
from cocli.pipeline.stages.list_pass import ListSinks
from cocli.pipeline.stages.listing import ListStage
from cocli.pipeline.stages.stage import Stage
from cocli.queue.base import NewTask
from cocli.queue.leased.queue import LeasedQueue
from cocli.store.local import LocalStore

PHRASE = "dentist"
LEASE = 8.0
QUICK = BrowserSettings(url="", load=60, round=0.3, rounds=3, look=0.05, settle=1)
HASTY = IdleSettings(idle_first=0.05, idle_longest=0.3, trouble_first=0.01, trouble_longest=0.02, troubles=3)


def now() -> datetime:
    return datetime.now(UTC)


class Held:
    """A hold that is never lost."""

    def check(self) -> None: ...


@dataclass
class Bench:
    """Everything that the two stages need, on a folder."""

    store: LocalStore
    repository: DocumentRepository
    reader: MapsReader

    def queue(self, name: str) -> LeasedQueue:
        return LeasedQueue(self.store, "demo", name, worker="w", lease_seconds=LEASE, margin=0.2)

    def book(self, parser: str = "list") -> QualityBook:
        return QualityBook(self.store, "demo", parser, version="1", clock=now)

    def prospects(self) -> list[Prospect]:
        index = open_index(self.store, IndexRef("prospects", "demo"), MemoryCache())
        return list(open_reader(index, fresh=True).scan())

    def witnesses(self) -> list[Witness]:
        return list(open_reader(open_index(self.store, IndexRef("scraped-tiles"), MemoryCache()), fresh=True).scan())

    def _writer(self, ref: IndexRef) -> IndexWriter[Any]:
        return IndexWriter(open_index(self.store, ref, MemoryCache()))

    def _parsers(self) -> Engine:
        return Engine(pipeline_graph(), self.repository, edition="main", clock=now)

    def listing(self, needs_details: Callable[[Place], bool] = lambda place: place.website is None) -> Stage:
        sinks = ListSinks(
            self.repository,
            self._parsers(),
            self._writer(IndexRef("prospects", "demo")),
            self._writer(IndexRef("scraped-tiles")),
            self._writer(IndexRef("harvested-tiles", "demo")),
            self.queue("gm-list"),
            self.queue("gm-details"),
            self.queue("enrichment"),
        )
        stage = ListStage(
            {"google-maps": GoogleMapsSource(self.reader, self.book())},
            sinks,
            campaign="demo",
            worker="w",
            exclusions=Exclusions.of(ExcludeSection()),
            clock=now,
            needs_details=needs_details,
        )
        return PatientStage(stage)

    def details(
        self,
        still_needed: Callable[[str], bool] = lambda _: True,
        kept: Callable[[str], Document | None] = lambda _: None,
    ) -> Stage:
        prospects = self._writer(IndexRef("prospects", "demo"))
        sinks = DetailsSinks(self.repository, self._parsers(), prospects, self.queue("enrichment"))
        stage = DetailsStage(
            self.reader,
            self.book("details"),
            sinks,
            campaign="demo",
            exclusions=Exclusions.of(ExcludeSection()),
            still_needed=still_needed,
            kept=kept,
        )
        return PatientStage(stage)


@contextmanager
def opened(folder: Path, session: BrowserSession, url: str, *, limits: PaceLimits | None = None) -> Iterator[Bench]:
    session.settings = replace(QUICK, url=url)
    catalog = open_catalog(str(folder / "documents.sqlite3"), durable=False)
    store = LocalStore(folder / "store", fsync="never")
    pace = Pace(
        str(folder / "pace.json"),
        limits or PaceLimits(pages_per_day=100_000, pause_seconds=0, refusals=1000),
        clock=now,
        sleep=asyncio.sleep,
        rng=random.Random(1),
    )
    reader = MapsReader(session, pace, account="default", clock=now)
    try:
        yield Bench(store, DocumentRepository(store, catalog, clock=now), reader)
    finally:
        catalog.close()


def work_off(stage: Stage, queue: LeasedQueue, *, threads: int = 1) -> list[str]:
    troubles: list[str] = []
    rng = random.Random(2)
    worker = Worker(stage, queue, rng=rng, threads=threads, until_empty=True, timing=HASTY, on_trouble=troubles.append)
    worker.run(Drain())
    return troubles


def list_task(tile: Tile, phrase: str = PHRASE) -> NewTask:
    work = ListWork(tile=tile, phrase=phrase, sources=("google-maps",))
    return NewTask(f"{tile}_{phrase}", work.model_dump(mode="json"))


def details_task(place_id: str) -> Task:
    payload = DetailsWork(place_id=place_id, phrase=PHRASE).model_dump(mode="json")
    return Task(task_id=place_id, queue="gm-details", campaign="demo", payload=payload, created_at=now(), nonce="n" * 8)


@pytest.fixture(scope="module")
def town() -> Town:
    return build_town(seed=1)


@pytest.fixture(scope="module")
def session() -> Iterator[BrowserSession]:
    pytest.importorskip("playwright.async_api", reason="needs the extra `browser`")
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        pytest.skip("needs Chromium on this machine")
    with BrowserSession(QUICK) as browser:
        yield browser


# --- the whole way


def test_a_tile_from_the_queue_to_its_prospects_and_a_visit_for_what_the_list_lacks(
    town: Town, session: BrowserSession, tmp_path: Path
) -> None:
    """Sidelined where Maps refuses, split where it shows no end, and a business is one business."""
    tiles = town.region.tiles
    fine, limited, broken, dense = tiles[5], tiles[0], tiles[3], tiles[10]
    refuse = by_tile({str(limited): "limited", str(broken): "error"})
    with serve_maps(town, MapsBehaviour(condition=refuse)) as site, opened(tmp_path, session, site.url) as bench:
        queue = bench.queue("gm-list")
        queue.put_many([list_task(tile) for tile in (fine, limited, broken)])
        work_off(bench.listing(), queue)
        found = {prospect.place_id for prospect in bench.prospects()}
        here = {
            business.place_id
            for business in town.businesses
            if business.trade.phrase == PHRASE and business.spot.tile == fine and "google-maps" in business.sources
        }
        assert here
        assert here <= found
        partly = {business.place_id for business in town.businesses if business.spot.tile == limited}
        assert partly & found, "a limited view shows less, and what it shows is there"
        assert len(bench.prospects()) == len(found), "each business once"
        assert {(one.tile, one.outcome) for one in bench.witnesses()} == {(fine, "exhausted"), (limited, "blocked")}
        (read,) = [one for one in bench.witnesses() if one.tile == fine]
        assert None not in (read.south, read.west, read.north, read.east), "it says what it has seen"
        stats = queue.stats()
        assert (stats.completed, stats.sidelined, stats.pending) == (1, {"blocked": 1}, 1)
        lease = queue.inspect(f"{broken}_{PHRASE}").lease
        assert lease is not None
        (failed,) = lease.history
        assert failed.error is not None
        assert (failed.outcome, failed.error.code, failed.error.retryable) == ("failed", "page_unread", True)

        waiting = bench.queue("gm-details").stats().pending
        lacking = [prospect for prospect in bench.prospects() if prospect.website is None]
        assert 0 < waiting == len(lacking), "who has a website costs no visit"

        site.behaviour = MapsBehaviour(cap=3)
        bench.queue("gm-list").put(list_task(dense, "restaurant"))
        stage = bench.listing()
        claim = queue.claim()
        assert claim is not None
        verdict = stage.run(claim.task, Held())
        assert isinstance(verdict, Ok)
        assert queue.ack(claim, verdict).value == "completed"
        quarters = {str(claim.task.payload["tile"]) for claim in queue.claim_many(10)}
        assert quarters == {str(tile) for tile in dense.split()}

        _details(town, bench)


def _details(town: Town, bench: Bench) -> None:
    business = next(one for one in town.businesses if one.website_in("google-maps") and one.rating)
    stage = bench.details()
    verdict = stage.run(details_task(business.place_id), Held())
    assert isinstance(verdict, Ok)
    assert verdict.result["website"] == business.website_in("google-maps")
    (prospect,) = [one for one in bench.prospects() if one.place_id == business.place_id]
    assert (prospect.company_hash, prospect.name) == (company_hash(business.place_id), business.name)
    assert prospect.website == business.website_in("google-maps")
    gone = stage.run(details_task("ChIJN1t_tDeuEmsRUsoyG83frY4"), Held())
    assert isinstance(gone, Failed)
    assert (gone.error.code, gone.retryable) == ("place_gone", False)
    known = bench.details(still_needed=lambda _: False).run(details_task(business.place_id), Held())
    assert known == Ok(result={"known": True}, count=0)
    page = Document.intake(account="default", connector="google-maps", doc=page_identity(business.place_id))
    stored = bench.repository.stored(page, blobs=True)
    assert stored is not None
    kept = bench.details(kept=lambda _: stored).run(details_task(business.place_id), Held())
    assert isinstance(kept, Ok)
    assert kept.result == {"website": prospect.website, "excluded": False, "kept": True}
    malformed = stage.run(details_task(business.place_id).with_changes(payload={"place_id": "x"}), Held())
    assert isinstance(malformed, Failed)
    assert not malformed.retryable


def test_who_asked_enough_for_a_day_gives_its_task_back(town: Town, session: BrowserSession, tmp_path: Path) -> None:
    few = PaceLimits(pages_per_day=1, pause_seconds=0)
    with serve_maps(town) as site, opened(tmp_path, session, site.url, limits=few) as bench:
        queue = bench.queue("gm-list")
        queue.put_many([list_task(tile) for tile in town.region.tiles[4:6]])
        troubles = work_off(bench.listing(), queue)
        assert "the 1 pages of a day are used up" in troubles[-1]
        stats = queue.stats()
        assert (stats.completed, stats.pending, stats.sidelined) == (1, 1, {})
        assert len(site.searches) == 1


def test_a_grave_alarm_stops_the_queue_and_is_a_problem_of_the_cluster(
    town: Town, session: BrowserSession, tmp_path: Path
) -> None:
    good = PageFill(10, dict.fromkeys((*IDENTITY, *CONTACT), 10))
    lost = PageFill(10, dict.fromkeys((*IDENTITY, *CONTACT), 10) | {"phone": 0})
    with serve_maps(town) as site, opened(tmp_path, session, site.url) as bench:
        for page in [good] * 70 + [lost] * 40:
            bench.book().add(page)
        queue = bench.queue("gm-list")
        queue.put(list_task(town.region.tiles[5]))
        with pytest.raises(ParserAlarm, match="phone fell to"):
            work_off(bench.listing(), queue)
        assert site.searches == []
        assert queue.stats().pending == 1
        (problem,) = parser_problems(quality_of(bench.store, "demo"))
        assert (problem.kind, problem.subject) == ("parser", "google-maps/list")
        later = QualityBook(bench.store, "demo", "list", version="2", clock=now)
        later.check()
        with pytest.raises(ParserAlarm) as alarm:
            bench.book().check()
        bench.store.delete(str(alarm.value.details["key"]))
        work_off(bench.listing(), queue)
        assert queue.stats().completed == 1


# --- killed


def test_a_run_killed_at_any_time_resumes_without_asking_again_for_finished_tiles(
    town: Town, session: BrowserSession, tmp_path: Path
) -> None:
    """The worker, or the worker with all of its group; and no Chromium outlives it."""
    del session  # it skips where there is no browser
    tiles = town.region.tiles[7:15]  # none of them has to be split
    with serve_maps(town, MapsBehaviour(latency=0.02)) as site:
        store = LocalStore(tmp_path / "store", fsync="never")
        queue = LeasedQueue(store, "demo", "gm-list", worker="t", lease_seconds=LEASE, margin=0.2)
        queue.put_many([list_task(tile) for tile in tiles])
        finished: set[str] = set()
        asked_again: list[str] = []
        for kill in (os.kill, os.killpg):
            before = len(site.searches)
            process = start(tmp_path, site.url)
            wait_for(partial(has_asked, site, before + QUICK.tabs + 1))  # so that one of them is finished
            family = psutil.Process(process.pid).children(recursive=True)
            assert any("chrom" in name for name in names(family))
            kill(process.pid, signal.SIGKILL)
            process.wait()
            wait_for(partial(are_gone, family))
            asked_again += [tile for tile in searched(site.searches[before:]) if tile in finished]
            finished |= completed(store)
            wait_for(lambda: queue.stats().leased == 0)  # what was in hand is free again
        assert finished
        before = len(site.searches)
        assert start(tmp_path, site.url).wait(120) == 0
        asked_again += [tile for tile in searched(site.searches[before:]) if tile in finished]

        assert asked_again == []
        assert completed(store) == {str(tile) for tile in tiles}, queue.stats()
        assert len(site.searches) <= len(tiles) + 2 * QUICK.tabs, "only what was in hand is asked for twice"


def start(folder: Path, url: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, __file__, str(folder), url], start_new_session=True)


def searched(searches: list[Any]) -> list[str]:
    return [str(Tile.containing(one.lat, one.lon)) for one in searches]


def completed(store: LocalStore) -> set[str]:
    keys = [info.key for info in store.list("campaigns/demo/queues/gm-list/completed/")]
    return {"_".join(key.rsplit("/", 1)[-1].split("_")[:2]) for key in keys}


def has_asked(site: MapsSite, times: int) -> bool:
    return len(site.searches) >= times


def are_gone(processes: list[psutil.Process]) -> bool:
    return not names(processes)


def names(processes: list[psutil.Process]) -> list[str]:
    found = []
    for process in processes:
        try:
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.name())
        except psutil.NoSuchProcess:
            continue  # gone between two questions
    return found


def wait_for(what: Callable[[], bool], seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.02)


def main(folder: Path, url: str) -> None:
    with BrowserSession(QUICK) as browser, opened(folder, browser, url) as bench:
        work_off(bench.listing(), bench.queue("gm-list"), threads=QUICK.tabs)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
