"""Replay and promotion: captures of the town's map read again, and a campaign's prospects made from their states.

`pages=600` says how many captures are replayed. Beside the replay stands the parser alone, without repository and job;
beside the promotion, the merging of the same places alone, without settling and without an index.
"""

from __future__ import annotations

import tempfile
import time
from datetime import UTC, datetime
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING

from cocli.demo.town import build_town
from cocli.demo.town.maps.pages import list_page, place_page
from cocli.demo.town.maps.search import TownSearch, matches
from cocli.demo.town.trades import PHRASES
from cocli.documents import DocumentRepository, open_catalog
from cocli.documents.graph.engine import Engine
from cocli.documents.replay.jobs import run_job
from cocli.documents.replay.plan import ReplayPlan
from cocli.documents.replay.replay import plan_replay
from cocli.index.cache import FolderCache
from cocli.index.replacement import replace_records
from cocli.keys.paths import IndexRef
from cocli.models.campaign import ExcludeSection
from cocli.pipeline.editions.records import CampaignRecords, CampaignView, make_records
from cocli.pipeline.editions.states import EditionStates
from cocli.pipeline.exclusions import Exclusions
from cocli.pipeline.indexes import open_index
from cocli.pipeline.merge import merge_prospects
from cocli.pipeline.merge.transformations import sighted_prospect
from cocli.pipeline.nodes import pipeline_graph
from cocli.pipeline.sources.google_maps.documents import details_document, list_document
from cocli.pipeline.sources.google_maps.parser.parse import parse
from cocli.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.harness import Bench
    from cocli.documents import Document
    from cocli.index.index import Index
    from cocli.models.place import Place
    from cocli.models.prospect import Prospect

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
CAMPAIGN, EDITION = "town", "again"
_DETAILS = 4
"""One page of a place for so many lists."""


def main(bench: Bench) -> None:
    documents = list(islice(_distinct(), bench.size("pages", 600)))
    bench.note(f"{len(documents)} captures of the map")
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(str(Path(folder) / "data"), fsync="never")
        catalog = open_catalog(str(Path(folder) / "catalog.sqlite3"), durable=False)
        repository = DocumentRepository(store, catalog, clock=lambda: NOON)
        repository.save_many([(document, ()) for document in documents])
        places = _measure_replay(bench, repository, documents)
        index = open_index(store, IndexRef("prospects", CAMPAIGN), FolderCache(str(Path(folder) / "cache")))
        _measure_promotion(bench, EditionStates(repository, "acct", EDITION), index, places)
        catalog.close()
        store.close()


def _measure_replay(bench: Bench, repository: DocumentRepository, documents: list[Document]) -> list[Place]:
    started = time.perf_counter()
    places = [place for document in documents for place in parse(document)]
    alone = len(documents) / (time.perf_counter() - started)
    engine = Engine(pipeline_graph(), repository, edition=EDITION, clock=lambda: NOON)
    job = plan_replay(engine, "acct", ReplayPlan.of(engine))
    started = time.perf_counter()
    done = run_job(engine, "acct", job.job)
    rate = len(documents) / (time.perf_counter() - started)
    if done.done != len(documents):
        raise RuntimeError(f"{done.done} of {len(documents)} captures were read")
    ratio = rate / alone
    bench.measure("maps_pages_s", rate, unit="1/s", peer="the parser alone", peer_value=alone, ratio=ratio)
    return places


def _measure_promotion(bench: Bench, states: EditionStates, index: Index[Prospect], places: list[Place]) -> None:
    started = time.perf_counter()
    merged: dict[str, Prospect] = {}
    for prospect in (sighted_prospect(place, CAMPAIGN) for place in places):
        known = merged.get(prospect.company_hash)
        merged[prospect.company_hash] = prospect if known is None else merge_prospects(known, prospect)
    alone = len(merged) / (time.perf_counter() - started)
    captures = frozenset(place.document for place in places if place.document)
    view = CampaignView(CAMPAIGN, Exclusions.of(ExcludeSection()), CampaignRecords(), captures, NOON)
    started = time.perf_counter()
    records = make_records(states, view)
    written = replace_records(index, 0, records.prospects, ())
    rate = len(records.prospects) / (time.perf_counter() - started)
    if not written or records.businesses().keys() - merged.keys():
        raise RuntimeError("the promotion made other prospects than the places have")
    bench.note(f"{len(records.prospects)} prospects of {states.read} states")
    ratio = rate / alone
    bench.measure("promote_prospects_s", rate, unit="1/s", peer="merging alone", peer_value=alone, ratio=ratio)


def _distinct() -> Iterator[Document]:
    seen: set[str] = set()
    for document in _captures():
        if document.doc not in seen:
            seen.add(document.doc)
            yield document


def _captures() -> Iterator[Document]:
    """Lists of all tiles and phrases of one town after the other, and pages of places between them."""
    number = 0
    while True:
        number += 1
        town = build_town(seed=number)
        for tile, phrase in product(town.region.tiles, PHRASES):
            lat, lon = tile.centre
            search = TownSearch(phrase, lat, lon, 13)
            html = list_page(town, search, [], language="en", limited=False)
            url = f"https://maps.example/maps/search/{number}"
            yield list_document(
                account="acct", tile=tile, phrase=f"{phrase} {number}", url=url, html=html, fetched_at=NOON
            )
            for business in matches(town, search)[::_DETAILS][:1]:
                page = place_page(town, business, language="en", limited=False)
                yield details_document(account="acct", place_id=business.place_id, url=url, html=page, fetched_at=NOON)
