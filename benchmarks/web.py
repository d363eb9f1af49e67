"""The dashboard: search in the browser over 200,000 and a million rows, first paint, requests, changes that are seen.

Each part runs alone, too: `only=paint`, `requests`, `axe`, `bridge`, `list`, `lines` or `index`; several with commas.
Sizes: rows=200000 index_rows=1000000 list_rows=100000 rounds=3 requests=500 changes=20.
"""

from __future__ import annotations

import os
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks import _web_live as live
from benchmarks._web_search import SearchFigures, measure_search, p95
from benchmarks.harness import Bench
from cocli.pipeline.websites.fetch.browser import find_chromium

_LIMITS = {
    "search_200k_p95_ms": 150.0,
    "search_1m_p95_ms": 400.0,
    "heap_200k_mb": 120.0,
    "fcp_ms": 500.0,
    "js_kb_gz": 80.0,
    "bridge_seconds_max": 15.0,
}


def main(bench: Bench) -> None:
    only = next((word.partition("=")[2] for word in bench.arguments if word.startswith("only=")), "")
    names = only.split(",") if only else list(_PARTS)
    if unknown := [name for name in names if name not in _PARTS]:
        raise SystemExit(f"There is no part {', '.join(unknown)}. Parts: {', '.join(_PARTS)}.")
    _told(
        bench,
        "js_kb_gz",
        live.script_kb(),
        "as they are sent; without MapLibre, what draws the map, and its screen Coverage",
    )
    with tempfile.TemporaryDirectory(prefix="cocli-web-") as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        for name in names:
            bench.note(f"{name} ({_load()})")
            _measured(bench, name, browser, Path(folder) / name)
        browser.close()


def _measured(bench: Bench, name: str, browser: Browser, folder: Path) -> None:
    """One part. One that fails says why, its figures are null, and the others are measured all the same."""
    try:
        _PARTS[name](bench, browser, folder)
    except Exception:  # noqa: BLE001  whatever it is, the figures of the other parts are worth having
        bench.note(f"{name} failed:\n{traceback.format_exc()}")
    known = {measure.name: measure for measure in bench.measures}
    for figure in _FIGURES[name]:
        if figure in known:  # told at once: who stops a long run has what it found
            bench.note("  ".join(known[figure].row()))
        else:
            bench.unmeasured.append(figure)


def _load() -> str:
    return f"load {os.getloadavg()[0] / (os.cpu_count() or 1):.1f} for each core"


def _told(bench: Bench, name: str, value: float, conditions: str) -> None:
    limit = _LIMITS[name]
    bench.measure(name, value, peer="limit", peer_value=limit, ratio=value / limit, conditions=conditions)


# --- search


def _lines(bench: Bench, browser: Browser, folder: Path) -> None:
    rows = bench.size("rows", 200_000)
    found = _searched(bench, browser, folder, rows)
    _told(bench, "search_200k_p95_ms", p95(found.facets), _conditions(found, rows))
    _told(bench, "heap_200k_mb", found.heap_mb, "page and Worker, heaps and buffers after a collection")


def _index(bench: Bench, browser: Browser, folder: Path) -> None:
    rows = bench.size("index_rows", 1_000_000)
    found = _searched(bench, browser, folder, rows)
    _told(bench, "search_1m_p95_ms", p95(found.rows), _conditions(found, rows))


def _searched(bench: Bench, browser: Browser, folder: Path, rows: int) -> SearchFigures:
    folder.mkdir()
    found = measure_search(browser, folder, rows, bench.size("rounds", 3))
    bench.note(f"first rows after {found.first_ms:.0f} ms, all searchable after {found.whole_ms:.0f} ms")
    return found


def _conditions(found: SearchFigures, rows: int) -> str:
    median = sorted(found.rows)[len(found.rows) // 2]
    return (
        f"{rows:,} rows by {found.mode}, {len(found.rows)} answers, nothing remembered from before; rows median "
        f"{median:.0f}, with facets p95 {p95(found.facets):.0f} ms; at most {found.requests} requests an answer; "
        f"{found.sent_mb:.1f} MB sent in a round, {found.heap_mb:.0f} MB of heap, {found.stored_mb:.0f} MB stored, "
        f"built in {found.built_s:.0f} CPU s; {_load()}"
    )


# --- live


def _list(bench: Bench, browser: Browser, folder: Path) -> None:
    rows = bench.size("list_rows", 100_000)
    with live.filled_web(folder, rows) as running:
        milliseconds = live.list_ms(browser, running, 3)
    conditions = f"{rows:,} rows, address to first row, median of 3; {_load()}"
    bench.measure("prospects_page_ms_100k", milliseconds, conditions=conditions)


def _paint(bench: Bench, browser: Browser, folder: Path) -> None:
    with live.filled_web(folder, 50) as running:
        milliseconds = live.first_paint_ms(browser, running, 9)
    _told(bench, "fcp_ms", milliseconds, f"median of 9 fresh contexts, loopback; {_load()}")


def _requests(bench: Bench, browser: Browser, folder: Path) -> None:  # noqa: ARG001  every part is called alike
    with live.filled_web(folder, 50) as running:
        mine, bare, ratio = live.requests_ratio(running, bench.size("requests", 500))
    conditions = f"site.json with login {mine:.0f}/s, bare {bare:.0f}/s, one client; {_load()}"
    bench.measure("requests_s", ratio, peer="a bare Starlette route", peer_value=1, ratio=ratio, conditions=conditions)


def _axe(bench: Bench, browser: Browser, folder: Path) -> None:
    if not live.has_axe():
        bench.note("there is no axe-core: make axe installs it")
        return
    with live.filled_web(folder, 50) as running:
        wrong = live.violations(browser, running)
    bench.measure("axe_violations", wrong, peer="limit", peer_value=0, conditions="all screens, live")


def _bridge(bench: Bench, browser: Browser, folder: Path) -> None:  # noqa: ARG001
    seconds = live.bridge_seconds(folder, bench.size("changes", 20))
    conditions = f"{len(seconds)} changes, two supervisors, one killed; by HTTP until config.json has it; {_load()}"
    _told(bench, "bridge_seconds_max", max(seconds), conditions)


_PARTS: dict[str, Callable[[Bench, Browser, Path], None]] = {
    "paint": _paint,
    "requests": _requests,
    "axe": _axe,
    "bridge": _bridge,
    "list": _list,
    "lines": _lines,
    "index": _index,
}
"""Those that take long come last."""
_FIGURES = {
    "lines": ("search_200k_p95_ms", "heap_200k_mb"),
    "index": ("search_1m_p95_ms",),
    "list": ("prospects_page_ms_100k",),
    "paint": ("fcp_ms",),
    "requests": ("requests_s",),
    "axe": ("axe_violations",),
    "bridge": ("bridge_seconds_max",),
}
"""What each part measures."""
