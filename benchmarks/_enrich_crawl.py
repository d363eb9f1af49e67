"""Sites per minute and memory of whole enrichment, beside Scrapy on the same pages: part of `benchmarks.enrich`."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks._enrich_sites import hosts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.harness import Bench

PROCESSES = 2
AT_ONCE = 32
"""Requests at a time in each process, over all hosts: what `[fetch] concurrency` is where nobody sets it."""
ROUNDS = 3
LIMIT_MIB = 400


def measure_crawling(bench: Bench) -> None:
    sites, rounds = bench.size("sites", 500), bench.size("crawl_rounds", ROUNDS)
    with _serving(sites) as port:
        names = hosts(sites)
        bench.note(f"reading {sites} sites of 20 to 200 ms once, to know which pages")
        first = _crawl("cocli", port, names, tells_pages=True)
        urls = {host: pages for one in first for host, pages in one["urls"].items() if pages}
        read = [host for host in names if host in urls]  # the same share of sites for each process
        rates: dict[str, list[float]] = {"cocli": [], "scrapy": [], "saving": []}
        costs: dict[str, list[float]] = {"cocli": [], "scrapy": []}
        for number in range(1, rounds + 1):
            bench.note(f"crawling, round {number} of {rounds}: ours, Scrapy, ours with every page saved")
            for name, ours_or_theirs in (("cocli", names), ("scrapy", read)):
                done = _crawl(name, port, ours_or_theirs, urls=urls)
                rates[name].append(_rate(done))
                costs[name].append(sum(one["cpu"] for one in done) / sum(one["sites"] for one in done))
            rates["saving"].append(_rate(_crawl("cocli", port, names, saves=True)))
    pages = sum(one["pages"] for one in first)
    ours, theirs, saving = (median(rates[name]) for name in ("cocli", "scrapy", "saving"))
    conditions = f"{sites} sites, {pages} pages of 30 kB, 20 to 200 ms, {PROCESSES} processes x {AT_ONCE} requests"
    bench.measure("sites_minute", ours, unit="sites/min", peer="scrapy", peer_value=theirs, ratio=ours / theirs,
                  conditions=conditions)  # fmt: skip
    bench.measure("sites_over_scrapy", ours / theirs, peer="scrapy, links and a regex", peer_value=1.0,
                  conditions="all extractors on; median of rounds in turns")  # fmt: skip
    mine, peer = (1000 * median(costs[name]) for name in ("cocli", "scrapy"))
    bench.measure("cpu_ms_a_site", mine, unit="ms", peer="scrapy", peer_value=peer, ratio=peer / mine,
                  conditions="processor time of the crawlers; other load hardly shows in it")  # fmt: skip
    bench.measure("saving_over_scrapy", saving / theirs, peer="scrapy, which saves nothing", peer_value=1.0,
                  conditions="the same, every page saved as a document first")  # fmt: skip


def measure_memory(bench: Bench) -> None:
    sites = bench.size("memory_sites", 5_000)
    bench.note(f"reading {sites} sites in one process, for its memory")
    with _serving(sites) as port:
        (done,) = _crawl("cocli", port, hosts(sites), processes=1)
    if done["sites"] != sites:
        raise RuntimeError(f"{sites - done['sites']} of {sites} sites were not read")
    early = done["memory"][0] if done["memory"] else done["mib"]
    conditions = f"{sites:,} sites in one process; {early:.0f} MiB after the first of them"
    bench.measure("peak_mib", done["mib"], unit="MiB", peer="limit", peer_value=LIMIT_MIB, conditions=conditions)


@contextmanager
def _serving(sites: int) -> Iterator[int]:
    """The sites, in a process of their own."""
    command = [sys.executable, "-m", "benchmarks._enrich_sites", str(sites)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the sites have no pipes")
        try:
            yield int(json.loads(process.stdout.readline())["port"])
        finally:
            process.stdin.close()
            process.wait(30)


def _crawl(
    crawler: str, port: int, names: list[str], *, processes: int = PROCESSES, **more: Any
) -> list[dict[str, Any]]:
    """Crawl with several processes, each its share of the hosts."""
    crawling = []
    urls = more.pop("urls", {})
    for number in range(processes):
        share = names[number::processes]
        task = {"crawler": crawler, "port": port, "hosts": share, "at_once": AT_ONCE, **more}
        task["urls"] = {host: urls[host] for host in share if host in urls}
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks._enrich_crawler"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        crawling.append((process, json.dumps(task) + "\n"))
    for process, task_line in crawling:
        if process.stdin is None:
            raise RuntimeError("a crawler has no pipe")
        process.stdin.write(task_line)
        process.stdin.flush()
    found = []
    for process, _ in crawling:
        out, _ = process.communicate()
        if process.returncode:
            raise RuntimeError(f"{crawler} ended with {process.returncode}")
        found.append(json.loads(out.strip().rpartition("\n")[2]))
    return found


def _rate(done: list[dict[str, Any]]) -> float:
    """Sites per minute, from the first request of the first process to the last page of the last one."""
    seconds = max(one["ended"] for one in done) - min(one["began"] for one in done)
    return float(60 * sum(one["sites"] for one in done) / seconds)
