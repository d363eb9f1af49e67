"""One pass over a tile: what a source said there becomes prospects, tasks of the next stages, and the marks of it.

The stage `gm-list` makes a pass by asking a source. A harvest makes one of a capture that is there, and writes it in
the same way: so what a campaign gets does not depend on who asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.models.harvest import HarvestedTile
from cocli.models.witness import Witness
from cocli.models.work import DetailsWork, EnrichmentWork
from cocli.pipeline.exclusions import is_excluded
from cocli.pipeline.merge.site_address import country_hint
from cocli.pipeline.merge.transformations import sighted_prospect
from cocli.pipeline.sources.graph_nodes import list_parser
from cocli.pipeline.sources.registry import source_named
from cocli.pipeline.websites.hosts.shared import own_domain
from cocli.queue.base import NewTask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from cocli.documents import DocumentRepository
    from cocli.documents.graph.engine import Engine
    from cocli.index.writer import IndexWriter
    from cocli.keys.tile import Tile
    from cocli.models.place import Place
    from cocli.models.prospect import Prospect
    from cocli.pipeline.exclusions import Exclusions
    from cocli.pipeline.sources.capture import Capture
    from cocli.queue.base import Queue


@dataclass(frozen=True, slots=True)
class ListSinks:
    """Where passes are written."""

    documents: DocumentRepository
    parsers: Engine
    """The graph that reads what came in, and keeps what it read."""
    prospects: IndexWriter[Prospect]
    witnesses: IndexWriter[Witness]
    harvests: IndexWriter[HarvestedTile]
    listing: Queue
    """For the quarters of a tile that held more than it showed."""
    details: Queue
    enrichment: Queue


@dataclass(frozen=True, slots=True)
class SourcePass:
    """One source was read for one tile and phrase, at a time."""

    source: str
    tile: Tile
    phrase: str
    capture: Capture
    places: Sequence[Place]
    read_at: datetime
    earlier: int | None = None
    again: int | None = None


@dataclass(frozen=True, slots=True)
class LostPass:
    """A pass whose capture cannot be read here, and why."""

    source: str
    tile: Tile
    phrase: str
    read_at: datetime
    reason: str
    meaning: str | None = None
    """What the phrase means to the source today."""


class PassWriter:
    """Writes passes for one campaign. All of it can be done twice; the mark of a pass comes after its records."""

    def __init__(
        self,
        sinks: ListSinks,
        *,
        campaign: str,
        worker: str,
        exclusions: Exclusions,
        clock: Callable[[], datetime],
        needs_details: Callable[[Place], bool],
    ) -> None:
        self._sinks = sinks
        self.campaign = campaign
        self._worker = worker
        self._exclusions = exclusions
        self._clock = clock
        self._needs_details = needs_details

    def write(self, passes: Sequence[SourcePass]) -> int:
        """The prospects of some passes and the tasks that follow; how many businesses there were."""
        welcome = {number: self._welcome(done) for number, done in enumerate(passes)}
        prospects = [sighted_prospect(place, self.campaign) for places in welcome.values() for place in places]
        if prospects:
            self._sinks.prospects.append(_by_company(prospects))
        self._sinks.enrichment.put_many(website_tasks(prospects))
        lists = [welcome[number] for number, done in enumerate(passes) if source_named(done.source).gives_details]
        if lists:
            wanted = [place for places in lists for place in places]
            self._sinks.details.put_many(_details(wanted, self._needs_details))
        return len(prospects)

    def mark(self, passes: Sequence[SourcePass]) -> None:
        """Say that the campaign has them, which others made."""
        self._sinks.harvests.append([self._mark(done) for done in passes])

    def bear_witnesses(self, passes: Sequence[SourcePass]) -> None:
        """Say that the sources were read, for many passes at once. The campaign's marks come first."""
        self.mark(passes)
        self._sinks.witnesses.append([self._witness(done) for done in passes])

    def mark_missing(self, lost: Sequence[LostPass]) -> None:
        """Say that the campaign cannot have them: their tiles are to be read again."""
        self._sinks.harvests.append([self._missing(pass_) for pass_ in lost])

    def bear_witness(self, done: SourcePass) -> None:
        """Say that the source was read. The campaign's mark comes first: else it would harvest what it just read."""
        if done.capture.reach != "blocked":
            self._sinks.harvests.put(self._mark(done))
        self._sinks.witnesses.put(self._witness(done))

    def _welcome(self, done: SourcePass) -> list[Place]:
        return [place for place in done.places if is_excluded(place, self._exclusions) is None]

    def _mark(self, done: SourcePass) -> HarvestedTile:
        capture, edition = done.capture, done.capture.edition
        left_out = len(done.places) - len(self._welcome(done))
        return HarvestedTile(
            tile=done.tile,
            phrase=done.phrase,
            source=done.source,
            campaign=self.campaign,
            read_at=done.read_at,
            outcome="harvested",
            document=capture.document.uuid,
            release=edition.release if edition else None,
            as_of=edition.as_of if edition else None,
            meaning=capture.meaning,
            parser=list_parser(source_named(done.source)),
            count=len(done.places),
            left_out=left_out,
            exclusions=self._exclusions.digest if left_out else None,
            marked_at=self._clock(),
        )

    def _missing(self, lost: LostPass) -> HarvestedTile:
        return HarvestedTile(
            tile=lost.tile,
            phrase=lost.phrase,
            source=lost.source,
            campaign=self.campaign,
            read_at=lost.read_at,
            outcome="missing",
            reason=lost.reason,
            meaning=lost.meaning,
            parser=list_parser(source_named(lost.source)),
            marked_at=self._clock(),
        )

    def _witness(self, done: SourcePass) -> Witness:
        capture, edition, seen = done.capture, done.capture.edition, done.capture.seen
        return Witness(
            tile=done.tile,
            phrase=done.phrase,
            source=done.source,
            read_at=done.read_at,
            worker=self._worker,
            campaign=self.campaign,
            count=len(done.places),
            outcome=capture.reach,
            document=capture.document.uuid,
            earlier=done.earlier,
            again=done.again,
            digest=capture.document.digest,
            release=edition.release if edition else None,
            as_of=edition.as_of if edition else None,
            meaning=capture.meaning,
            **(seen.model_dump() if seen else {}),
        )


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
        wanted[domain] = EnrichmentWork(domain=domain, url=url, country=country_hint(prospect), prospects=hashes)
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
