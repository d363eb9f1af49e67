"""Several tabs of one Chromium: lists at the same time, and what one tab meets does not hurt the others."""

from __future__ import annotations

import asyncio
import random
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from cocli.demo.town import MapsBehaviour, MapsSite, Town, build_town, by_tile
from cocli.demo.town.http_server import Asked, TownAnswer, running
from cocli.errors import PageUnread, SourceResting
from cocli.keys.tile import Tile
from cocli.pipeline.sources.google_maps.browser.pace import Pace, PaceLimits
from cocli.pipeline.sources.google_maps.browser.page import PageReading, SeenPage
from cocli.pipeline.sources.google_maps.browser.reader import MapsReader
from cocli.pipeline.sources.google_maps.browser.session import BrowserSession
from cocli.pipeline.sources.google_maps.browser.settings import BrowserSettings

QUICK = BrowserSettings(url="", load=60, round=0.5, rounds=3, look=0.1, settle=1, tabs=2)
HASTE = PaceLimits(pages_per_day=100_000, pause_seconds=0, refusals=1000)


class Gate:
    """Requests wait before it until a number of them is there, or until somebody opens it."""

    def __init__(self, number: int = 1000) -> None:
        self._number = number
        self.waiting = 0
        self.open = threading.Event()

    async def passed(self) -> None:
        self.waiting += 1
        if self.waiting >= self._number:
            self.open.set()
        while not self.open.is_set():  # noqa: ASYNC110 - tests open it from their own thread
            await asyncio.sleep(0.02)


@pytest.fixture(scope="module")
def town() -> Town:
    return build_town(seed=1)


@pytest.fixture(scope="module")
def session() -> Iterator[BrowserSession]:
    pytest.importorskip("playwright.async_api", reason="needs the extra `browser`")
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        pytest.skip("needs Chromium on this machine")
    with BrowserSession(QUICK) as opened:
        yield opened


@contextmanager
def served(
    site: MapsSite, gate: Gate, held: Callable[[Asked], bool] = lambda asked: asked.path.startswith("/maps/search/")
) -> Iterator[MapsSite]:
    """The town's map site, where some requests have to pass a gate."""

    async def answer(asked: Asked) -> TownAnswer:
        if held(asked):
            await gate.passed()
        return await site.answer(asked)

    with running(answer, 0, "gated-maps") as site.port:
        yield site
    gate.open.set()


def reader(session: BrowserSession, site: MapsSite, folder: Path, limits: PaceLimits = HASTE) -> MapsReader:
    session.settings = replace(session.settings, url=site.url)
    pace = Pace(str(folder / "pace.json"), limits, clock=now, sleep=asyncio.sleep, rng=random.Random(1))
    return MapsReader(session, pace, account="default", clock=now)


def now() -> datetime:
    return datetime.now(UTC)


async def at_once() -> float:
    return time.time()


def found(maps: MapsReader, tile: Tile) -> list[str | None]:
    capture, reading = maps.find(tile, "restaurant")
    assert capture.reach == "exhausted"
    return [place.place_id for place in reading.places]


def chromiums() -> set[int]:
    """Those that were started, without the processes that they started themselves."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it ended while it was looked at
            if "chrom" in process.name() and not any("--type=" in word for word in process.cmdline()):
                found.add(process.pid)
    return found


def wait_for(what: Callable[[], bool]) -> None:
    until = time.monotonic() + 120
    while not what():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.02)


def test_lists_are_read_at_the_same_time_in_one_browser_and_hold_what_they_hold_one_by_one(
    town: Town, session: BrowserSession, tmp_path: Path
) -> None:
    tiles = town.region.tiles[4:8]
    site = MapsSite(town, MapsBehaviour())
    with served(site, Gate(2)), ThreadPoolExecutor(4) as pool:
        with BrowserSession(replace(QUICK, pages=3)) as fresh:  # the fourth page is one of the next browser
            maps = reader(fresh, site, tmp_path)
            together = list(pool.map(lambda tile: found(maps, tile), tiles))
        maps = reader(session, site, tmp_path)
        alone = [found(maps, tile) for tile in tiles]

    assert together == alone
    assert sum(map(len, alone)) > 0
    assert len(site.searches) == 2 * len(tiles), "each was asked for once"


def test_a_tab_that_crashes_is_replaced_beside_the_others(town: Town, session: BrowserSession, tmp_path: Path) -> None:
    tile, place = town.region.centre_tile, next(one for one in town.businesses if "google-maps" in one.sources)
    site, gate, tried, is_loaded = MapsSite(town, MapsBehaviour()), Gate(), [], threading.Event()

    async def blank(asked: Asked) -> TownAnswer:
        if asked.path == "/loaded":
            is_loaded.set()
        return TownAnswer(200, {"Content-Type": "text/html"}, b"<script>onload = () => fetch('/loaded')</script>")

    async def crashing(page: PageReading) -> SeenPage:
        from playwright.async_api import Error

        tried.append(page)
        if len(tried) == 2:
            return await page.place(f"{site.url}/maps/place/?q=place_id:{place.place_id}&hl=en")
        reading = asyncio.ensure_future(page.place(f"http://127.0.0.1:{port}/"))
        await asyncio.to_thread(is_loaded.wait, 120)
        with suppress(Error):
            await page.place("chrome://crash")
        return await reading

    with served(site, gate), running(blank, 0, "blank") as port, ThreadPoolExecutor(1) as pool:
        maps = reader(session, site, tmp_path)
        other = pool.submit(found, maps, tile)
        wait_for(lambda: gate.waiting == 1)
        before = chromiums()
        assert place.name in session.read("a place", at_once, crashing).html
        gate.open.set()
        assert other.result(120)

    assert len(tried) == 2
    assert len(site.searches) == 1, "the other page was not asked for again"
    assert chromiums() == before


def test_a_tab_that_never_yields_is_closed_beside_the_others(
    town: Town, session: BrowserSession, tmp_path: Path
) -> None:
    async def busy(_: Asked) -> TownAnswer:
        return TownAnswer(200, {"Content-Type": "text/html"}, b"<div role=main><script>while (true) {}</script></div>")

    site, gate = MapsSite(town, MapsBehaviour()), Gate()
    with served(site, gate), running(busy, 0, "busy") as port, ThreadPoolExecutor(1) as pool:
        maps = reader(session, site, tmp_path)
        other = pool.submit(found, maps, town.region.centre_tile)
        wait_for(lambda: gate.waiting == 1)
        before = chromiums()
        fine, session.settings = session.settings, replace(session.settings, visit=3)
        with pytest.raises(PageUnread, match="not done in 3 s"):
            session.read("a page", at_once, lambda page: page.place(f"http://127.0.0.1:{port}"))
        session.settings = fine
        gate.open.set()
        assert other.result(120)
        assert found(maps, town.region.centre_tile), "in the same browser"

    assert len(site.searches) == 2
    assert chromiums() == before


def test_a_browser_that_dies_with_several_pages_open_is_replaced_by_one(
    town: Town, session: BrowserSession, tmp_path: Path
) -> None:
    site, gate, tiles = MapsSite(town, MapsBehaviour()), Gate(), town.region.tiles[5:7]
    with served(site, gate), ThreadPoolExecutor(2) as pool:
        maps = reader(session, site, tmp_path)
        lists = [pool.submit(found, maps, tile) for tile in tiles]
        wait_for(lambda: gate.waiting == 2)
        (died,) = chromiums()
        psutil.Process(died).kill()
        gate.open.set()
        assert all(result.result(120) for result in lists)
        assert len(chromiums() - {died}) == 1
    assert len(site.searches) <= 4


def test_a_refusal_in_one_tab_stops_the_others(town: Town, session: BrowserSession, tmp_path: Path) -> None:
    """Also one that is in the middle of its list, and one that waits for its turn. Nothing is said of their tiles."""
    refused, long = town.region.tiles[0], town.region.centre_tile
    site = MapsSite(town, MapsBehaviour(condition=by_tile({str(refused): "sorry"})))
    gate, limits = Gate(), PaceLimits(pages_per_day=100, pause_seconds=0, refusals=1)
    with served(site, gate, lambda asked: asked.path == "/search"), ThreadPoolExecutor(1) as pool:
        maps = reader(session, site, tmp_path, limits)
        other = pool.submit(maps.find, long, "restaurant")
        wait_for(lambda: gate.waiting == 1)
        assert maps.find(refused, "restaurant")[0].reach == "blocked"
        gate.open.set()
        with pytest.raises(SourceResting, match="it refused 1 times in a row"):
            other.result(120)
        with pytest.raises(SourceResting):
            maps.find(town.region.tiles[5], "restaurant")

    kinds = [request.kind for request in site.requests]
    assert (kinds.count("search"), kinds.count("answer")) == (2, 1), "no more places were asked for"


def test_closing_ends_those_who_wait_for_their_turn_or_for_a_tab(session: BrowserSession) -> None:
    del session  # it skips where there is no browser
    waiting: list[int] = []

    async def never() -> float:
        waiting.append(1)
        await asyncio.Event().wait()
        return 0.0

    with BrowserSession(QUICK) as fresh, ThreadPoolExecutor(3) as pool:
        pages = [pool.submit(fresh.read, "x", never, lambda page: page.place("http://127.0.0.1:9/")) for _ in range(3)]
        wait_for(lambda: len(waiting) == 2)
        fresh.close()
        for page in pages:
            with pytest.raises(PageUnread, match="the browser was closed"):
                page.result(60)
        with pytest.raises(PageUnread, match="the browser was closed"):
            fresh.read("x", never, lambda page: page.place("http://127.0.0.1:9/"))
