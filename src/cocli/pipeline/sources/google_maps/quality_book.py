"""Where the self-check of the parsers is kept: per campaign and parser, one object in the store, shared by all workers.

Each page that was read adds what it held. Pages that leave the last ones become what is usual, as long as all is well.
A grave alarm stays: nobody reads on until somebody took the object away, or another version of the program is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cocli.errors import AlreadyExists, Conflict, NotFound, ParserAlarm
from cocli.formats import json_records
from cocli.keys.paths import ParserQualityKey, quality_folder
from cocli.models.record import Count, Label, Many, Record, RecordPart, Text, UtcDatetime
from cocli.pipeline.sources.google_maps.parser.sighting import SOURCE
from cocli.pipeline.sources.google_maps.quality import LAST_PAGES, Baseline, PageFill, drop, learn

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from cocli.store.base import Store

LIST_PARSER, DETAILS_PARSER = "list", "details"
BASELINE_PAGES = 1_000
"""So many pages say what is usual; more would not say it better."""
_TRIES = 50


class PageTally(RecordPart):
    """What one page held."""

    places: Count
    filled: dict[str, Count]


class RaisedAlarm(RecordPart):
    severity: Literal["warning", "grave"]
    message: Text


class ParserQuality(Record):
    """`campaigns/{campaign}/quality/{parser}.json`."""

    schema_id = "cocli.parser-quality/1"
    key = ("parser",)

    parser: Label
    version: Label
    """Of the program whose parser it is."""
    updated_at: UtcDatetime
    recent: Many[PageTally] = ()
    usual: Baseline | None = None
    alarms: Many[RaisedAlarm] = ()

    @property
    def grave(self) -> RaisedAlarm | None:
        return next((alarm for alarm in self.alarms if alarm.severity == "grave"), None)


class QualityBook:
    """The self-check of one parser of one campaign."""

    def __init__(
        self, store: Store, campaign: str, parser: str, *, version: str, clock: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._key = str(ParserQualityKey(campaign, f"{SOURCE}-{parser}"))
        self._parser = f"{SOURCE}/{parser}"
        self._version = version
        self._clock = clock

    def check(self) -> None:
        """`ParserAlarm` where a grave alarm stands."""
        known = self._read()[0]
        if known is not None and known.grave is not None:
            raise ParserAlarm(source=self._parser, reason=known.grave.message, key=self._key)

    def add(self, page: PageFill) -> ParserQuality:
        """Write down what a page held. Others do the same: the one who comes second looks again."""
        for _ in range(_TRIES):
            known, etag = self._read()
            record = self._with(known, page)
            data = json_records.render(record)
            try:
                self._store.put(self._key, data, if_absent=etag is None, if_match=etag)
            except (Conflict, AlreadyExists):
                continue  # somebody else was faster: theirs counts as well
            return record
        raise Conflict(key=self._key, address=self._store.address, reason="others write it all the time")

    def _read(self) -> tuple[ParserQuality | None, str | None]:
        try:
            found = self._store.get(self._key)
        except NotFound:  # the first page of this parser
            return None, None
        record = json_records.read(ParserQuality, found.data, file=self._key)
        if record.version != self._version:
            record = record.with_changes(version=self._version, recent=(), alarms=())
        return record, found.etag

    def _with(self, known: ParserQuality | None, page: PageFill) -> ParserQuality:
        now = self._clock()
        before = known or ParserQuality(parser=self._parser, version=self._version, updated_at=now)
        pages = [*before.recent, PageTally(places=page.places, filled=dict(page.filled))]
        leaving, recent = pages[:-LAST_PAGES], pages[-LAST_PAGES:]
        usual = before.usual
        if leaving and not before.alarms:
            usual = _learnt(self._parser, usual, leaving, now)
        found = drop([_fill(tally) for tally in recent], usual) if usual is not None else []
        alarms = [RaisedAlarm(severity=alarm.severity, message=alarm.message) for alarm in found]
        if before.grave is not None and not any(alarm.severity == "grave" for alarm in alarms):
            alarms.insert(0, before.grave)
        return before.with_changes(updated_at=now, recent=tuple(recent), usual=usual, alarms=tuple(alarms))


def quality_of(store: Store, campaign: str) -> list[ParserQuality]:
    """All self-checks of a campaign, for its status."""
    keys = [info.key for info in store.list(quality_folder(campaign)) if ParserQualityKey.fits(info.key)]
    return [json_records.read(ParserQuality, store.get(key).data, file=key) for key in sorted(keys)]


def _fill(page: PageTally) -> PageFill:
    return PageFill(page.places, page.filled)


def _learnt(parser: str, usual: Baseline | None, pages: list[PageTally], at: datetime) -> Baseline:
    new = learn(parser, [_fill(page) for page in pages], at)
    if usual is None:
        return new
    if usual.pages >= BASELINE_PAGES:
        return usual
    names = usual.filled.keys() | new.filled.keys()
    return usual.with_changes(
        learnt_at=at,
        pages=usual.pages + new.pages,
        pages_with_places=usual.pages_with_places + new.pages_with_places,
        places=usual.places + new.places,
        filled={name: usual.filled.get(name, 0) + new.filled.get(name, 0) for name in sorted(names)},
    )
