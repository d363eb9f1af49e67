"""The stage `gm-list`: which businesses are in a tile, asked of each source, and what that means for the next stages.

For each source: the raw answer is saved, then read, then written down as prospects, then the next stages get their
tasks, and at last the witness says that the tile was read. A worker that dies in between is followed by one that does
it again, and everything it finds done is recognised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from cocli import logs
from cocli.keys.tile import Tile
from cocli.models.completion import Blocked, Empty, Failed, Ok
from cocli.models.task import TaskError
from cocli.models.work import ListWork
from cocli.pipeline.stages.list_pass import PassWriter, SourcePass
from cocli.pipeline.stages.parsing import read_places
from cocli.queue.base import NewTask

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from pydantic import JsonValue

    from cocli.documents import Document, Receipt
    from cocli.models.place import Place
    from cocli.models.task import Task
    from cocli.pipeline.exclusions import Exclusions
    from cocli.pipeline.sources.source import ListSource
    from cocli.pipeline.stages.list_pass import ListSinks
    from cocli.queue.base import Verdict, Work

_LOG = logs.get_logger(__name__)


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
        self._clock = clock
        self.writer = PassWriter(
            sinks,
            campaign=campaign,
            worker=worker,
            exclusions=exclusions,
            clock=clock,
            needs_details=needs_details,
        )

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
            done = self.read(name, source, wanted)
            work.check()
            self.write(done, wanted)
            passes.append(done)
        return _verdict(passes)

    def close(self) -> None:
        """The sources and sinks belong to whoever opened them."""

    # --- one source

    def read(self, name: str, source: ListSource, wanted: ListWork) -> SourcePass:
        """Ask a source, keep its answer, and read it. Nothing is written but the documents."""
        capture = source.read(wanted.tile, wanted.phrase)
        before = self._earlier_places(capture.document)
        receipt = self._sinks.documents.save(capture.document)
        # A page that was refused holds no places; a limited view shows some, and they are there.
        places = read_places(self._sinks.parsers, capture.document)
        earlier, again = _recaptured(before, places, receipt)
        _LOG.debug("source read", extra={"source": name, "reach": capture.reach, "places": len(places)})
        return SourcePass(name, wanted.tile, wanted.phrase, capture, places, self._clock(), earlier, again)

    def _earlier_places(self, document: Document) -> set[str] | None:
        """The ids that the pass before this one found; None if there was none."""
        before = self._sinks.documents.stored(document, blobs=True)
        if before is None:
            return None
        places = read_places(self._sinks.parsers, before, keep=False)
        return {place.source_id for place in places} or None  # it was blocked, or says nothing

    def write(self, done: SourcePass, wanted: ListWork) -> None:
        """What it found, the tasks that follow, and at last the witness."""
        self.writer.write([done])
        if done.capture.reach == "cut_short" and wanted.tile.size > Tile.FLOOR:
            self._sinks.listing.put_many(_quarters(wanted, done.source))
        self.writer.bear_witness(done)


def _recaptured(before: set[str] | None, places: Sequence[Place], receipt: Receipt) -> tuple[int | None, int | None]:
    """The same answer again is no second look: only another one says something of what both missed."""
    if before is None or receipt.outcome == "unchanged":
        return None, None
    return len(before), len(before & {place.source_id for place in places})


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
