"""Google Maps lists per minute, processor time and memory, with one, two and three tabs per browser.

The town's map site stands in for Maps, in a process of its own, and takes half a second per answer; pauses are off. So
it is an upper bound: on the real site the pace of the machine limits, and its pages weigh more. Rates are wall-clock
time and need a quiet machine; the ratio to one tab comes from the same run.
"""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing import get_context
from multiprocessing.connection import Connection

import psutil

from benchmarks.harness import Bench
from cocli.demo.town import MapsBehaviour, build_town, serve_maps
from cocli.pipeline.sources.google_maps.browser.pace import Pace, PaceLimits
from cocli.pipeline.sources.google_maps.browser.reader import MapsReader
from cocli.pipeline.sources.google_maps.browser.session import BrowserSession
from cocli.pipeline.sources.google_maps.browser.settings import BrowserSettings

LATENCY = 0.5
TABS = (1, 2, 3)
PHRASE = "restaurant"
_LOOK_SECONDS = 0.5
_NO_PACE = PaceLimits(pages_per_day=100_000, pause_seconds=0)


@dataclass
class ReadLists:
    """What reading all lists cost with some number of tabs."""

    places: int = 0
    lists: int = 0
    seconds: float = 0.0
    processor: float = 0.0
    mib: list[float] = field(default_factory=list)


def main(bench: Bench) -> None:
    rounds, town = bench.size("rounds", 1), build_town(seed=1)
    conditions = f"{LATENCY} s per answer, {len(town.region.tiles)} lists of {PHRASE!r}, {rounds} round(s) in turns"
    with _served(bench) as url, tempfile.TemporaryDirectory() as folder:
        _read(ReadLists(), 1, url, folder)  # loads tables and fills caches
        spent = {tabs: ReadLists() for tabs in TABS}
        for _ in range(rounds):
            for tabs, total in spent.items():
                bench.note(f"{tabs} tab(s)")
                _read(total, tabs, url, folder)
    if len({total.places for total in spent.values()}) != 1:
        raise AssertionError(f"not the same places: {[total.places for total in spent.values()]}")
    alone = spent[1]
    for tabs, total in spent.items():
        rate, first = total.lists / total.seconds * 60, alone.lists / alone.seconds * 60
        bench.measure(
            f"lists_per_min_{tabs}", rate, unit="lists/min", peer="one tab", ratio=rate / first, conditions=conditions
        )
        bench.measure(
            f"processor_s_per_list_{tabs}",
            total.processor / total.lists,
            unit="s",
            conditions="worker, driver and Chromium",
        )
        bench.measure(f"mib_{tabs}", max(total.mib), unit="MiB", conditions="Chromium and driver, highest seen, PSS")
    extra = (max(spent[TABS[-1]].mib) - max(alone.mib)) / (TABS[-1] - 1)
    bench.measure("mib_per_tab", extra, unit="MiB", conditions="each one more than the first")


def _read(total: ReadLists, tabs: int, url: str, folder: str) -> None:
    town, settings = build_town(seed=1), BrowserSettings(url=url, tabs=tabs)
    pace = Pace(os.path.join(folder, "pace.json"), _NO_PACE, clock=_now, sleep=asyncio.sleep, rng=random.Random(1))
    with BrowserSession(settings) as session, ThreadPoolExecutor(tabs) as pool:
        maps = MapsReader(session, pace, account="default", clock=_now)
        maps.find(town.region.tiles[0], PHRASE)  # starts the browser
        watch = BrowserWatch()
        with watch:
            started, own = time.perf_counter(), time.process_time()
            found = list(pool.map(lambda tile: maps.find(tile, PHRASE)[1].places, town.region.tiles))
            total.seconds += time.perf_counter() - started
        total.processor += time.process_time() - own - watch.cost + watch.processor
    total.mib += watch.mib
    total.lists += len(found)
    total.places += sum(map(len, found))


class BrowserWatch:
    """What the processes of the browser take: memory now and then, processor time from the first look to the last."""

    def __init__(self) -> None:
        self.mib: list[float] = []
        self.cost = 0.0
        """Processor seconds of the looking itself."""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look_on)
        self.processor = -_processor_seconds()

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self.processor += _processor_seconds()

    def _look_on(self) -> None:
        while not self._over.wait(_LOOK_SECONDS):
            self.mib.append(sum(map(_proportional_mib, _browser_processes())))
        self.cost = time.thread_time()


def _browser_processes() -> list[psutil.Process]:
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it ended while it was looked at
            found += [process] if "python" not in process.name() else []
    return found


def _processor_seconds() -> float:
    """Also of those that ended: a tab's process ends with its page, and whoever started it knows what it took."""
    return sum(sum(process.cpu_times()[:4]) for process in _browser_processes())


def _proportional_mib(process: psutil.Process) -> float:
    """What several processes share is counted once."""
    with suppress(OSError), open(f"/proc/{process.pid}/smaps_rollup", encoding="ascii") as file:  # it may have ended
        return sum(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1024
    return 0.0


@contextmanager
def _served(bench: Bench) -> Iterator[str]:
    """The map site, so that what it costs is not counted as ours."""
    context = get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there,), daemon=True)
    process.start()
    url = str(here.recv())
    bench.note(f"the town's map site is {url}")
    try:
        yield url
    finally:
        here.send("end")
        process.join()


def _serve(connection: Connection) -> None:
    with serve_maps(build_town(seed=1), MapsBehaviour(latency=LATENCY)) as site:
        connection.send(site.url)
        connection.recv()


def _now() -> datetime:
    return datetime.now(UTC)
