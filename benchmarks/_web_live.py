"""The live dashboard in Chromium and under requests: first paint, a long list, requests, changes that are seen."""

from __future__ import annotations

import contextlib
import gzip
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from playwright.sync_api import Browser
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from tests.kit.cluster import Cluster
from tests.kit.web import NAME, RunningWeb, company, running_web
from tests.web.looking import AXE, live_reader
from tests.web.test_budget import scripts
from tests.web.test_screens import SCREENS

from cocli.app.campaigns.campaign import new_campaign
from cocli.app.indexes.care import compact_index
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town.campaign import TownHome
from cocli.index.writer import IndexWriter
from cocli.service.web.access import Role

_PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"


def script_kb() -> float:
    """All scripts but the map's, as they are sent."""
    return sum(len(gzip.compress(data, 9)) for data in scripts()) / 1000


@contextmanager
def filled_web(folder: Path, rows: int) -> Iterator[RunningWeb]:
    """A server over a campaign with so many prospects."""
    home = TownHome(folder)
    home.data.mkdir(parents=True, exist_ok=True)
    with open_workspace(home.environ, Flags()) as workspace:
        new_campaign(workspace, NAME, ["plumber"])
        indexes = campaign_indexes(workspace, NAME)
        writer: Any = IndexWriter(indexes.open(indexes.ref("prospects")))
        writer.append(
            company(number % 4000, company_hash=f"{number:016x}", name=f"Pipes {number}") for number in range(rows)
        )
        compact_index(indexes, indexes.ref("prospects"))
    with running_web(folder, filled=False) as running:
        yield running


def first_paint_ms(browser: Browser, running: RunningWeb, runs: int) -> float:
    """Until something is seen, on a page that the browser has not loaded before: the median."""
    found = []
    for _ in range(runs):
        reader = live_reader(browser, running, Role.VIEWER)
        page = reader.open(f"?campaign={NAME}&view=dashboard")
        found.append(float(page.evaluate(_PAINT)))
        page.context.close()
    return statistics.median(found)


def list_ms(browser: Browser, running: RunningWeb, runs: int) -> float:
    """From the address to the first row of the list: the median. The files of the search are made before."""
    found = []
    for number in range(runs + 1):
        reader = live_reader(browser, running, Role.VIEWER)
        began = time.perf_counter()
        reader.page.set_default_timeout(180_000)
        page = reader.open(f"?campaign={NAME}&view=prospects")
        page.locator("main").get_by_text("Pipes 0", exact=True).first.wait_for()
        if number:
            found.append((time.perf_counter() - began) * 1000)
        page.context.close()
    return statistics.median(found)


def requests_ratio(running: RunningWeb, count: int) -> tuple[float, float, float]:
    """Requests a second for a small data file, beside a bare route with the same bytes: ours, theirs, ratio."""
    with running.caller(Role.VIEWER) as caller:
        data = caller.get("/data/site.json").raise_for_status().content
        with _bare(data) as address, httpx2.Client(base_url=address) as bare:
            ours, theirs = [], []
            for _ in range(5):  # in turns: whatever else the machine does falls on both
                ours.append(_rate(caller, "/data/site.json", count // 5))
                theirs.append(_rate(bare, "/", count // 5))
    mine, its = statistics.median(ours), statistics.median(theirs)
    return mine, its, mine / its


def _rate(client: httpx2.Client, path: str, count: int) -> float:
    began = time.perf_counter()
    for _ in range(count):
        client.get(path).raise_for_status()
    return count / (time.perf_counter() - began)


@contextmanager
def _bare(data: bytes) -> Iterator[str]:
    import json

    document = json.loads(data)

    async def answer(_request: Request) -> JSONResponse:
        return JSONResponse(document)

    server = uvicorn.Server(
        uvicorn.Config(Starlette(routes=[Route("/", answer)]), port=0, log_level="error", access_log=False)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


def bridge_seconds(folder: Path, changes: int) -> list[float]:
    """From the click to the moment at which the change is seen, with two real supervisors, one killed in between."""
    with running_web(folder) as running, running.caller(Role.ADMIN) as caller:
        cluster = Cluster(running.home.folder, NAME)
        try:
            for host in ("pi-1", "pi-2"):
                cluster.start(host)
            cluster.wait_for(lambda: len(_config(caller)["listeners"]) >= 2)
            found = []
            for number in range(changes):
                if number == changes // 2:
                    cluster.kill("pi-2")
                found.append(_seen_after(caller, f'add-query "phrase {number}"', f"phrase {number}"))
            return found
        finally:
            with contextlib.suppress(Exception):  # the figures are there: what is left of the machines is no matter
                cluster.end()


def _config(caller: httpx2.Client) -> Any:
    return caller.get(f"/data/{NAME}/config.json").raise_for_status().json()


def _seen_after(caller: httpx2.Client, text: str, phrase: str) -> float:
    began = time.perf_counter()
    body = {"commands": [{"text": text, "host": None}]}
    answer = caller.post(f"/api/{NAME}/commands", json=body)
    answer.raise_for_status()
    while phrase not in _config(caller)["queries"]:
        if time.perf_counter() - began > 120:
            raise TimeoutError(f"{text} was not seen in two minutes: {answer.text}")
        time.sleep(0.2)
    return time.perf_counter() - began


def violations(browser: Browser, running: RunningWeb) -> int | None:
    """What axe-core finds wrong on all screens; None where it is not installed."""
    if not AXE.is_file():
        return None
    reader, found = live_reader(browser, running, Role.ADMIN), 0
    for query, _, _ in SCREENS.values():
        reader.open(f"?campaign={NAME}{query}" if query else "")
        reader.settled()
        found += len(reader.violations())
    return found
