"""The main job from end to end: 2,000 businesses of a bigger town, by the number of worker processes.

The town's web server runs in a process of its own, on the same machine: what it costs is told apart. Politeness is
set to the most that is allowed, because the town would else be waited for, and not worked on.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from benchmarks._process_family import family
from benchmarks._town_server import served
from benchmarks.harness import Bench
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town import build_town, truth_of
from cocli.demo.town.campaign import CAMPAIGN, TownHome, found_campaign
from cocli.demo.town.score import businesses_of, score_of
from cocli.demo.town.town import Town

_EVERY = 0.2
_STAGES = ("gm-list", "enrichment", "achieve-goal")


@dataclass
class Watch:
    """What the processes of a run use, looked at a few times a second."""

    processor: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Stage → seconds."""
    peak: int = 0

    def follow(self, pid: int, over: threading.Event) -> None:
        seconds: dict[int, tuple[str, float]] = {}
        while not over.wait(_EVERY):
            held = 0
            for process in family(pid):
                try:
                    with process.oneshot():
                        words, times = process.cmdline(), process.cpu_times()
                        held += process.memory_info().rss
                except psutil.Error:
                    continue  # it ended just now
                stage = next((name for name in _STAGES if name in words), "other")
                seconds[process.pid] = (stage, times.user + times.system)
            self.peak = max(self.peak, held)
        for stage, used in seconds.values():
            self.processor[stage] += used


def main(bench: Bench) -> None:
    size, most = bench.size("businesses", 2000), bench.size("workers", 4)
    town = build_town(size=size)
    counts = [count for count in (1, 2, 4, 8) if count <= most]
    rates: dict[int, float] = {}
    for count in counts:
        bench.note(f"{size:,} businesses, {count} process(es) for websites")
        rates[count] = _measured(bench, town, count, best=count == counts[-1])
    for count, rate in rates.items():
        bench.measure(
            f"businesses_per_min_{count}",
            rate,
            unit="/min",
            conditions=f"{count} enrichment process(es), an event loop each, 1 gm-list",
        )
    bench.measure("businesses_per_min", max(rates.values()), unit="/min", conditions="the best of these")


def _measured(bench: Bench, town: Town, workers: int, *, best: bool) -> float:
    with tempfile.TemporaryDirectory(prefix="bench-campaign-") as folder, served(bench, town) as (websites, server):
        home = TownHome(Path(folder))
        found_campaign(home, town, websites, ["queue.attempts=1"])
        asked = server.requests()
        started = time.perf_counter()
        watch = _run(home, workers)
        seconds = time.perf_counter() - started
        with open_workspace(home.environ, Flags()) as workspace:
            score = score_of(businesses_of(workspace, CAMPAIGN), truth_of(town), "overture")
        if score.businesses_recall < 1.0 or score.email_recall < 0.97:
            raise AssertionError(f"the result is wrong: {score}")
        bench.note(f"{score.planned:,} businesses, {score.right:,} e-mails in {seconds:.1f} s; {dict(watch.processor)}")
        if best:
            _tell(bench, watch, score.planned, server.requests() - asked, seconds)
    return score.planned / seconds * 60


def _tell(bench: Bench, watch: Watch, businesses: int, requests: int, seconds: float) -> None:
    bench.measure("requests_per_business", requests / businesses, conditions="to websites, by their server's record")
    bench.measure("peak_mib", watch.peak / (1 << 20), unit="MiB", conditions="all processes together, server apart")
    whole = sum(watch.processor.values())
    for stage in _STAGES:
        name = stage.replace("-", "_")
        bench.measure(f"cpu_share_{name}", watch.processor[stage] / whole, conditions=f"of {whole:.1f} s of processor")
    bench.measure("cpu_busy", whole / seconds / (os.cpu_count() or 1), conditions=f"of {os.cpu_count()} processors")


def _run(home: TownHome, workers: int) -> Watch:
    words = ["campaign", "achieve-goal", CAMPAIGN, "--work", "--workers", str(workers), "--json"]
    watch, over = Watch(), threading.Event()
    with subprocess.Popen(
        [sys.executable, "-m", "cocli", *words], env=home.environ, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    ) as process:
        follower = threading.Thread(target=watch.follow, args=(process.pid, over))
        follower.start()
        out, _ = process.communicate()
        over.set()
        follower.join()
    if not json.loads(out)["met"]:
        raise AssertionError(f"it did not end: {out.decode()}")
    return watch
