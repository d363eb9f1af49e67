"""The stage `gm-list`: which businesses are in a tile, asked of each source, and what that means for the next stages.

For each source: the raw answer is saved, then read, then written down as prospects, then the next stages get their
tasks, and at last the witness says that the tile was read. A worker that dies in between is followed by one that does
it again, and everything it finds done is recognised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from cocli import logs
from cocli.keys.tile import Tile
from cocli.models.completion import Blocked, Empty, Failed, Ok
from cocli.models.task import TaskError
from cocli.models.witness import Witness
from cocli.models.work import DetailsWork, EnrichmentWork, ListWork
from cocli.pipeline.exclusions import is_excluded
from cocli.pipeline.merge.transformations import sighted_prospect
from cocli.pipeline.sources.registry import source_named
from cocli.pipeline.stages.parsing import read_places
from cocli.pipeline.websites.hosts.shared import own_domain
from cocli.queue.base import NewTask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from pydantic import JsonValue

    from cocli.documents import Document, DocumentRepository, Receipt
    from cocli.documents.graph.engine import Engine
    from cocli.index.writer import IndexWriter
    from cocli.models.place import Place
    from cocli.models.prospect import Prospect
    from cocli.models.task import Task
    from cocli.pipeline.exclusions import Exclusions
    from cocli.pipeline.sources.capture import Capture
    from cocli.pipeline.sources.source import ListSource
    from cocli.queue.base import Queue, Verdict, Work

_LOG = logs.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ListSinks:
    """Where the stage writes."""

    documents: DocumentRepository
    parsers: Engine
    """The graph that reads what came in, and keeps what it read."""
    prospects: IndexWriter[Prospect]
    witnesses: IndexWriter[Witness]
    listing: Queue
    """For the quarters of a tile that held more than it showed."""
    details: Queue
    enrichment: Queue


@dataclass(frozen=True, slots=True)
class SourcePass:
    """One source was read for one task."""

    source: str
    capture: Capture
    places: Sequence[Place]
    document: str
    earlier: int | None
    again: int | None


class ListStage:
    queue = "gm-list"

    def __init__(
        self,
        sources: Mapping[str, ListSource],
        sinks: ListSinks,
        *,
        campaign: str,
        worker: str,
        exclusions: Exclusions,
        clock: Callable[[], datetime],
        needs_details: Callable[[Place], bool],
    ) -> None:
        self._sources = sources
        self._sinks = sinks
        self._campaign = campaign
        self._worker = worker
        self._exclusions = exclusions
        self._clock = clock
        self._needs_details = needs_details

    def run(self, task: Task, work: Work) -> Verdict:
        try:
            wanted = ListWork.model_validate(task.payload)
        except ValidationError as error:
            return _malformed(error)
        passes = []
        for name in wanted.sources:
            source = self._sources.get(name)
            if source is None:
                reason = f"this machine has no source {name}; see: cocli source ls, cocli doctor"
                return Failed(error=TaskError(code="source_missing", message=reason, retryable=False))
            done = self._read(name, source, wanted)
            work.check()
            self._write(done, wanted)
            passes.append(done)
        return _verdict(passes)

    def close(self) -> None:
        """The sources and sinks belong to whoever opened them."""

    # --- one source

    def _read(self, name: str, source: ListSource, wanted: ListWork) -> SourcePass:
        capture = source.read(wanted.tile, wanted.phrase)
        before = self._earlier_places(capture.document)
        receipt = self._sinks.documents.save(capture.document)
        places = read_places(self._sinks.parsers, capture.document)
        if capture.reach == "blocked":
            places = []
        earlier, again = _recaptured(before, places, receipt)
        _LOG.debug("source read", extra={"source": name, "reach": capture.reach, "places": len(places)})
        return SourcePass(name, capture, places, capture.document.uuid, earlier, again)

    def _earlier_places(self, document: Document) -> set[str] | None:
        """The ids that the pass before this one found; None if there was none."""
        before = self._sinks.documents.stored(document, blobs=True)
        if before is None:
            return None
        places = read_places(self._sinks.parsers, before, keep=False)
        return {place.source_id for place in places} or None  # it was blocked, or says nothing

    def _write(self, done: SourcePass, wanted: ListWork) -> None:
        welcome = [place for place in done.places if is_excluded(place, self._exclusions) is None]
        prospects = [sighted_prospect(place, self._campaign) for place in welcome]
        if prospects:
            self._sinks.prospects.append(_by_company(prospects))
        self._sinks.enrichment.put_many(website_tasks(prospects))
        if source_named(done.source).gives_details:
            self._sinks.details.put_many(_details(welcome, self._needs_details))
        if done.capture.reach == "cut_short" and wanted.tile.size > Tile.FLOOR:
            self._sinks.listing.put_many(_quarters(wanted, done.source))
        self._sinks.witnesses.put(self._witness(done, wanted))

    def _witness(self, done: SourcePass, wanted: ListWork) -> Witness:
        return Witness(
            tile=wanted.tile,
            phrase=wanted.phrase,
            source=done.source,
            read_at=self._clock(),
            worker=self._worker,
            campaign=self._campaign,
            count=len(done.places),
            outcome=done.capture.reach,
            document=done.document,
            earlier=done.earlier,
            again=done.again,
        )


def _recaptured(before: set[str] | None, places: Sequence[Place], receipt: Receipt) -> tuple[int | None, int | None]:
    """The same answer again is no second look: only another one says something of what both missed."""
    if before is None or receipt.outcome == "unchanged":
        return None, None
    return len(before), len(before & {place.source_id for place in places})


def _by_company(prospects: Iterable[Prospect]) -> list[Prospect]:
    return sorted(prospects, key=lambda prospect: (prospect.company_hash, prospect.source_ids))


def website_tasks(prospects: Iterable[Prospect]) -> list[NewTask]:
    """One task per website of one's own; a shop that closed for good is not asked."""
    wanted: dict[str, EnrichmentWork] = {}
    for prospect in prospects:
        domain = own_domain(prospect.website)
        if domain is None or prospect.website is None or prospect.business_status == "permanently_closed":
            continue
        known = wanted.get(domain)
        hashes = (*(known.prospects if known else ()), prospect.company_hash)
        url = known.url if known else prospect.website
        wanted[domain] = EnrichmentWork(domain=domain, url=url, country=prospect.country, prospects=hashes)
    return [NewTask(domain, work.model_dump(mode="json")) for domain, work in wanted.items()]


def _details(places: Iterable[Place], lacks_something: Callable[[Place], bool]) -> list[NewTask]:
    wanted = {place.place_id: place for place in places if place.place_id and lacks_something(place)}
    return [
        NewTask(
            place_id,
            DetailsWork(place_id=place_id, name=place.name, phrase=place.phrase, tile=place.tile).model_dump(
                mode="json"
            ),
        )
        for place_id, place in wanted.items()
    ]


def _quarters(wanted: ListWork, source: str) -> list[NewTask]:
    parts = [wanted.model_copy(update={"tile": tile, "sources": (source,)}) for tile in wanted.tile.split()]
    return [NewTask(f"{part.tile}_{part.phrase}", part.model_dump(mode="json")) for part in parts]


def _verdict(passes: Sequence[SourcePass]) -> Verdict:
    for done in passes:
        if done.capture.reach == "blocked":
            return Blocked(reason=f"{done.source}: {done.capture.reason or 'refused'}")
    count = sum(len(done.places) for done in passes)
    if count == 0 and all(done.capture.reach == "exhausted" for done in passes):
        return Empty(evidence=", ".join(f"{done.source} read to its end" for done in passes))
    found: dict[str, JsonValue] = {done.source: len(done.places) for done in passes}
    reach: dict[str, JsonValue] = {done.source: done.capture.reach for done in passes}
    return Ok(count=count, result={"found": found, "reach": reach})


def _malformed(error: ValidationError) -> Failed:
    return Failed(error=TaskError(code="malformed", message=f"no work for this queue: {error}"[:500], retryable=False))
