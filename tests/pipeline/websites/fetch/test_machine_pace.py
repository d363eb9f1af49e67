"""Several processes of a machine are as polite as one: by the record of the servers that they ask."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_network
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from cocli.demo.town.http_server import Asked, TownAnswer, loopback_addresses, running
from cocli.pipeline.websites.fetch import (
    Failure,
    Fetched,
    Fetcher,
    FetchFailed,
    FetchSettings,
    Outcome,
    open_pace_table,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="needs more than one loopback address")

INTERVAL, PER_ADDRESS, ADDRESS_RATE = 0.25, 2, 10.0
ADDRESSES = 2
SITES = [f"site{number}.example" for number in range(6)]

ASKS = """
import asyncio, json, sys
from ipaddress import ip_network
from cocli.pipeline.websites.fetch import Fetched, Fetcher, FetchSettings, open_pace_table

task = json.loads(sys.argv[1])

async def resolve(host, _):
    number = int(host.removeprefix("www.").removeprefix("site")[0])
    return [(task["addresses"][number % len(task["addresses"])], task["port"])]

async def main():
    settings = FetchSettings(
        rate=task["rate"], per_address=task["per_address"], address_rate=task["address_rate"],
        allowed=(ip_network("127.0.0.0/8"),),
    )
    async with Fetcher(settings, resolve=resolve, paces=open_pace_table(task["folder"])) as fetcher:
        async def read(site):
            prefix = "www." if task["number"] % 2 else ""
            for page in range(task["pages"]):
                outcome = await fetcher.fetch(f"http://{prefix}{site}/{page}")
                assert isinstance(outcome, Fetched), outcome
        await asyncio.gather(*(read(site) for site in task["sites"]))

asyncio.run(main())
"""


@dataclass(frozen=True, slots=True)
class Visit:
    host: str
    address: str
    began: float
    ended: float


@dataclass(slots=True)
class RecordingServer:
    """Answers every request after a while, and writes down when it came."""

    latency: float = 0.03
    robots: str = ""
    busy: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    busiest: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    visits: list[Visit] = field(default_factory=list)
    answers: list[TownAnswer] = field(default_factory=list)
    """Given first, one after the other."""

    async def answer(self, asked: Asked) -> TownAnswer:
        site, loop = asked.host.removeprefix("www."), asyncio.get_running_loop()
        for name in (site, asked.address):
            self.busy[name] += 1
            self.busiest[name] = max(self.busiest[name], self.busy[name])
        await asyncio.sleep(self.latency)
        for name in (site, asked.address):
            self.busy[name] -= 1
        self.visits.append(Visit(site, asked.address, asked.at, loop.time()))
        if asked.path == "/robots.txt":
            return TownAnswer(200, {"Content-Type": "text/plain"}, self.robots.encode())
        if self.answers:
            return self.answers.pop(0)
        return TownAnswer(200, {"Content-Type": "text/html"}, b"<p>A page")

    def gaps(self, site: str) -> list[float]:
        began = sorted(visit.began for visit in self.visits if visit.host == site)
        return [second - first for first, second in pairwise(began)]

    def most_in_a_second(self, address: str) -> int:
        began = sorted(visit.began for visit in self.visits if visit.address == address)
        return max(sum(start <= at < start + 1 for at in began) for start in began)


@contextmanager
def asking(folder: Path, port: int, processes: int, pages: int) -> Iterator[list[subprocess.Popen[str]]]:
    started = []
    for number in range(processes):
        task = {
            "number": number,
            "port": port,
            "folder": str(folder),
            "sites": SITES,
            "pages": pages,
            "addresses": loopback_addresses(ADDRESSES),
            "rate": 1 / INTERVAL,
            "per_address": PER_ADDRESS,
            "address_rate": ADDRESS_RATE,
        }
        started.append(
            subprocess.Popen([sys.executable, "-c", ASKS, json.dumps(task)], stderr=subprocess.PIPE, text=True)
        )
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.communicate()


@linux_only
def test_no_site_sees_two_processes_within_its_interval_and_no_address_more_than_its_share(tmp_path: Path) -> None:
    server = RecordingServer()
    processes, pages = 3, 2
    with (
        running(server.answer, 0, "pace", addresses=ADDRESSES) as port,
        asking(tmp_path, port, processes, pages) as started,
    ):
        for process in started:
            _, errors = process.communicate(timeout=120)
            assert process.returncode == 0, errors
    assert len(server.visits) == processes * len(SITES) * (pages + 1)
    assert min(gap for site in SITES for gap in server.gaps(site)) >= INTERVAL - 0.002
    assert {server.busiest[site] for site in SITES} == {1}
    for address in loopback_addresses(ADDRESSES):
        assert server.busiest[address] <= PER_ADDRESS
        assert server.most_in_a_second(address) <= ADDRESS_RATE + PER_ADDRESS


@linux_only
def test_processes_that_are_killed_and_started_again_stay_within_the_interval(tmp_path: Path) -> None:
    server = RecordingServer(latency=0.1)
    with running(server.answer, 0, "pace", addresses=ADDRESSES) as port:
        with asking(tmp_path, port, 2, 50) as started:
            while len(server.visits) < 20:
                assert all(process.poll() is None for process in started)
                time.sleep(0.01)
        seen = len(server.visits)
        with asking(tmp_path, port, 1, 1) as started:
            _, errors = started[0].communicate(timeout=60)
            assert started[0].returncode == 0, errors
    assert len(server.visits) > seen
    assert min(gap for site in SITES for gap in server.gaps(site)) >= INTERVAL - 0.002


def fetch(folder: Path, port: int, url: str) -> Outcome:
    """What a process would do that is started anew."""

    async def resolve(host: str, _: int) -> list[tuple[str, int]]:
        return [("127.0.0.1", port)]

    async def main() -> Outcome:
        settings = FetchSettings(rate=50, robots=False, allowed=(ip_network("127.0.0.0/8"),))
        async with Fetcher(settings, resolve=resolve, paces=open_pace_table(str(folder))) as fetcher:
            return await fetcher.fetch(url)

    return asyncio.run(main())


@pytest.mark.parametrize("status", [429, 503])
def test_a_site_that_asks_for_rest_gets_it_from_everybody(tmp_path: Path, status: int) -> None:
    server = RecordingServer(answers=[TownAnswer(status, {"Retry-After": "40", "Content-Type": "text/html"})])
    with running(server.answer, 0, "pace") as port:
        first = fetch(tmp_path, port, "http://firm.example/")
        again = fetch(tmp_path, port, "http://www.firm.example/contact")
        other = fetch(tmp_path, port, "http://other.example/")
    assert isinstance(first, FetchFailed)
    assert (first.status, first.retry_after) == (status, 40.0)
    assert isinstance(again, FetchFailed)
    assert (again.kind, again.retryable) == (Failure.RESTS, True)
    assert again.retry_after is not None
    assert 10 < again.retry_after <= 40
    assert isinstance(other, Fetched)
    assert [visit.host for visit in server.visits] == ["firm.example", "other.example"]


def test_a_short_rest_is_waited_for(tmp_path: Path) -> None:
    server = RecordingServer(answers=[TownAnswer(503, {"Retry-After": "1", "Content-Type": "text/html"})])
    with running(server.answer, 0, "pace") as port:
        assert isinstance(fetch(tmp_path, port, "http://firm.example/"), Fetched)
    assert server.gaps("firm.example")[0] >= 1.0
