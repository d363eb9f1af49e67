"""What was read of a plan, as numbers: of every target and source its state, and the sums by phrase, tile and in all.

What is missing is estimated where a source passed twice (`recapture`); what is expected is what open data has for the
tile, by another source than the one that is judged. Both say how many targets they rest on.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from cocli.keys.tile import Tile
from cocli.pipeline.plan.recapture import Population, chapman, summed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cocli.pipeline.plan.mission import Splits

PASSES = """
WITH asked AS (
    SELECT unnest([{sources}]) AS source
), expected AS (
    SELECT other.tile, other.phrase, asked.source, max(other.count) AS expected
    FROM scraped_tiles AS other JOIN asked ON other.source <> asked.source
    WHERE other.outcome = 'exhausted' AND other.source IN ({open_data})
    GROUP BY other.tile, other.phrase, asked.source
)
SELECT target.tile, target.phrase, asked.source, pass.outcome, epoch_us(pass.read_at), pass.count, pass.earlier,
       pass.again, expected.expected
FROM target_tiles AS target CROSS JOIN asked
LEFT JOIN scraped_tiles AS pass USING (tile, phrase, source)
LEFT JOIN expected USING (tile, phrase, source)
ORDER BY target.tile, target.phrase, asked.source
"""
"""Every target and source with its last pass, in the order of `Passed`."""


class CoverageState(StrEnum):
    """How a source stands with a target."""

    READ = "read"
    """To the end, and not too long ago; or in parts, each of which was."""
    STALE = "stale"
    CUT_SHORT = "cut_short"
    """There was more, and not all of its parts are read; at the floor there is nothing left to split."""
    BLOCKED = "blocked"
    UNREAD = "unread"


class Passed(NamedTuple):
    tile: str
    phrase: str
    source: str
    outcome: str | None
    read_at: int | None
    found: int | None
    earlier: int | None
    again: int | None
    expected: int | None


@dataclass(frozen=True, slots=True)
class TargetSource:
    """A target and a source."""

    tile: str
    phrase: str
    source: str
    state: CoverageState
    found: int
    expected: int | None
    population: Population | None
    read_at: int | None


@dataclass(slots=True)
class Totals:
    """Sums over some pairs of a target and a source."""

    name: str = ""
    states: Counter[CoverageState] = field(default_factory=Counter)
    found: int = 0
    """What the passes found, added up: a place that two tiles or phrases show is counted by each."""
    expected: int = 0
    expected_pairs: int = 0
    """The pairs that something is expected for."""
    found_of_expected: int = 0
    """What was found by those."""
    oldest: int | None = None
    newest: int | None = None
    populations: list[Population] = field(default_factory=list)

    @property
    def pairs(self) -> int:
        return self.states.total()

    def share(self, state: CoverageState) -> float:
        if self.pairs:
            return self.states[state] / self.pairs
        return 0.0

    @property
    def population(self) -> Population | None:
        """How many there are where a source passed twice."""
        return summed(self.populations)

    @property
    def completeness(self) -> float | None:
        """The share of the targets that was read, times the share of what is there that a reading finds. None where no
        source passed twice, because then the second share is not known."""
        found = self.population
        if found is None:
            return None
        return self.share(CoverageState.READ) * found.completeness

    def add(self, pair: TargetSource) -> None:
        self.states[pair.state] += 1
        self.found += pair.found
        if pair.expected is not None:
            self.expected += pair.expected
            self.expected_pairs += 1
            self.found_of_expected += pair.found
        if pair.population is not None:
            self.populations.append(pair.population)
        if pair.read_at is not None:
            self.oldest = pair.read_at if self.oldest is None else min(self.oldest, pair.read_at)
            self.newest = pair.read_at if self.newest is None else max(self.newest, pair.read_at)


@dataclass(slots=True)
class Coverage:
    """Filled by going through all pairs once."""

    totals: Totals = field(default_factory=lambda: Totals("all"))
    phrases: dict[str, Totals] = field(default_factory=dict)
    tiles: dict[str, Totals] = field(default_factory=dict)

    def add(self, pair: TargetSource) -> None:
        self.totals.add(pair)
        self.phrases.setdefault(pair.phrase, Totals(pair.phrase)).add(pair)
        self.tiles.setdefault(pair.tile, Totals(pair.tile)).add(pair)


def judged(
    passes: Iterable[Passed], splits: Splits, expected: Mapping[tuple[str, str], int] | None = None
) -> Iterator[TargetSource]:
    """The state of every pair. `expected` (tile and phrase → places) comes before what open data says."""
    given = expected or {}
    for passed in passes:
        hoped = given.get((passed.tile, passed.phrase), passed.expected)
        state, found = _state(passed, splits)
        population, read_at = _population(passed), passed.read_at
        if passed.outcome in (None, "blocked"):
            population = read_at = None
        yield TargetSource(passed.tile, passed.phrase, passed.source, state, found, hoped, population, read_at)


def _state(passed: Passed, splits: Splits) -> tuple[CoverageState, int]:
    if passed.outcome is None or passed.read_at is None:
        return CoverageState.UNREAD, 0
    if passed.outcome == "blocked":
        return CoverageState.BLOCKED, 0
    count = passed.found or 0
    if passed.read_at < splits.since:
        return CoverageState.STALE, count
    if passed.outcome == "exhausted":
        return CoverageState.READ, count
    lat, _, lon = passed.tile.partition("_")
    leaves = list(splits.leaves(Tile.parse(lat, lon), passed.phrase, passed.source))
    done = all(leaf is not None and leaf.outcome == "exhausted" and leaf.read_at >= splits.since for _, leaf in leaves)
    in_parts = sum(leaf.found for _, leaf in leaves if leaf is not None)
    state = CoverageState.READ if done else CoverageState.CUT_SHORT
    return state, max(count, in_parts)


def _population(passed: Passed) -> Population | None:
    if passed.earlier is None or passed.again is None or passed.found is None:
        return None
    return chapman(passed.earlier, passed.found, passed.again)


def tile_state(totals: Totals) -> str:
    """One word for a tile: what asks for attention first. `partly`: some of it is read, some is not."""
    present = {state for state, count in totals.states.items() if count}
    for state in (CoverageState.BLOCKED, CoverageState.CUT_SHORT):
        if state in present:
            return state.value
    if len(present) == 1:
        return next(iter(present)).value
    if CoverageState.UNREAD not in present:
        return CoverageState.STALE.value
    return "partly"
