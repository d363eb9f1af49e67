"""Harvest: what others found becomes this campaign's. A kept capture is read again, and nobody is asked for it.

Only a file that lies on this machine may be read anew, where the capture is of other categories or of an earlier
edition: that costs no request. A capture that is not here is said to be missing; its tile is read again by a worker.
docs/decisions/0025-harvest.md tells why.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cocli.documents import Document
from cocli.errors import CocliError, DocumentDamaged, DocumentDeleted, DocumentNotFound
from cocli.keys.tile import Tile
from cocli.models.work import ListWork
from cocli.pipeline.sources.capture import Capture
from cocli.pipeline.sources.open_places.library import edition_at
from cocli.pipeline.sources.open_places.parser import slice_edition, slice_meaning
from cocli.pipeline.sources.registry import source_named
from cocli.pipeline.stages.list_pass import LostPass, SourcePass
from cocli.pipeline.stages.parsing import read_places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from cocli.pipeline.plan.harvest import Unharvested
    from cocli.pipeline.sources.capture import FileEdition, Reach
    from cocli.pipeline.sources.open_places.source_file import AddedFile
    from cocli.pipeline.sources.source import ListSource, Source
    from cocli.pipeline.stages.list_pass import ListSinks
    from cocli.pipeline.stages.listing import ListStage

MOST_PASSES = 500
MOST_PLACES = 5_000
"""What is held in memory at once, and written together."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class HarvestFiles:
    """The files of open data that lie here, and what the campaign's phrases mean to them."""

    added: Mapping[str, Sequence[AddedFile]]
    """By their sources, the newest first."""
    meaning: Callable[[str, str], str]
    """Phrase and source → `Meaning.digest`."""
    opened: Callable[[str], ListSource]
    """Opens the files of a source; asked only if one has to be read."""

    def edition(self, source: str, tile: Tile) -> FileEdition | None:
        return edition_at(self.added.get(source, ()), tile)


@dataclass(slots=True)
class HarvestCounts:
    """What came of it. `examples` are some of what could not be harvested."""

    tiles: int = 0
    """Tiles × phrases × sources that the campaign has now."""
    businesses: int = 0
    from_files: int = 0
    """How many of the tiles were read from a file that lies here."""
    missing: int = 0
    """Tiles whose capture is not here: they are to be read again."""
    examples: list[str] = field(default_factory=list)
    dry_run: bool = False
    """`tiles` is what would be harvested."""


class Harvester:
    """Takes passes over into one campaign, in batches. Killed anywhere, the next one writes the same records."""

    def __init__(self, stage: ListStage, sinks: ListSinks, files: HarvestFiles, *, account: str) -> None:
        self._stage = stage
        self._writer = stage.writer
        self._sinks = sinks
        self._files = files
        self._account = account
        self.campaign = stage.writer.campaign
        self.counts = HarvestCounts()

    def harvest(self, passes: Iterable[Unharvested], told: Callable[[int], None]) -> None:
        taken, read, lost, places = list[SourcePass](), list[SourcePass](), list[LostPass](), 0
        for known in passes:
            done = self._taken_over(known)
            if isinstance(done, LostPass):
                lost.append(done)
            else:
                places += len(done.places)
                (read if done.read_at > _time(known.read_at) else taken).append(done)
            if places >= MOST_PLACES or len(taken) + len(read) + len(lost) >= MOST_PASSES:
                self._write(taken, read, lost)
                told(self.counts.tiles)
                taken, read, lost, places = [], [], [], 0
        self._write(taken, read, lost)
        told(self.counts.tiles)

    def _write(self, taken: list[SourcePass], read: list[SourcePass], lost: list[LostPass]) -> None:
        """Records first, then marks: killed in between, the batch is done again."""
        counts = self.counts
        if taken or read:
            counts.businesses += self._writer.write([*taken, *read])
        if taken:
            self._writer.mark(taken)
        if read:
            self._writer.bear_witnesses(read)
        if lost:
            self._writer.mark_missing(lost)
        counts.tiles += len(taken) + len(read)
        counts.from_files += len(read)
        counts.missing += len(lost)
        told = [f"{gone.tile} {gone.phrase} ({gone.source}): {gone.reason}" for gone in lost]
        counts.examples = [*counts.examples, *told][:5]

    # --- one pass

    def _taken_over(self, known: Unharvested) -> SourcePass | LostPass:
        source, tile = source_named(known.source), _tile(known.tile)
        edition = self._files.edition(source.name, tile)
        if edition is not None and self._is_outdated(known, edition):
            return self._from_file(known, source, tile)
        done = self._replayed(known, source, tile)
        if isinstance(done, LostPass) and edition is not None:
            return self._from_file(known, source, tile)
        return done

    def _is_outdated(self, known: Unharvested, edition: FileEdition) -> bool:
        """Whether the file that lies here answers otherwise: for other categories, or by a later edition."""
        as_of = None if known.as_of is None else _time(known.as_of)
        return known.meaning != self._meaning(known) or edition.follows(known.release, as_of)

    def _from_file(self, known: Unharvested, source: Source, tile: Tile) -> SourcePass:
        wanted = ListWork(tile=tile, phrase=known.phrase, sources=(source.name,))
        return _without_bytes(self._stage.read(source.name, self._files.opened(source.name), wanted))

    def looked_at(self, known: Unharvested) -> SourcePass | LostPass:
        """What a pass found that was harvested before. Nothing is written."""
        return self._replayed(known, source_named(known.source), _tile(known.tile), keep=False)

    def _replayed(self, known: Unharvested, source: Source, tile: Tile, *, keep: bool = True) -> SourcePass | LostPass:
        try:
            document = self._capture(known, source, tile)
            if isinstance(document, str):
                return self._lost(known, tile, document)
            places = read_places(self._sinks.parsers, document, keep=keep)
        except CocliError as error:
            if error.retryable:
                raise
            return self._lost(known, tile, error.message)
        if known.digest is None and known.found and not places:
            return self._lost(known, tile, "the newest version of its capture shows no list")
        reach: Reach = "cut_short" if known.outcome == "cut_short" else "exhausted"
        capture = Capture(document, reach)
        if source.reads_files:
            capture = replace(capture, edition=slice_edition(document), meaning=slice_meaning(document))
            if capture.meaning != self._meaning(known):
                return self._lost(known, tile, "it was read for other categories than this campaign's")
        done = SourcePass(known.source, tile, known.phrase, capture, places, _time(known.read_at))
        return _without_bytes(done)

    def _capture(self, known: Unharvested, source: Source, tile: Tile) -> Document | str:
        """The very capture that a witness names, or why there is none."""
        doc = source.capture_of(tile, known.phrase, known.release) if source.capture_of else None
        if known.document is None:
            return "it kept no capture"
        if doc is None:
            rows = self._sinks.documents.catalog.named(self._account, [known.document], None)
            if not rows:
                return "its witness does not say which edition was read, and the capture is not known here"
            doc = rows[0].doc
        place = Document.intake(account=self._account, connector=source.connector, doc=doc)
        if place.uuid != known.document:
            return "its capture belongs to another account"
        if known.digest is None:
            return self._sinks.documents.stored(place, blobs=True) or "its capture is not here"
        try:
            reference = place.reference.with_changes(digest=known.digest)
            return self._sinks.documents.get(self._account, reference, blobs=True)
        except (DocumentNotFound, DocumentDeleted, DocumentDamaged) as error:
            return error.message

    def _lost(self, known: Unharvested, tile: Tile, reason: str) -> LostPass:
        meaning = self._meaning(known) if source_named(known.source).reads_files else None
        return LostPass(known.source, tile, known.phrase, _time(known.read_at), reason, meaning)

    def _meaning(self, known: Unharvested) -> str:
        return self._files.meaning(known.phrase, known.source)


def is_lacking(known: Unharvested, files: HarvestFiles, *, parser: str, exclusions: str) -> bool:
    """Whether a campaign lacks a pass that the query found: it knows the files of a source as a whole, not by tile."""
    if known.mark_read_at is None or _is_older(known.mark_parser, parser):
        return True
    if known.mark_left_out and known.mark_exclusions != exclusions:
        return True
    edition = files.edition(known.source, _tile(known.tile))
    if edition is None:
        return known.mark_read_at < known.read_at
    meaning = files.meaning(known.phrase, known.source)
    as_of = None if known.mark_as_of is None else _time(known.mark_as_of)
    if known.mark_meaning != meaning or edition.follows(known.mark_release, as_of):
        return True
    return known.mark_read_at < known.read_at and known.meaning in (None, meaning)


def _is_older(marked: str | None, parser: str) -> bool:
    """Whether a mark is of another parser. That of a newer program is left as it is: else the two would take turns."""
    if marked is None or marked == parser:
        return marked is None
    (name, _, version), (own, _, newest) = marked.rpartition("/"), parser.rpartition("/")
    is_newer = name == own and version.isdecimal() and newest.isdecimal() and int(version) > int(newest)
    return not is_newer


def _without_bytes(done: SourcePass) -> SourcePass:
    """The same without the pages that it was read from: thousands of them are not held at once."""
    document = done.capture.document
    document.digest  # noqa: B018  computed while the bytes are there; the copy keeps it
    return replace(done, capture=replace(done.capture, document=document.with_blobs({})))


def _tile(name: str) -> Tile:
    lat, _, lon = name.partition("_")
    return Tile.parse(lat, lon)


def _time(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)
