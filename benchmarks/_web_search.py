"""The dashboard's search in Chromium: how long an answer takes, and how much memory the page needs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page
from tests.kit.range_server import RangeServer, range_server

import cocli
from benchmarks._web_rows import made_rows
from cocli.app.web.prospects.files import write_files

STATIC = Path(cocli.__path__[0]) / "service" / "web" / "static"
_OPEN = """async (base) => {
  const worker = new Worker('/assets/search-worker.js', {type: 'module'});
  const waiting = new Map();
  let last = 0;
  window.ask = (question) => new Promise((done) => {
    waiting.set(++last, done);
    worker.postMessage({id: last, ...question});
  });
  const began = performance.now();
  const whole = new Promise((resolve, reject) => {
    worker.onmessage = ({data}) => {
      if (data.event === 'progress' && data.loaded === data.rows) resolve();
      if (data.event === 'failed') reject(new Error(data.error));
      waiting.get(data.id)?.(data);
    };
  });
  const opened = await window.ask({ask: 'open', base});
  if (!opened.ok) throw new Error(opened.error);
  await window.ask({ask: 'search', view: {}, limit: 50});
  const first = performance.now() - began;
  await whole;
  return {mode: opened.mode, first, whole: performance.now() - began};
}"""
_SEARCH = """async ({view, limit, facets, apart}) => {
  const began = performance.now();
  const answer = await window.ask({ask: 'search', view, limit, facets: apart ? [] : facets});
  if (!answer.ok) throw new Error(answer.error);
  const shown = performance.now();
  const counted = apart ? await window.ask({ask: 'facets', view, facets}) : answer;
  if (!counted.ok) throw new Error(counted.error);
  return {rows: shown - began, all: performance.now() - began, total: answer.total};
}"""
_FACETS = ("city", "region", "country", "category", "tag", "status", "source")
_SHOWN = {"lines": 100, "index": 40}
"""So many rows the page asks for first."""
VIEWS: tuple[dict[str, Any], ...] = (
    {"q": "s"},
    {"q": "sch"},
    {"q": "schafer"},
    {"q": "schafer plumbing"},
    {"q": "roofing ville"},
    {"q": "info@gr"},
    {"q": "+1217"},
    {"q": "zzzz"},
    {"city": ["Mäville"]},
    {"q": "dental", "has": ["email"], "sort": "rating", "desc": True},
    {"has": ["email"], "category": ["Bakery"]},
    {"q": "stock", "min_rating": 4.5, "sort": "reviews", "desc": True},
)


@dataclass(slots=True)
class SearchFigures:
    """Milliseconds of answers, and megabytes of the page."""

    mode: str = ""
    first_ms: float = 0.0
    whole_ms: float = 0.0
    rows: list[float] = field(default_factory=list)
    """Until how many match is known, and the first of them are there: what the page shows first."""
    facets: list[float] = field(default_factory=list)
    """Until the facets are counted, too."""
    heap_mb: float = 0.0
    sent_mb: float = 0.0
    requests: int = 0
    """At most, of one answer."""
    built_s: float = 0.0
    stored_mb: float = 0.0


def p95(answers: list[float]) -> float:
    return statistics.quantiles(answers, n=20)[-1]


def measure_search(browser: Browser, folder: Path, rows: int, rounds: int) -> SearchFigures:
    """Every view, several times, each time with a fresh Worker: nothing is remembered from the round before."""
    data, found = folder / f"data-{rows}", SearchFigures()
    found.built_s = _built(data, rows)
    found.stored_mb = sum(path.stat().st_size for path in data.rglob("*") if path.is_file()) / 1e6
    (folder / "index.html").write_text("<!doctype html><title>search</title>")
    with range_server({"/": folder, "/assets/": STATIC / "assets", "/data/": data}) as server:
        for number in range(rounds):
            with _opened(browser, server.address) as (page, opened):
                found.mode = opened["mode"]
                if number == 0:
                    found.first_ms, found.whole_ms = opened["first"], opened["whole"]
                for view in VIEWS:
                    _ask(page, server, view, found)
                found.heap_mb = max(found.heap_mb, _heap(page))
            if number == 0:
                found.sent_mb = server.sent / 1e6
    return found


def _built(data: Path, rows: int) -> float:
    """The files of so many rows; seconds of processor time."""
    data.mkdir()
    table = made_rows(rows)
    began = time.process_time()
    write_files(table, "plumbers", str(data))
    return time.process_time() - began


def _ask(page: Page, server: RangeServer, view: dict[str, Any], found: SearchFigures) -> None:
    """As the page asks: with facets where lines are there, after the rows where an index is read."""
    before = len(server.asked)
    question = {"view": view, "limit": _SHOWN[found.mode], "facets": _FACETS, "apart": found.mode == "index"}
    answer = page.evaluate(_SEARCH, question)
    found.rows.append(answer["rows"])
    found.facets.append(answer["all"])
    found.requests = max(found.requests, len(server.asked) - before)


@contextmanager
def _opened(browser: Browser, address: str) -> Iterator[tuple[Page, dict[str, Any]]]:
    page = browser.new_page()
    page.goto(f"{address}/")
    yield page, page.evaluate(_OPEN, f"{address}/data/")
    page.close()


def _heap(page: Page) -> float:
    """Of the page and its Worker: heaps and array buffers, after a collection of both."""
    browser = page.context.browser
    if browser is None:
        raise RuntimeError("a page without a browser")
    session = browser.new_browser_cdp_session()
    total = 0.0
    for target in session.send("Target.getTargets")["targetInfos"]:
        if target["type"] in ("worker", "page") and target["url"].startswith("http://127.0.0.1"):
            total += _target_heap(session, target["targetId"])
    session.detach()
    return total / 1e6


def _target_heap(session: Any, target: str) -> float:
    attached = session.send("Target.attachToTarget", {"targetId": target, "flatten": False})["sessionId"]
    found: list[float] = []

    def heard(event: Any) -> None:
        import json

        message = json.loads(event["message"])
        if message.get("id") == 2 and "result" in message:
            used = message["result"]
            found.append(float(used["usedSize"]) + float(used.get("backingStorageSize", 0)))

    session.on("Target.receivedMessageFromTarget", heard)
    for number, method in ((1, "HeapProfiler.collectGarbage"), (2, "Runtime.getHeapUsage")):
        message = f'{{"id": {number}, "method": "{method}"}}'
        session.send("Target.sendMessageToTarget", {"sessionId": attached, "message": message})
    deadline = time.monotonic() + 20
    while not found and time.monotonic() < deadline:
        session.send("Target.getTargets")  # answers come in while something is asked
        time.sleep(0.05)
    session.remove_listener("Target.receivedMessageFromTarget", heard)
    return found[0] if found else float("nan")
