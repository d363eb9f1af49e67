"""How fast contacts are read from pages, how many forms are recovered, and how far ahead of plain regular expressions.

The pages are the hand-made ones of `benchmarks/contacts` (every form and every negative), or another folder in their
layout: `make bench NAME=enrich ARGS=folder=…`. Speed is that of all extractors on one core, in processor time, on pages
that are padded to the size and the density of ordinary pages (30 kB, some 250 elements); accuracy is that of
`python -m benchmarks.contacts`, with its peers in the same run.
"""

from __future__ import annotations

import time
from pathlib import Path

from benchmarks.contacts.peers import PEERS
from benchmarks.contacts.scorer import Finder, Score, score
from benchmarks.contacts.truth import Labelled, read_truth
from benchmarks.harness import Bench

CONTACTS = Path(__file__).parent / "contacts"
PAGE_BYTES = 30_000
"""What an ordinary page of a small company weighs, without images and outside scripts."""
_SECTION = """<section class="teaser teaser--wide u-padding-top-large u-background-light" id="abschnitt-{n}">
<h2 class="teaser__title headline headline--second">Leistung {n}: Steildach, Flachdach und Fassade</h2>
<img class="teaser__image" src="/img/bild-{n}-1200x800.jpg"
 srcset="/img/bild-{n}-600x400.jpg 600w, /img/bild-{n}@2x.jpg 2400w" sizes="(max-width: 600px) 100vw, 600px"
 alt="Ein Dach im Ilmtal, gedeckt mit Ziegeln" width="1200" height="800" loading="lazy">
<p>Wir decken seit 1912 Dächer im Ilmtal, mit Ziegel, Schiefer und Blech, und kommen zu jedem Dach am {n}. des Monats.
Vom ersten Gespräch bis zur Abnahme haben Sie einen Ansprechpartner, und was wir sagen, das halten wir.</p>
<svg viewBox="0 0 24 24" width="24" height="24"><path
 d="M12 2C8.13 2 5 5.13 5 9c0 5.25 7 13 7 13s7-7.75 7-13c0-3.87-3.13-7-7-7zm0
 9.5a2.5 2.5 0 0 1 0-5 2.5 2.5 0 0 1 0 5z" fill="currentColor"></path></svg>
<a class="button button--primary" href="/leistungen/abschnitt-{n}">Mehr dazu</a>
<script>window.dataLayer = window.dataLayer || [];
dataLayer.push({{event: "sichtbar", abschnitt: {n}, zeit: Date.now()}});</script>
</section>
"""


def main(bench: Bench) -> None:
    folder = _folder(bench)
    pages = read_truth(folder)
    _measure_speed(bench, pages, padded=folder == CONTACTS)
    _measure_accuracy(bench, pages)


def _folder(bench: Bench) -> Path:
    given = [argument.partition("=")[2] for argument in bench.arguments if argument.startswith("folder=")]
    return Path(given[0]) if given else CONTACTS


def _measure_speed(bench: Bench, pages: list[Labelled], *, padded: bool) -> None:
    rounds = bench.size("rounds", 5)
    bodies = [(page, _padded(page.path.read_bytes()) if padded else page.path.read_bytes()) for page in pages]
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


def _padded(body: bytes) -> bytes:
    """The page with ordinary sections before its end."""
    head, closing, tail = body.partition(b"</body>")
    sections: list[bytes] = []
    while len(head) + len(tail) + sum(len(section) for section in sections) < PAGE_BYTES:
        sections.append(_SECTION.format(n=len(sections) + 1).encode())
    return head + b"".join(sections) + closing + tail


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
