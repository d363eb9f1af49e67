"""Google Maps for the workers: the stage `gm-details`, and what a failed page means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from cocli import logs
from cocli.errors import PageUnread
from cocli.models.completion import Blocked, Failed, Ok
from cocli.models.record import explain
from cocli.models.task import TaskError
from cocli.models.work import DetailsWork
from cocli.pipeline.exclusions import is_excluded
from cocli.pipeline.merge.transformations import sighted_prospect
from cocli.pipeline.sources.google_maps.quality import PageFill
from cocli.pipeline.stages.list_pass import website_tasks
from cocli.pipeline.stages.parsing import read_places

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.documents import Document, DocumentRepository
    from cocli.documents.graph.engine import Engine
    from cocli.index.writer import IndexWriter
    from cocli.models.place import Place
    from cocli.models.prospect import Prospect
    from cocli.models.task import Task
    from cocli.pipeline.exclusions import Exclusions
    from cocli.pipeline.sources.google_maps.browser.reader import MapsReader
    from cocli.pipeline.sources.google_maps.quality_book import QualityBook
    from cocli.pipeline.stages.stage import Stage
    from cocli.queue.base import Queue, Verdict, Work

_LOG = logs.get_logger(__name__)

DETAILS = "gm-details"


class PatientStage:
    """A stage around another one: a page that did not load is a failed attempt at its task, and never no result."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.queue = stage.queue

    def run(self, task: Task, work: Work) -> Verdict:
        try:
            return self._stage.run(task, work)
        except PageUnread as error:
            _LOG.warning("%s", error.message)
            return Failed(error=TaskError(code=error.code, message=error.message[:500], retryable=True))

    def close(self) -> None:
        self._stage.close()


# --- gm-details


@dataclass(frozen=True, slots=True)
class DetailsSinks:
    """Where the stage writes."""

    documents: DocumentRepository
    parsers: Engine
    """The graph that reads what came in, and keeps what it read."""
    prospects: IndexWriter[Prospect]
    enrichment: Queue


class DetailsStage:
    """Reads the page of one place. One whose business is known by now costs nothing."""

    queue = DETAILS

    def __init__(
        self,
        reader: MapsReader,
        book: QualityBook,
        sinks: DetailsSinks,
        *,
        campaign: str,
        exclusions: Exclusions,
        still_needed: Callable[[str], bool],
        kept: Callable[[str], Document | None] = lambda _: None,
    ) -> None:
        """`kept` finds the page of a place that was read lately, for whichever campaign of the account."""
        self._reader = reader
        self._book = book
        self._sinks = sinks
        self._campaign = campaign
        self._exclusions = exclusions
        self._still_needed = still_needed
        self._kept = kept

    def run(self, task: Task, work: Work) -> Verdict:
        try:
            wanted = DetailsWork.model_validate(dict(task.payload))
        except ValidationError as error:
            return Failed(error=TaskError(code="malformed", message=explain(error)[:500], retryable=False))
        if not self._still_needed(wanted.place_id):
            return Ok(result={"known": True}, count=0)
        if not task.recoveries and (known := self._known_place(wanted)) is not None:
            found = self._write(known)
            return Ok(result={"website": known.website, "excluded": found is None, "kept": True}, count=1)
        self._book.check()
        visit = self._reader.visit(wanted.place_id)
        work.check()
        receipt = self._sinks.documents.save(visit.document)
        if visit.blocked is not None:
            return Blocked(reason=f"google-maps: {visit.blocked}")
        if visit.gone:
            reason = "Maps has no business of this id any more"
            return Failed(error=TaskError(code="place_gone", message=reason, retryable=False))
        (seen,) = read_places(self._sinks.parsers, visit.document)
        place = seen.with_changes(phrase=wanted.phrase, tile=wanted.tile)
        self._book.add(PageFill.of([place]))
        found = self._write(place)
        return Ok(result={"website": place.website, "excluded": found is None}, documents=(receipt.reference,), count=1)

    def close(self) -> None:
        """Reader and sinks belong to whoever opened them."""

    def _known_place(self, wanted: DetailsWork) -> Place | None:
        """The place as its kept page shows it; None where there is none, or it shows something else."""
        page = self._kept(wanted.place_id)
        places = [] if page is None else read_places(self._sinks.parsers, page)
        if len(places) != 1 or places[0].place_id != wanted.place_id:
            return None
        return places[0].with_changes(phrase=wanted.phrase, tile=wanted.tile)

    def _write(self, place: Place) -> Prospect | None:
        if is_excluded(place, self._exclusions) is not None:
            return None
        prospect = sighted_prospect(place, self._campaign)
        self._sinks.prospects.append([prospect])
        self._sinks.enrichment.put_many(website_tasks([prospect]))
        return prospect
