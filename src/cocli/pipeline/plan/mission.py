"""Targets − fresh witnesses → tasks of the queue `gm-list`. Set differences only; who answers them is not said here.

A source is asked again for a tile and a phrase when its last pass is older than the age limit, was blocked, never was,
or kept nothing that this campaign could harvest. A pass that was cut short within the age limit is answered by the four
quarters of its tile instead, down to the floor. The same question asked twice gives the same tasks, so that asking
twice queues once.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from cocli.keys.tile import Tile
from cocli.queue.base import NewTask

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pydantic import JsonValue

QUEUE = "gm-list"
MISSING = "missing"
"""A pass that the campaign cannot harvest: its capture is not to be had."""
_AGAIN = re.compile(r"~[0-9a-f]{12}\Z")
_DIGITS = 12

LACKING = """
WITH wanted AS (
    SELECT target.tile, target.phrase, target.location, asked.source
    FROM target_tiles AS target CROSS JOIN (SELECT unnest([{sources}]) AS source) AS asked
), read AS (
    SELECT DISTINCT tile, phrase FROM scraped_tiles WHERE outcome <> 'blocked'
)
SELECT wanted.tile, wanted.phrase, wanted.location, wanted.source,
       CASE WHEN lost.tile IS NULL THEN pass.outcome ELSE 'missing' END, epoch_us(pass.read_at), read.tile IS NOT NULL
FROM wanted
LEFT JOIN scraped_tiles AS pass USING (tile, phrase, source)
LEFT JOIN read USING (tile, phrase)
LEFT JOIN harvested_tiles AS lost ON lost.tile = wanted.tile AND lost.phrase = wanted.phrase
    AND lost.source = wanted.source AND lost.outcome = 'missing' AND epoch_us(lost.read_at) = epoch_us(pass.read_at)
WHERE pass.outcome IS DISTINCT FROM 'exhausted' OR epoch_us(pass.read_at) < {since} OR lost.tile IS NOT NULL
ORDER BY wanted.tile, wanted.phrase, wanted.source
"""
"""What was not read to the end since a time, or not so that this campaign could harvest it, in the order of `Lacking`.

Missing: there was a pass, and its capture is not to be had.
"""

SPLIT = """
SELECT pass.tile, pass.phrase, pass.source,
       CASE WHEN lost.tile IS NULL THEN pass.outcome ELSE 'missing' END, epoch_us(pass.read_at), pass.count
FROM scraped_tiles AS pass
LEFT JOIN harvested_tiles AS lost ON lost.tile = pass.tile AND lost.phrase = pass.phrase
    AND lost.source = pass.source AND lost.outcome = 'missing' AND epoch_us(lost.read_at) = epoch_us(pass.read_at)
WHERE length(split_part(split_part(pass.tile, '_', 1), '.', 2)) > 1
"""
"""The passes over parts of tiles; missing, where this campaign could not harvest them."""

COUNT = "SELECT count(*) FROM target_tiles"


class Lacking(NamedTuple):
    """A target and a source, and the pass that is not good enough."""

    tile: str
    phrase: str
    location: str | None
    source: str
    outcome: str | None
    read_at: int | None
    """Microseconds since 1970."""
    known: bool
    """Whether any source read this tile for this phrase, ever."""


class MissionPass(NamedTuple):
    outcome: str
    read_at: int
    found: int = 0


@dataclass(slots=True)
class Splits:
    """The passes over parts of tiles."""

    since: int
    """What was read before is too old."""
    passes: dict[tuple[str, str, str], MissionPass] = field(default_factory=dict)
    read: set[tuple[str, str]] = field(default_factory=set)

    def add(self, tile: str, phrase: str, source: str, found: MissionPass) -> None:
        self.passes[tile, phrase, source] = found
        if found.outcome != "blocked":
            self.read.add((tile, phrase))

    def open_leaves(self, tile: Tile, phrase: str, source: str) -> Iterator[tuple[Tile, int | None]]:
        """The parts of a tile that are to be read, and when each was read last. None if all of it was."""
        for quarter in tile.split():
            known = self.passes.get((str(quarter), phrase, source))
            if known is None or known.outcome == "blocked":
                yield quarter, None
            elif known.read_at < self.since or known.outcome == MISSING:
                yield quarter, known.read_at
            elif known.outcome == "cut_short" and quarter.size > Tile.FLOOR:
                yield from self.open_leaves(quarter, phrase, source)

    def leaves(self, tile: Tile, phrase: str, source: str) -> Iterator[tuple[Tile, MissionPass | None]]:
        """The parts of a tile as far as it was split, and the pass over each."""
        for quarter in tile.split():
            known = self.passes.get((str(quarter), phrase, source))
            fresh = known is not None and known.read_at >= self.since
            if known is not None and fresh and known.outcome == "cut_short" and quarter.size > Tile.FLOOR:
                yield from self.leaves(quarter, phrase, source)
            else:
                yield quarter, known


@dataclass(slots=True)
class Mission:
    """The tasks that are to be queued, and what was counted on the way. Go through `tasks` once."""

    lacking: Iterable[Lacking]
    splits: Splits
    set_aside: frozenset[str] = frozenset()
    """Tasks that are in the sideline: their tile and phrase are not queued beside them."""
    counts: Counter[str] = field(default_factory=Counter)
    """`unread`, `stale`, `blocked`, `split`, `missing`: sources of targets, by why they are asked. `sidelined`: tasks
    left out."""
    sources: Counter[str] = field(default_factory=Counter)
    """How often each source is asked."""

    def tasks(self) -> Iterator[NewTask]:
        aside = {first_id(task) for task in self.set_aside}
        for (tile, phrase), group in groupby(self.lacking, key=itemgetter(0, 1)):
            for task in self._of_target(tile, phrase, list(group)):
                if aside and first_id(task.task_id) in aside:
                    self.counts["sidelined"] += 1
                    continue
                self.counts["tasks"] += 1
                yield task

    def _of_target(self, name: str, phrase: str, group: list[Lacking]) -> Iterator[NewTask]:
        location = group[0].location
        if len(group) == 1 and group[0].outcome is None:  # the usual case, of which there may be millions
            self.counts["unread"] += 1
            yield self._task(name, phrase, location, [(group[0].source, None)], known=group[0].known)
            return
        whole: list[tuple[str, int | None]] = []
        parts: dict[Tile, list[tuple[str, int | None]]] = {}
        for lacking in group:
            if lacking.outcome == "cut_short" and lacking.read_at is not None and lacking.read_at >= self.splits.since:
                leaves = list(self._leaves(name, phrase, lacking.source))
                self.counts["split"] += bool(leaves)
                for tile, read_at in leaves:
                    parts.setdefault(tile, []).append((lacking.source, read_at))
            else:
                whole.append((lacking.source, self._last_read(lacking)))
        if whole:
            yield self._task(name, phrase, location, whole, known=group[0].known)
        for tile, asked in parts.items():
            part = str(tile)
            yield self._task(part, phrase, location, asked, known=(part, phrase) in self.splits.read)

    def _leaves(self, name: str, phrase: str, source: str) -> Iterator[tuple[Tile, int | None]]:
        lat, _, lon = name.partition("_")
        tile = Tile.parse(lat, lon)
        if tile.size > Tile.FLOOR:
            return self.splits.open_leaves(tile, phrase, source)
        return iter(())

    def _last_read(self, lacking: Lacking) -> int | None:
        """When a source saw anything there; a block says nothing."""
        if lacking.outcome is None or lacking.outcome == "blocked":
            self.counts["unread" if lacking.outcome is None else "blocked"] += 1
            return None
        self.counts[MISSING if lacking.outcome == MISSING else "stale"] += 1
        return lacking.read_at

    def _task(
        self, tile: str, phrase: str, location: str | None, asked: list[tuple[str, int | None]], *, known: bool
    ) -> NewTask:
        sources = [source for source, _ in asked]
        for source in sources:
            self.sources[source] += 1
        # The payload is a `ListWork`; made by hand, because there may be millions.
        payload: dict[str, JsonValue] = {"tile": tile, "phrase": phrase, "sources": [*sources], "location": location}
        return NewTask(task_id(tile, phrase, asked if known else ()), payload)


def task_id(tile: str, phrase: str, again: Sequence[tuple[str, int | None]] = ()) -> str:
    """`39.8_-89.7_plumber`; and, where some source has read it before, with a digest of what is asked again.

    The first id is completed by then, and a completed task is not put twice. The digest is made of the sources that
    are asked and of when each was there last: as long as nothing new is known, it is the same.
    """
    first = f"{tile}_{phrase}"
    if not again:
        return first
    told = ";".join(sorted(f"{source}={'never' if read_at is None else read_at}" for source, read_at in again))
    return f"{first}~{hashlib.sha256(told.encode()).hexdigest()[:_DIGITS]}"


def first_id(identity: str) -> str:
    """The id that a tile and a phrase had when they were queued for the first time."""
    return _AGAIN.sub("", identity)
