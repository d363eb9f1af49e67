"""Google Maps in a real Chromium, against the map site of the demo town on loopback."""

from __future__ import annotations

import asyncio
import random
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from cocli.demo.town import MapsBehaviour, MapsSite, Town, build_town, by_tile, serve_maps
from cocli.demo.town.http_server import Asked, TownAnswer, running
from cocli.demo.town.maps.search import TownSearch, matches
from cocli.errors import PageUnread, SourceError
from cocli.keys.tile import Tile
from cocli.models.place import Place
from cocli.pipeline.sources.google_maps.browser.pace import Pace, PaceLimits
from cocli.pipeline.sources.google_maps.browser.reader import MapsReader
from cocli.pipeline.sources.google_maps.browser.session import BrowserSession
from cocli.pipeline.sources.google_maps.browser.settings import BrowserSettings
from cocli.pipeline.sources.google_maps.parser.parse import parse

QUICK = BrowserSettings(url="", load=60, round=0.5, rounds=3, look=0.1, settle=1)
HASTE = PaceLimits(pages_per_day=100_000, pause_seconds=0, refusals=1000)


@pytest.fixture(scope="module")
def town() -> Town:
    return build_town(seed=1)


@pytest.fixture(scope="module")
def session() -> Iterator[BrowserSession]:
    """One browser for all tests of this file: where cookies matter, a site has a host name of its own."""
    pytest.importorskip("playwright.async_api", reason="needs the extra `browser`")
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        pytest.skip("needs Chromium on this machine")
    with BrowserSession(QUICK) as opened:
        yield opened


def reader(session: BrowserSession, site: MapsSite, folder: Path, host: str = "127.0.0.1") -> MapsReader:
    session.settings = replace(session.settings, url=f"http://{host}:{site.port}")
    pace = Pace(str(folder / "pace.json"), HASTE, clock=now, sleep=asyncio.sleep, rng=random.Random(1))
    return MapsReader(session, pace, account="default", clock=now)


async def at_once() -> float:
    """The turn of whoever need not wait for it."""
    return time.time()


def now() -> datetime:
    return datetime.now(UTC)


def ids(places: list[Place]) -> list[str | None]:
    return [place.place_id for place in places]


def shown(town: Town, site: MapsSite, number: int = -1) -> list[str]:
    return [business.place_id for business in matches(town, site.searches[number])]


def test_every_business_of_a_list_is_found_once_with_all_that_the_list_knows(
    town: Town, session: BrowserSession, tmp_path: Path
) -> None:
    tile = town.region.centre_tile
    with serve_maps(town) as site:
        capture, reading = reader(session, site, tmp_path).find(tile, "restaurant")

    places = parse(capture.document)
    assert (capture.reach, capture.reason) == ("exhausted", None)
    assert ids(places) == ids(list(reading.places))
    assert sorted(map(str, ids(places))) == sorted(shown(town, site)), "sponsored ones are not counted twice"
    assert sum(place.sponsored or False for place in places) == 2
    known = {business.place_id: business for business in town.businesses}
    for place in places:
        business = known[str(place.place_id)]
        assert (place.name, place.phone_e164) == (business.name, business.phone_in("google-maps"))
        assert (place.website, place.lat) == (business.website_in("google-maps"), business.spot.lat)
        assert (place.tile, place.phrase) == (tile, "restaurant")
    assert {"page", "answer-0001", "answer-0002"} <= set(capture.document.blobs)
    assert all(b"restaurant" in capture.document.blobs[name].content for name in ("page", "answer-0001"))


def test_a_fixed_los_angeles_url_and_a_corner_instead_of_the_centre(
    town: Town, session: BrowserSession, tmp_path: Path
) -> None:
    """Every tile of every campaign was once searched at one place; and then at its south-west corner."""
    whole = town.region.tiles[5]
    tiles = [town.region.tiles[0], whole, whole.split()[3], whole.split()[3].split()[0]]
    with serve_maps(town) as site:
        maps = reader(session, site, tmp_path)
        for tile in tiles:
            maps.find(tile, "hair salon")

    assert [(one.lat, one.lon) for one in site.searches] == [tile.centre for tile in tiles]
    assert [one.phrase for one in site.searches] == ["hair salon"] * 4
    zooms = [one.zoom for one in site.searches]
    assert zooms[0] == zooms[1]
    assert [round(zoom - zooms[1], 2) for zoom in zooms[1:]] == [0, 1, 2], "half a tile is a zoom closer"


def test_a_list_without_an_end_is_cut_short_and_not_exhausted(
    town: Town, session: BrowserSession, tmp_path: Path
) -> None:
    with serve_maps(town, MapsBehaviour(cap=25)) as site:
        capture, reading = reader(session, site, tmp_path).find(town.region.centre_tile, "restaurant")

    assert capture.reach == "cut_short"
    assert len(reading.places) == 25
    assert "no end after 25" in str(capture.reason)


def test_an_end_after_one_answer_is_suspect(town: Town, session: BrowserSession, tmp_path: Path) -> None:
    """Some visitors are shown twenty places and an end, whatever there is."""
    crowd = matches(town, TownSearch("restaurant", *town.region.centre_tile.centre, 13))[:20]
    with serve_maps(replace(town, businesses=tuple(crowd))) as site:
        capture, reading = reader(session, site, tmp_path).find(town.region.centre_tile, "restaurant")

    assert (capture.reach, len(reading.places), reading.verdict.end_seen) == ("cut_short", 20, True)


@pytest.mark.parametrize("language", ["de", "el", "ja"])
def test_consent_is_refused_once_in_any_language(
    town: Town, session: BrowserSession, tmp_path: Path, language: str
) -> None:
    with serve_maps(town, MapsBehaviour(consent=True, language=language)) as site:
        maps = reader(session, site, tmp_path, host=f"{language}.localhost")
        reaches = [maps.find(tile, "florist")[0].reach for tile in town.region.tiles[5:7]]

    assert reaches == ["exhausted", "exhausted"], "the end of the list is known in any language as well"
    assert [request.kind for request in site.requests].count("consent") == 1
    assert [request.kind for request in site.requests].count("search") == 2


def test_limited_view_is_blocked_and_so_is_a_captcha_and_they_are_never_no_results(
    town: Town, session: BrowserSession, tmp_path: Path
) -> None:
    limited, sorry = town.region.tiles[5], town.region.tiles[6]
    behaviour = MapsBehaviour(condition=by_tile({str(limited): "limited", str(sorry): "sorry"}))
    with serve_maps(town, behaviour) as site:
        maps = reader(session, site, tmp_path)
        captures = [maps.find(tile, "restaurant")[0] for tile in (limited, sorry)]
        place = next(one for one in town.businesses if one.spot.tile == limited and "google-maps" in one.sources)
        visit = maps.visit(place.place_id)

    assert [capture.reach for capture in captures] == ["blocked", "blocked"]
    assert "limited view" in str(captures[0].reason)
    assert "429" in str(captures[1].reason)
    assert "limited view" in str(visit.blocked)


def test_a_refusal_in_the_middle_of_a_list_is_no_end_of_it(town: Town, session: BrowserSession, tmp_path: Path) -> None:
    second = MapsBehaviour(condition=lambda _, asked: "sorry" if asked == 2 else "ordinary")
    with serve_maps(town, second) as site:
        capture, _ = reader(session, site, tmp_path).find(town.region.centre_tile, "restaurant")

    assert (capture.reach, capture.reason) == ("blocked", "Maps refused to give more places (429)")


def test_a_page_that_did_not_load_is_not_zero_results(town: Town, session: BrowserSession, tmp_path: Path) -> None:
    tile = town.region.centre_tile
    with serve_maps(town, MapsBehaviour(condition=lambda _, asked: "error" if asked == 0 else "ordinary")) as site:
        maps = reader(session, site, tmp_path)
        with pytest.raises(PageUnread, match="error \\(500\\)"):
            maps.find(tile, "restaurant")
        assert maps.find(tile, "restaurant")[0].reach == "exhausted", "another attempt brings it"
    with serve_maps(town, MapsBehaviour(condition=lambda _, asked: "error" if asked else "ordinary")) as site:
        maps = reader(session, site, tmp_path)
        session.settings = replace(session.settings, load=1)
        with pytest.raises(PageUnread, match="an answer was an error \\(500\\)"):
            maps.find(tile, "restaurant")
        session.settings = replace(session.settings, load=60)
    with pytest.raises(PageUnread, match="ERR_CONNECTION_REFUSED"):
        maps.find(tile, "restaurant")


def test_a_search_without_a_result_is_proved_empty_and_one_result_is_one_place(
    town: Town, session: BrowserSession, tmp_path: Path
) -> None:
    lonely = next(one for one in town.businesses if "google-maps" in one.sources)
    tile = Tile.containing(lonely.spot.lat, lonely.spot.lon)
    with serve_maps(town) as site:
        maps = reader(session, site, tmp_path)
        nothing, empty = maps.find(tile, "submarine dealer")
        alone, one = maps.find(tile, lonely.name.lower())

    assert (nothing.reach, empty.places) == ("exhausted", ())
    assert (alone.reach, ids(list(one.places))) == ("exhausted", [lonely.place_id])
    assert one.places[0].website == lonely.website_in("google-maps")


def test_the_page_of_a_place(town: Town, session: BrowserSession, tmp_path: Path) -> None:
    business = next(one for one in town.businesses if one.website_in("google-maps") and one.rating)
    with serve_maps(town) as site:
        maps = reader(session, site, tmp_path)
        visit = maps.visit(business.place_id)
        gone = maps.visit("ChIJN1t_tDeuEmsRUsoyG83frY4")

    (place,) = visit.reading.places
    assert (visit.blocked, visit.gone, place.place_id) == (None, False, business.place_id)
    assert (place.name, place.website) == (business.name, business.website_in("google-maps"))
    assert visit.document.doc == f"place/{business.place_id}"
    assert gone.gone


def test_a_page_that_never_yields_is_ended_and_the_next_one_is_read(
    town: Town, session: BrowserSession, tmp_path: Path
) -> None:
    async def busy(_: Asked) -> TownAnswer:
        return TownAnswer(200, {"Content-Type": "text/html"}, b"<div role=main><script>while (true) {}</script></div>")

    tile = town.region.centre_tile
    with serve_maps(town) as site, running(busy, 0, "busy") as port:
        maps = reader(session, site, tmp_path)
        fine, session.settings = session.settings, replace(session.settings, url=f"http://127.0.0.1:{port}", visit=3)
        with pytest.raises(PageUnread, match="not done in 3 s"):
            maps.find(tile, "florist")
        session.settings = fine
        assert maps.find(tile, "florist")[0].reach == "exhausted"


def test_a_browser_that_does_not_start_is_no_fault_of_a_page(session: BrowserSession) -> None:
    del session  # it skips where there is no browser
    with (
        BrowserSession(QUICK, executable="/bin/false") as none,
        pytest.raises(SourceError, match="does not start") as error,
    ):
        none.read("x", at_once, lambda page: page.place("http://127.0.0.1:9/"))
    assert not isinstance(error.value, PageUnread)


def test_a_browser_that_died_is_replaced_and_keeps_its_cookies(
    town: Town, tmp_path: Path, session: BrowserSession
) -> None:
    del session  # it skips where there is no browser
    before = chromiums()
    with serve_maps(town, MapsBehaviour(consent=True)) as site, BrowserSession(replace(QUICK, pages=2)) as fresh:
        maps = reader(fresh, site, tmp_path)
        tile = town.region.centre_tile
        reaches = [maps.find(tile, "florist")[0].reach]
        killed = chromiums() - before
        for process in killed:
            with suppress(psutil.NoSuchProcess):  # its parent took it along
                process.kill()
        reaches += [maps.find(tile, "florist")[0].reach for _ in range(3)]
        assert chromiums() - before, "the third page of a browser is of the next one"
    assert killed
    assert reaches == ["exhausted"] * 4
    assert [request.kind for request in site.requests].count("consent") == 1
    assert_none_is_left_over(before)


def test_closing_while_a_page_is_read_ends_both(town: Town, tmp_path: Path, session: BrowserSession) -> None:
    del session  # it skips where there is no browser
    before = chromiums()
    with serve_maps(town, MapsBehaviour(latency=5)) as site, ThreadPoolExecutor(1) as pool:
        fresh = BrowserSession(QUICK)
        maps = reader(fresh, site, tmp_path)
        reading = pool.submit(maps.find, town.region.centre_tile, "florist")
        while not chromiums() - before:
            time.sleep(0.05)
        maps.close()
        with pytest.raises(PageUnread):
            reading.result(60)
        fresh.close()
    assert_none_is_left_over(before)


def assert_none_is_left_over(before: set[psutil.Process]) -> None:
    until = time.monotonic() + 60
    while not chromiums() <= before:
        assert time.monotonic() < until, "a Chromium outlived its session"
        time.sleep(0.05)


def chromiums() -> set[psutil.Process]:
    return {process for process in psutil.Process().children(recursive=True) if _is_live_chromium(process)}


def _is_live_chromium(process: psutil.Process) -> bool:
    try:
        return "chrom" in process.name() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # it ended while it was looked at
        return False
