"""How fast contacts are read from pages and sites, how many forms are recovered, beside Scrapy and regular expressions.

The pages are the hand-made ones of `benchmarks/contacts` (every form and every negative), or another folder in their
layout: `make bench NAME=enrich ARGS=folder=…`. Speed is that of all extractors on one core, in processor time, on pages
that are padded to the size and the density of ordinary pages (30 kB, some 250 elements); accuracy is that of
`python -m benchmarks.contacts`, with its peers in the same run.

Crawling is whole enrichment (the stage `enrichment`) of ordinary sites of the demo town on loopback, two processes,
beside two processes of Scrapy that read the same pages with links and a plain regular expression; in turns, the median
counts. The sites are served by a process of their own on the same cores. Memory is the peak of one process over
`memory_sites=5000`. `crawl=0` leaves both out.
"""

from __future__ import annotations

import time
from pathlib import Path

from benchmarks._enrich_crawl import measure_crawling, measure_memory
from benchmarks._enrich_pages import padded as with_filling
from benchmarks.contacts.peers import PEERS
from benchmarks.contacts.scorer import Finder, Score, score
from benchmarks.contacts.truth import Labelled, read_truth
from benchmarks.harness import Bench

CONTACTS = Path(__file__).parent / "contacts"


def main(bench: Bench) -> None:
    folder = _folder(bench)
    pages = read_truth(folder)
    _measure_speed(bench, pages, padded=folder == CONTACTS)
    _measure_accuracy(bench, pages)
    if "crawl=0" not in bench.arguments:
        measure_crawling(bench)
        measure_memory(bench)


def _folder(bench: Bench) -> Path:
    given = [argument.partition("=")[2] for argument in bench.arguments if argument.startswith("folder=")]
    return Path(given[0]) if given else CONTACTS


def _measure_speed(bench: Bench, pages: list[Labelled], *, padded: bool) -> None:
    rounds = bench.size("rounds", 5)
    bodies = [(page, with_filling(page.path.read_bytes()) if padded else page.path.read_bytes()) for page in pages]
    size = sum(len(body) for _, body in bodies) / len(bodies) / 1000
    rates: dict[str, float] = {}
    bench.note(f"{rounds} rounds over {len(bodies)} pages of {size:.0f} kB, in turns with the peers")
    spent = dict.fromkeys(PEERS, 0.0)
    for _ in range(rounds + 1):  # the first round loads tables and fills caches on all sides
        for name, find in PEERS.items():
            seconds = _seconds(find, bodies)
            spent[name] += seconds if rates else 0.0
        rates = rates or dict.fromkeys(PEERS, 0.0)
    rates = {name: rounds * len(bodies) / seconds for name, seconds in spent.items()}
    conditions = f"all extractors, {size:.0f} kB a page, processor time, {rounds} rounds"
    bench.measure(
        "pages_s_core", rates["cocli"], unit="pages/s", peer="scrapy idiom, three facts", peer_value=rates["scrapy"],
        ratio=rates["cocli"] / rates["scrapy"], conditions=conditions,
    )  # fmt: skip


def _seconds(find: Finder, bodies: list[tuple[Labelled, bytes]]) -> float:
    started = time.process_time()
    for page, body in bodies:
        find(page, body)
    return time.process_time() - started


def _measure_accuracy(bench: Bench, pages: list[Labelled]) -> None:
    bench.note("scoring ours and the peers on the same pages")
    scores = {name: score(pages, find) for name, find in PEERS.items()}
    mine = scores["cocli"]
    best_name, best = max(((n, s) for n, s in scores.items() if n != "cocli"), key=lambda one: _f1(one[1]))
    forms = sum(mine.forms_total.values())
    bench.measure(
        "forms_recovered", mine.forms_recovered, peer=best_name, peer_value=best.forms_recovered,
        conditions=f"share of {forms} pages, {len(mine.forms_total)} forms",
    )  # fmt: skip
    bench.measure(
        "negatives_reported", mine.negatives_reported, peer=best_name, peer_value=best.negatives_reported,
        conditions=f"of {mine.negatives_total} pages",
    )  # fmt: skip
    for kind in mine.tallies:
        tally, other = mine.tallies[kind], best.tallies[kind]
        bench.measure(f"{kind}_f1", tally.f1, peer=best_name, peer_value=other.f1, conditions=f"{tally.junk} junk")
    raw = scores["raw regex"]
    bench.measure(
        "f1_over_regex_peer", _f1(mine) / _f1(best) if _f1(best) else 0.0, peer=f"{best_name}, the best peer",
        peer_value=_f1(best), ratio=_f1(mine) / _f1(raw) if _f1(raw) else None, conditions="e-mails; ratio: to raw",
    )  # fmt: skip


def _f1(one: Score) -> float:
    return one.tallies["emails"].f1
