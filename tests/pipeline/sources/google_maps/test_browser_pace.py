"""How often Maps is asked, by how many processes whatever, and at which zoom."""

from __future__ import annotations

import asyncio
import json
import math
import random
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.errors import FormatError, SourceResting
from cocli.keys.tile import Tile
from cocli.pipeline.sources.google_maps.browser.consent import asks_for_consent
from cocli.pipeline.sources.google_maps.browser.pace import Pace, PaceLimits
from cocli.pipeline.sources.google_maps.browser.received import is_answer
from cocli.pipeline.sources.google_maps.browser.search_url import VIEWPORT, place_url, search_url, zoom_for

EVENING = datetime(2026, 11, 16, 23, 30, tzinfo=UTC)


@dataclass
class Time:
    """A clock that is only moved by waiting."""

    now: datetime = EVENING
    slept: list[float] = field(default_factory=list)
    meanwhile: Callable[[], None] = lambda: None
    """Happens whenever somebody waits."""

    def clock(self) -> datetime:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)
        self.meanwhile()


def take(pace: Pace) -> float:
    return asyncio.run(pace.take())


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def pace(tmp_path: Path, time: Time) -> Callable[..., Pace]:
    def opened(**limits: float) -> Pace:
        path = str(tmp_path / "state" / "pace.json")
        return Pace(path, PaceLimits(**limits), clock=time.clock, sleep=time.sleep, rng=random.Random(1))  # type: ignore[arg-type]

    return opened


def test_between_two_pages_there_is_a_pause_whichever_worker_asks(pace: Callable[..., Pace], time: Time) -> None:
    workers = [pace(pause_seconds=10), pace(pause_seconds=10)]
    for number in range(40):
        take(workers[number % 2])

    assert len(time.slept) == 39, "only the first page did not wait"
    assert all(5 <= seconds <= 15 for seconds in time.slept)
    assert sum(time.slept) / 39 == pytest.approx(10, rel=0.2)
    time.now += timedelta(minutes=5)
    take(workers[0])
    assert len(time.slept) == 39, "whoever waited long enough waits no more"


def test_a_day_has_so_many_pages_and_then_there_is_another_day(pace: Callable[..., Pace], time: Time) -> None:
    for _ in range(3):
        take(pace(pages_per_day=3, pause_seconds=1))
    with pytest.raises(SourceResting, match=r"before 2026-11-17 00:00 UTC: the 3 pages of a day are used up"):
        take(pace(pages_per_day=3, pause_seconds=1))
    assert pace().pages_today == 3
    time.now += timedelta(minutes=31)
    take(pace(pages_per_day=3, pause_seconds=1))
    assert pace().pages_today == 1


def test_after_refusals_in_a_row_nobody_asks_for_a_while(pace: Callable[..., Pace], time: Time) -> None:
    limits = {"refusals": 3, "rest_seconds": 600, "pause_seconds": 0}

    def ask(*, blocked: bool) -> None:
        pace(**limits).answered(take(pace(**limits)), blocked=blocked)

    for blocked in (True, True, False, True, True, True):
        ask(blocked=blocked)
    with pytest.raises(SourceResting, match="23:40 UTC: it refused 3 times in a row"):
        take(pace(**limits))
    time.now += timedelta(seconds=601)
    ask(blocked=True)
    with pytest.raises(SourceResting, match="2026-11-17 00:00 UTC"):
        take(pace(**limits))
    time.now += timedelta(seconds=1201)
    ask(blocked=False)
    take(pace(**limits))


def test_pages_that_were_open_before_a_refusal_say_nothing_of_what_comes_after_it(
    pace: Callable[..., Pace], time: Time
) -> None:
    maps = pace(refusals=3, rest_seconds=600, pause_seconds=1)
    turns = [take(maps) for _ in range(6)]
    maps.answered(turns[1], blocked=True)
    maps.answered(turns[0], blocked=False)
    maps.answered(turns[2], blocked=True)
    maps.check()
    maps.answered(turns[3], blocked=True)
    with pytest.raises(SourceResting, match="23:40 UTC: it refused 3 times in a row"):
        maps.check()
    maps.answered(turns[4], blocked=True)
    maps.answered(turns[5], blocked=False)
    with pytest.raises(SourceResting, match="23:40 UTC: it refused 3 times in a row"):
        maps.check()
    time.now += timedelta(seconds=601)
    maps.answered(take(maps), blocked=False)
    maps.answered(take(maps), blocked=True)
    take(maps)


def test_whoever_waits_for_a_turn_does_not_ask_once_maps_has_refused(pace: Callable[..., Pace], time: Time) -> None:
    maps = pace(refusals=1, pause_seconds=10)
    turn = take(maps)
    time.meanwhile = lambda: pace(refusals=1).answered(turn, blocked=True)
    with pytest.raises(SourceResting, match="it refused 1 times in a row"):
        take(maps)


def test_a_clock_that_was_set_back_makes_no_rest_of_a_single_refusal(pace: Callable[..., Pace], time: Time) -> None:
    pace().answered(take(pace()), blocked=True)
    time.now -= timedelta(days=3)
    take(pace())


def test_workers_side_by_side_never_count_a_page_for_two(tmp_path: Path) -> None:
    path = str(tmp_path / "pace.json")

    def ask(_: int) -> None:
        limits = PaceLimits(pages_per_day=10_000, pause_seconds=0)
        take(Pace(path, limits, clock=lambda: EVENING, sleep=asyncio.sleep, rng=random.Random(1)))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(200)))
    assert json.loads(Path(path).read_text())["pages"] == 200


_WORKER = """
import asyncio, random, sys
from datetime import UTC, datetime
from cocli.pipeline.sources.google_maps.browser.pace import Pace, PaceLimits

async def tab(pace):
    return [await pace.take() for _ in range(4)]

async def tabs(pace):
    return await asyncio.gather(tab(pace), tab(pace))

limits = PaceLimits(pages_per_day=20, pause_seconds=0.2)
pace = Pace(sys.argv[1], limits, clock=lambda: datetime.now(UTC), sleep=asyncio.sleep, rng=random.Random())
print(*(repr(turn) for turns in asyncio.run(tabs(pace)) for turn in turns))
"""


def test_all_tabs_of_all_processes_of_a_machine_have_one_pace(tmp_path: Path) -> None:
    path = str(tmp_path / "pace.json")
    command = [sys.executable, "-c", _WORKER, path]
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    turns = sorted(float(turn) for worker in workers for turn in worker.communicate(timeout=120)[0].split())

    assert [worker.returncode for worker in workers] == [0, 0]
    assert json.loads(Path(path).read_text())["pages"] == len(turns) == 16
    assert min(after - before for before, after in pairwise(turns)) >= 0.0999


def test_a_clock_that_was_set_back_does_not_stop_everything(pace: Callable[..., Pace], time: Time) -> None:
    take(pace(pause_seconds=1))
    time.now -= timedelta(days=3)
    take(pace(pause_seconds=1))
    assert sum(time.slept) <= 101


def test_a_file_that_is_no_count_is_named(pace: Callable[..., Pace], tmp_path: Path) -> None:
    take(pace())
    (tmp_path / "state" / "pace.json").write_text("[]")
    with pytest.raises(FormatError, match=r"pace\.json"):
        take(pace())


# --- addresses


@given(st.integers(-900, 899), st.integers(-1800, 1799), st.integers(0, 2))
def test_a_tile_fits_on_the_map_and_fills_it(north: int, east: int, halvings: int) -> None:
    tile = Tile(north * 100, east * 100)
    for _ in range(halvings):
        tile = tile.split()[1]
    zoom = zoom_for(tile)
    world = 256 * 2**zoom
    width = tile.size / 1000 / 360 * world
    height = width / math.cos(math.radians(min(abs(tile.centre[0]), 85)))
    assert width <= VIEWPORT.map_width
    assert height <= VIEWPORT.height + 1e-6
    assert width > VIEWPORT.map_width * 0.98 or height > VIEWPORT.height * 0.98


def test_a_tenth_of_a_degree_is_about_zoom_thirteen() -> None:
    assert 12.5 < zoom_for(Tile(38_500, -101_100)) < 13.5
    assert 11.5 < zoom_for(Tile(60_000, 25_000)) < 13


def test_the_address_of_a_search_holds_the_centre_and_the_phrase() -> None:
    url = search_url("https://maps.example", Tile(-50, 25, 25), "café / 24 h?")
    assert url.startswith("https://maps.example/maps/search/caf%C3%A9%20%2F%2024%20h%3F/@-0.03750,0.03750,")
    assert url.endswith("z?hl=en")
    assert place_url("https://m", "ChIJ-x") == "https://m/maps/place/?q=place_id:ChIJ-x&hl=en"


@pytest.mark.parametrize(
    ("url", "is_one"),
    [
        ("https://www.google.com/search?tbm=map&authuser=0&q=x&pb=!1", True),
        ("https://www.google.com/maps/preview/place?pb=!1", True),
        ("https://www.google.com/search?q=tbm%3Dmap", False),
        ("https://www.google.com/maps/vt?tbm=map", False),
        ("http://[x", False),
    ],
)
def test_which_requests_are_answers(url: str, is_one: bool) -> None:
    assert is_answer(url) is is_one


def test_where_consent_is_asked_for() -> None:
    assert asks_for_consent("https://consent.google.com/ml?continue=x")
    assert not asks_for_consent("https://www.google.com/maps/search/consent/@1,2,3z")
