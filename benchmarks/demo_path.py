"""From a list to the enriched list: 300 websites that take 0.4 s to answer, one request per second and site.

The whole of `cocli run leads.csv` in processes of its own, as a person starts it, until the spreadsheet is there:
import, reading, settling, writing. The same again with a budget of 30 s, on a store of its own: by how much it overran.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from python_calamine import CalamineWorkbook

from benchmarks._town_server import served
from benchmarks.harness import Bench
from cocli.demo.town import build_town
from cocli.demo.town.campaign import TownHome, write_files
from cocli.demo.town.town import Town
from cocli.demo.town.websites.server import WebsiteServer

_LATENCY = 0.4
_RATE = 1
_BUDGET = 30
_MOST_OVERRUN = 3.0
_FINISHED = (0, 11)


def main(bench: Bench) -> None:
    sites, budget = bench.size("sites", 300), bench.size("budget", _BUDGET)
    town = build_town(size=max(round(sites * 1.6), 320))
    with served(bench, town, _LATENCY) as (websites, _):
        bench.note(f"{sites} websites, {_LATENCY} s per answer, {_RATE} request per second and site")
        seconds, rows = _run(town, websites, sites)
        read = sum(row["website_status"] == "read" for row in rows)
        bench.note(f"{len(rows)} rows, {read} websites read, in {seconds:.1f} s")
        if len(rows) != sites or read < 0.99 * sites:
            raise AssertionError(f"{read} of {sites} websites were read")
        conditions = f"{sites} sites, {_LATENCY} s per answer, {_RATE} request per second and site; import to .xlsx"
        bench.measure("path.csv_to_xlsx_sites_per_min", read / seconds * 60, unit="/min", conditions=conditions)
        seconds, rows = _run(town, websites, sites, "--budget", f"{budget}s")
        read = sum(row["website_status"] == "read" for row in rows)
        bench.note(f"with a budget of {budget} s: {read} websites read, in {seconds:.1f} s")
        bench.measure(
            "path.budget_overrun_s",
            max(seconds - budget, 0.0),
            unit="s",
            peer="at most",
            peer_value=_MOST_OVERRUN,
            conditions=f"budget {budget} s; the file is written, the processes are gone",
        )


def _run(town: Town, websites: WebsiteServer, sites: int, *words: str) -> tuple[float, list[dict[str, Any]]]:
    """Seconds that it took, and the rows of the spreadsheet."""
    with tempfile.TemporaryDirectory(prefix="bench-path-") as folder:
        home = TownHome(Path(folder))
        files = write_files(home, town, websites)
        settings = f"[fetch]\nhosts_file = {json.dumps(str(files / 'hosts.json'))}\nrate = {_RATE}\n"
        settings += "per_address = 1000\naddress_rate = 100000\n"
        settings += 'allow_networks = ["127.0.0.0/8"]\n'
        (home.folder / "config.toml").write_text(settings, "utf-8")
        write_list(home.folder / "leads.csv", town, sites)
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "cocli", "run", "leads.csv", "--quiet", *words],
            env={**home.environ, "PATH": os.environ["PATH"]},
            cwd=home.folder,
            check=False,
        )
        seconds = time.perf_counter() - started
        if done.returncode not in _FINISHED:
            raise AssertionError(f"it ended with {done.returncode}")
        header, *rows = (
            CalamineWorkbook.from_path(home.folder / "leads.enriched.xlsx").get_sheet_by_index(0).to_python()
        )
        return seconds, [dict(zip(map(str, header), row, strict=True)) for row in rows]


def write_list(file: Path, town: Town, sites: int) -> None:
    """Websites that everybody can read, each once."""
    found: dict[str, str] = {}
    for business in town.businesses:
        site = business.site
        if site is not None and business.website and site.status == "alive":
            found.setdefault(site.domain, business.website)
    if len(found) < sites:
        raise AssertionError(f"the town has {len(found)} such websites, not {sites}")
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(["website"])
        writer.writerows([website] for website in list(found.values())[:sites])
