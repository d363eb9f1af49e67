"""What 1,000 businesses cost: processor seconds, requests to an S3 server by kind, and bytes that are kept.

The whole of `cocli run leads.csv` on a bucket of SeaweedFS, from the import to the spreadsheet, through a proxy that
counts. Dollars are list prices of us-east-1, which are settings of this file and not looked up.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path

from tests.kit.fault_proxy import Request, fault_proxy
from tests.kit.servers import create_bucket, credentials_environment, seaweedfs

from benchmarks._town_server import served
from benchmarks.demo_path import write_list
from benchmarks.harness import Bench
from cocli.demo.town import build_town
from cocli.demo.town.campaign import TownHome, write_files
from cocli.demo.town.town import Town
from cocli.demo.town.websites.server import WebsiteServer
from cocli.store import open_store

_WRITE_DOLLARS = 0.005 / 1000
"""PUT, POST and listings."""
_READ_DOLLARS = 0.0004 / 1000
_MONTH_DOLLARS_PER_GB = 0.023
_VCPU_HOUR_DOLLARS = 0.03238
"""Fargate on ARM, on demand; spot is up to 70 % less."""
_GB_HOUR_DOLLARS = 0.00356
_FINISHED = (0, 11)


def main(bench: Bench) -> None:
    sites = bench.size("sites", 200)
    town = build_town(size=max(round(sites * 1.6), 320))
    counts: Counter[str] = Counter()

    def count(request: Request) -> None:
        counts["list" if "list-type" in request.target else request.method] += 1

    with (
        tempfile.TemporaryDirectory(prefix="bench-costs-") as name,
        served(bench, town) as (websites, _),
        seaweedfs(Path(name)) as server,
        fault_proxy(server.endpoint, count) as proxy,
    ):
        create_bucket(server, "cocli-data-test")
        url = f"s3://cocli-data-test/costs?endpoint={proxy.endpoint}&region=us-east-1"
        seconds = _run(Path(name), town, websites, sites, url)
        during = Counter(counts)
        os.environ.update(credentials_environment())
        with closing(open_store(url)) as store:
            size = sum(info.size for info in store.list())
    _tell(bench, sites, seconds, during, size)


def _run(folder: Path, town: Town, websites: WebsiteServer, sites: int, store: str) -> float:
    """Processor seconds of everything that it started."""
    home = TownHome(folder / "home")
    files = write_files(home, town, websites)
    settings = f"[fetch]\nhosts_file = {json.dumps(str(files / 'hosts.json'))}\nrate = 100\n"
    settings += 'per_address = 1000\naddress_rate = 100000\nallow_networks = ["127.0.0.0/8"]\n'
    (home.folder / "config.toml").write_text(settings, "utf-8")
    write_list(home.folder / "leads.csv", town, sites)
    environ = {**home.environ, **credentials_environment(), "PATH": os.environ["PATH"], "COCLI_STORE": store}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [sys.executable, "-m", "cocli", "run", "leads.csv", "--quiet"]
    done = subprocess.run(words, env=environ, cwd=home.folder, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in _FINISHED:
        raise AssertionError(f"it ended with {done.returncode}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _tell(bench: Bench, sites: int, seconds: float, counts: Counter[str], size: int) -> None:
    thousand, conditions = 1000 / sites, f"per 1,000; {sites} businesses with a website, import to .xlsx, SeaweedFS"
    writes = counts["PUT"] + counts["POST"] + counts["list"]
    reads = counts["GET"] + counts["HEAD"]
    bench.note(f"requests of the whole run: {dict(sorted(counts.items()))}")
    requests = writes * _WRITE_DOLLARS + reads * _READ_DOLLARS
    hours = seconds / 3600
    measures = {
        "costs.cpu_s": (seconds * thousand, "s"),
        "costs.writes_and_lists": (writes * thousand, ""),
        "costs.reads": (reads * thousand, ""),
        "costs.deletes": (counts["DELETE"] * thousand, ""),
        "costs.kept_mb": (size * thousand / 1e6, "MB"),
        "costs.requests_dollars": (requests * thousand, "$"),
        "costs.kept_dollars_a_month": (size * thousand / 1e9 * _MONTH_DOLLARS_PER_GB, "$"),
        "costs.fargate_dollars": (hours * thousand * (_VCPU_HOUR_DOLLARS + 2 * _GB_HOUR_DOLLARS), "$"),
    }
    for name, (value, unit) in measures.items():
        bench.measure(name, value, unit=unit, conditions=conditions)
