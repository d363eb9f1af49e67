"""The dashboard's search in Chromium: how long an answer takes, and how much memory the page needs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page
from tests.kit.range_server import range_server

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
_SEARCH = """async (view) => {
  const began = performance.now();
  const answer = await window.ask({ask: 'search', view, limit: 50, facets: ['city', 'category']});
  if (!answer.ok) throw new Error(answer.error);
  return {ms: performance.now() - began, total: answer.total};
}"""
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


@dataclass(frozen=True, slots=True)
class SearchFigures:
    """Milliseconds of answers, and megabytes of the page."""

    mode: str
    first_ms: float
    whole_ms: float
    answers: list[float]
    heap_mb: float
    sent_mb: float
    built_s: float
    stored_mb: float

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.answers, n=20)[-1]


def measure_search(browser: Browser, folder: Path, rows: int, rounds: int) -> SearchFigures:
    """Every view, several times; for an index each time with a fresh Worker, so that nothing is remembered."""
    data = folder / f"data-{rows}"
    data.mkdir()
    table = made_rows(rows)
    began = time.process_time()
    write_files(table, "plumbers", str(data))
    built = time.process_time() - began
    del table
    (folder / "index.html").write_text("<!doctype html><title>search</title>")
    with range_server({"/": folder, "/assets/": STATIC / "assets", "/data/": data}) as server:
        answers: list[float] = []
        for number in range(rounds):
            with _opened(browser, server.address) as (page, opened):
                sent = server.sent
                if opened["mode"] == "lines" or number == 0:
                    answers += [page.evaluate(_SEARCH, view)["ms"] for view in VIEWS for _ in range(2)]
                else:
                    answers += [page.evaluate(_SEARCH, view)["ms"] for view in VIEWS]
                heap = _heap(page)
            if number == 0:
                figures = (opened["mode"], opened["first"], opened["whole"])
                first_sent = server.sent if opened["mode"] == "lines" else server.sent - sent
        stored = sum(path.stat().st_size for path in data.rglob("*") if path.is_file())
    return SearchFigures(*figures, answers, heap, first_sent / 1e6, built, stored / 1e6)


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
