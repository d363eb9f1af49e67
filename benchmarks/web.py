"""The dashboard: search in the browser over 200,000 and a million rows, first paint, requests, changes that are seen.

`only=search` or `only=live` measures one half. Sizes: rows=200000 index_rows=1000000 list_rows=100000 rounds=3.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks import _web_live as live
from benchmarks._web_search import SearchFigures, measure_search
from benchmarks.harness import Bench
from cocli.pipeline.websites.fetch.browser import find_chromium

_LIMITS = {"search_200k_p95_ms": 150.0, "search_1m_p95_ms": 400.0, "heap_200k_mb": 120.0, "fcp_ms": 500.0}


def main(bench: Bench) -> None:
    only = next((word.partition("=")[2] for word in bench.arguments if word.startswith("only=")), "")
    with tempfile.TemporaryDirectory(prefix="cocli-web-") as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        if only != "live":
            _search(bench, browser, Path(folder))
        if only != "search":
            _live(bench, browser, Path(folder))
        browser.close()


def _search(bench: Bench, browser: Browser, folder: Path) -> None:
    rounds = bench.size("rounds", 3)
    for name, rows in (("200k", bench.size("rows", 200_000)), ("1m", bench.size("index_rows", 1_000_000))):
        bench.note(f"search over {rows:,} rows")
        found = measure_search(browser, folder, rows, rounds)
        _told(bench, f"search_{name}_p95_ms", found.p95, _conditions(found, rows))
        if name == "200k":
            _told(bench, "heap_200k_mb", found.heap_mb, "page and Worker, heaps and buffers after a collection")
        bench.note(f"first rows after {found.first_ms:.0f} ms, all after {found.whole_ms:.0f} ms")


def _conditions(found: SearchFigures, rows: int) -> str:
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    median = sorted(found.answers)[len(found.answers) // 2]
    return (
        f"{rows:,} rows by {found.mode}, {len(found.answers)} answers with facets, median {median:.0f} ms, "
        f"{found.sent_mb:.1f} MB sent, {found.stored_mb:.0f} MB stored, built in {found.built_s:.0f} CPU s, "
        f"load {load:.1f} for each core"
    )


def _told(bench: Bench, name: str, value: float, conditions: str) -> None:
    limit = _LIMITS[name]
    bench.measure(name, value, peer="limit", peer_value=limit, ratio=value / limit, conditions=conditions)


def _live(bench: Bench, browser: Browser, folder: Path) -> None:
    kilobytes = live.script_kb()
    bench.measure(
        "js_kb_gz", kilobytes, peer="limit", peer_value=80, ratio=kilobytes / 80, conditions="without the map"
    )
    rows = bench.size("list_rows", 100_000)
    bench.note(f"a campaign of {rows:,} prospects")
    with live.filled_web(folder / "list", rows) as running:
        milliseconds = live.list_ms(browser, running, 3)
        bench.measure(
            "prospects_page_ms_100k", milliseconds, conditions=f"{rows:,} rows, address to first row, median of 3"
        )
    bench.note("paint, requests, screens")
    with live.filled_web(folder / "small", 50) as running:
        _told(bench, "fcp_ms", live.first_paint_ms(browser, running, 9), "median of 9 fresh contexts, loopback")
        mine, bare, ratio = live.requests_ratio(running, bench.size("requests", 500))
        bench.measure("requests_s", ratio, peer="a bare Starlette route", peer_value=1, ratio=ratio,
                      conditions=f"site.json with login {mine:.0f}/s, bare {bare:.0f}/s, one client")  # fmt: skip
        wrong = live.violations(browser, running)
        if wrong is None:
            bench.note("there is no axe-core: make axe installs it; axe_violations is left out")
        else:
            bench.measure("axe_violations", wrong, peer="limit", peer_value=0, conditions="all screens, live")
    bench.note("changes from click to seen, two supervisors, one killed")
    seconds = live.bridge_seconds(folder / "bridge", bench.size("changes", 20))
    bench.measure("bridge_seconds_max", max(seconds), peer="limit", peer_value=15, ratio=max(seconds) / 15,
                  conditions=f"{len(seconds)} changes by HTTP, all seen in config.json, poll of 0.3 s")  # fmt: skip
