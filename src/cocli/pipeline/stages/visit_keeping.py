"""What visits leave behind: what their pages say, the campaign's records, and at last the sites.

Visits that end within the same moment are written together. In a group the order is that of a single visit: a worker
that dies in between is followed by another one, which does the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence  # noqa: TC003  dataclasses are built with them
from dataclasses import dataclass, field
from datetime import datetime  # noqa: TC003  the same
from typing import TYPE_CHECKING

from cocli.documents.graph.engine import Engine
from cocli.errors import CocliError
from cocli.pipeline.merge.site_records import RecordCounts, SiteWriting
from cocli.pipeline.nodes import websites_graph
from cocli.pipeline.websites.page.document import read_bounded, with_facts
from cocli.pipeline.websites.site.document import VisitedPage, site_document, visit_document
from cocli.pipeline.websites.site.gathering import Gathering

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.documents.document import Document
    from cocli.documents.graph.node import NodeContext
    from cocli.documents.repository import DocumentRepository
    from cocli.models.document import DocumentReference
    from cocli.models.prospect import Prospect
    from cocli.models.website import Website
    from cocli.pipeline.merge.site_records import SiteRecords
    from cocli.pipeline.websites.facts.facts import PageFacts
    from cocli.pipeline.websites.site.failure_book import FailureBook
    from cocli.pipeline.websites.site.known_visit import KnownVisit
    from cocli.pipeline.websites.site.mx import MxAnswer
    from cocli.pipeline.websites.site.record import SiteState
    from cocli.pipeline.websites.site.site import SiteReading

_GATHER_SECONDS = 1.0
"""So long an ended visit waits for others: nobody waits for it but its place."""
_ENOUGH = 64
"""Visits that are written together: a group has costs of its own, and asking sites goes before writing them down."""


@dataclass(frozen=True, slots=True)
class SiteSinks:
    """Where what is learnt is kept. Without it, nothing is."""

    repository: DocumentRepository
    account: str
    edition: str
    records: SiteRecords
    failures: FailureBook | None = None
    """Where is counted how often extractors fail; without a campaign nowhere."""


@dataclass(frozen=True, slots=True)
class EndedVisit:
    """A visit that is over, and whom it is for."""

    reading: SiteReading
    state: SiteState
    website: Website
    prospects: Sequence[Prospect]
    mx: Mapping[str, MxAnswer]
    at: datetime
    known: KnownVisit | None = None
    """The earlier visit, where this one found all as it was: then only the records are looked at."""

    @property
    def pages(self) -> list[Document]:
        return [page.kept.document for page in self.reading.pages]

    @property
    def is_settled(self) -> bool:
        """What may be otherwise tomorrow does not replace what was read before."""
        return self.known is None and not (self.reading.triage and self.reading.triage.retryable)


@dataclass(frozen=True, slots=True)
class KeptVisit:
    """What was written of a visit."""

    written: RecordCounts = field(default_factory=RecordCounts)
    documents: Sequence[DocumentReference] = ()


class VisitKeeping:
    """For one event loop."""

    def __init__(self, sinks: SiteSinks, clock: Callable[[], datetime]) -> None:
        self._sinks = sinks
        self._clock = clock
        self._group: Gathering[EndedVisit, KeptVisit] = Gathering(self._kept, seconds=_GATHER_SECONDS, enough=_ENOUGH)

    async def keep(self, visit: EndedVisit) -> KeptVisit:
        return await self._group.add(visit)

    def _kept(self, visits: Sequence[EndedVisit]) -> Sequence[KeptVisit | Exception]:
        """It blocks."""
        if self._sinks.failures is not None:
            for visit in visits:
                self._sinks.failures.add(visit.reading)
        try:
            return self._together(visits)
        except Exception as error:  # noqa: BLE001  whose trouble it was shows when each is written alone
            if len(visits) == 1:
                return [error]
        return [self._alone(visit) for visit in visits]

    def _alone(self, visit: EndedVisit) -> KeptVisit | Exception:
        try:
            return self._together([visit])[0]
        except Exception as error:  # noqa: BLE001  its own visit raises it
            return error

    def _together(self, visits: Sequence[EndedVisit]) -> list[KeptVisit]:
        sinks = self._sinks
        settled = [self._written_visit(visit) for visit in visits if visit.is_settled]
        sites = {document.digest: site for document, site in settled}
        graph = websites_graph(_ReadyPages(_facts(visits)), lambda _, context: sites[context.input_digest])
        engine = Engine(graph, sinks.repository, edition=sinks.edition, clock=self._clock)
        self._keep_pages(engine, visits)
        records = [
            SiteWriting(visit.website, visit.prospects, visit.at, visit.mx, is_known=visit.known is not None)
            for visit in visits
        ]
        written = sinks.records.write_many(records)
        self._keep_sites(engine, [document for document, _ in settled])
        references = iter([site.reference for _, site in settled])
        kept: list[KeptVisit] = []
        for visit, counts in zip(visits, written, strict=True):
            made = [next(references)] if visit.is_settled else []
            before = visit.known.documents if visit.known else ()
            kept.append(KeptVisit(counts, [page.reference for page in visit.pages] + [*made, *before]))
        return kept

    def _written_visit(self, visit: EndedVisit) -> tuple[Document, Document]:
        """The visit as it came in, and the site that was made of it."""
        account, edition = self._sinks.account, self._sinks.edition
        pages = [VisitedPage.of(page.kept) for page in visit.reading.pages]
        document = visit_document(account, visit.state, pages, at=self._clock(), trace=visit.reading.trace)
        docs = [page.doc for page in pages]
        return document, site_document(account, edition, visit.state, docs, visit.website)

    def _keep_pages(self, engine: Engine, visits: Sequence[EndedVisit]) -> None:
        """What each page says. One that cannot be saved so goes its own way, perhaps into quarantine."""
        pages = list({page.reference: page for visit in visits for page in visit.pages}.values())
        for page, answer in zip(pages, engine.parse_many(pages), strict=True):
            if isinstance(answer, CocliError):
                engine.run(page)

    def _keep_sites(self, engine: Engine, visits: Sequence[Document]) -> None:
        for answer in self._sinks.repository.save_many([(visit, ()) for visit in visits]):
            if isinstance(answer, CocliError):
                raise answer
        for made in engine.parse_many(visits):
            if isinstance(made, CocliError):
                raise made


def _facts(visits: Sequence[EndedVisit]) -> dict[str, PageFacts]:
    return {page.kept.document.digest: page.facts for visit in visits for page in visit.reading.pages}


@dataclass(frozen=True, slots=True)
class _ReadyPages:
    """The function of the node `page`, for pages that were just read: they are not read twice."""

    facts: Mapping[str, PageFacts]

    def __call__(self, document: Document, context: NodeContext) -> Document:
        return with_facts(document, self.facts.get(context.input_digest) or read_bounded(document))
