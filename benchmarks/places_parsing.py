"""Google Maps pages parsed per second, against the same extraction with BeautifulSoup and lxml.

The pages are captures where a folder of them is given (`captures=FOLDER` or the environment's COCLI_CAPTURES, the
folder that holds `maps/`), else made-up pages of the same structure and weight. Both sides start from a saved page
and end in `Place` records, in turns in one process, in processor time; that both find the same values is checked.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import _maps_bs4
from benchmarks._maps_pages import business, card, details_page, furniture, list_page, state_of
from benchmarks.harness import Bench
from cocli.documents import Document
from cocli.keys.tile import Tile
from cocli.models.place import Place
from cocli.pipeline.sources.google_maps.documents import list_document, page_of
from cocli.pipeline.sources.google_maps.parser.parse import parse

WHEN = datetime(2026, 1, 1, tzinfo=UTC)
COMPARED = (
    *("place_id", "name", "lat", "lon", "phone", "website", "address", "rating", "review_count", "category_labels"),
    *("sponsored", "price"),
)


def main(bench: Bench) -> None:
    measure(bench)


def measure(bench: Bench) -> float:
    """Measures, and records `parse_over_bs4`: our pages per second divided by theirs."""
    rounds = bench.size("rounds", 5)
    pages, origin = _pages(bench)
    size = sum(map(len, pages)) / len(pages) / 1000
    bench.note(f"{rounds} rounds over {len(pages)} {origin} of {size:.0f} kB, in turns")
    documents = [_document(page) for page in pages]
    _check(documents)
    spent = {"ours": 0.0, "bs4": 0.0}
    for round_ in range(rounds + 1):  # the first loads tables and fills caches on both sides
        for name, read in (("ours", parse), ("bs4", _theirs)):
            seconds = _seconds(read, documents)
            spent[name] += seconds if round_ else 0.0
    rates = {name: rounds * len(pages) / seconds for name, seconds in spent.items()}
    ratio = rates["ours"] / rates["bs4"]
    conditions = f"{len(pages)} {origin}, {size:.0f} kB each, processor time, {rounds} rounds"
    bench.measure("parse_pages_s", rates["ours"], unit="pages/s", peer="BeautifulSoup", peer_value=rates["bs4"])
    bench.measure("parse_over_bs4", ratio, peer="BeautifulSoup with lxml", peer_value=1, conditions=conditions)
    return ratio


def _pages(bench: Bench) -> tuple[list[bytes], str]:
    given = [argument.partition("=")[2] for argument in bench.arguments if argument.startswith("captures=")]
    folder = given[0] if given else os.environ.get("COCLI_CAPTURES", "")
    if folder:
        found = [path for kind in ("lists", "details") for path in sorted(Path(folder, "maps", kind).glob("*.html"))]
        if not found:
            raise SystemExit(f"{folder} holds no maps/lists/*.html")
        return [path.read_bytes() for path in found], "captured pages"
    return _made_up(), "made-up pages"


def _made_up() -> list[bytes]:
    """Lists of 10, 20 and 60 places and some single places, each with as much script around it as Maps has."""
    lists = [[card(business(number), role=number % 2 == 0) for number in range(1, size + 1)] for size in (10, 20, 60)]
    pages = [list_page(cards, padding=150_000, end="Das Ende der Liste.") for cards in lists]
    for number in range(1, 4):
        place = business(number, phone=None)
        pages.append(details_page(place, state=state_of(echo=place)) + f"<!--{'x' * 150_000}-->")
    around = furniture(600)
    return [page.replace("</body>", f"{around}</body>").encode() for page in pages]


def _document(page: bytes) -> Document:
    return list_document(account="a", tile=Tile(0, 0), phrase="x", url="", html=page, fetched_at=WHEN)


def _theirs(document: Document) -> list[Place]:
    return _maps_bs4.places_of(page_of(document), WHEN)


def _check(documents: list[Document]) -> None:
    for document in documents:
        mine, other = parse(document), _theirs(document)
        for one, two in zip(mine, other, strict=True):
            different = [name for name in COMPARED if (getattr(one, name) or None) != (getattr(two, name) or None)]
            if different:
                raise SystemExit(f"the two sides read {one.place_id} differently: {different}")


def _seconds(read: Callable[[Document], list[Place]], documents: list[Document]) -> float:
    gc.collect()  # each side clears up after itself: trees of BeautifulSoup are left to the collector
    started = time.process_time()
    for document in documents:
        read(document)
    return time.process_time() - started
