"""Taking stock of a campaign: the rolls of its searches are called, and every business is compared with how it stood.

Three indexes are written, in this order: `rolls`, `changes`, `standings`. Whoever is killed in between is followed by
one that finds the same changes under the same ids, because nothing is compared with but what `standings` says. It is
done only while no search waits: a business that moved is missing in one tile until the other one is read.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli import logs
from cocli.app.campaigns.harvest import HarvestOptions, harvest_campaign, opened_harvester
from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
from cocli.app.indexes.query import QueryOptions, opened_query
from cocli.app.machines.standing import is_quiet, waiting_tasks
from cocli.app.results.rows import known_businesses
from cocli.app.workspace import no_progress
from cocli.index.compaction import Compactor
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.keys.tile import Tile
from cocli.models.freshness.roll import TileRoll
from cocli.pipeline.freshness.differences import StandingComparison
from cocli.pipeline.freshness.rolls import Reading, called
from cocli.pipeline.freshness.standings import FIELDS, RollBook, standing_of
from cocli.pipeline.plan.harvest import Unharvested
from cocli.pipeline.plan.mission import QUEUE as SEARCHES
from cocli.pipeline.stages.enrichment_loop import QUEUE as WEBSITES
from cocli.pipeline.stages.list_pass import LostPass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from cocli.app.indexes.indexes import Indexes
    from cocli.app.results.rows import KnownBusiness
    from cocli.app.workspace import Progress, Workspace
    from cocli.models.domain import Domain
    from cocli.models.freshness.change import BusinessChange
    from cocli.models.freshness.standing import BusinessStanding
    from cocli.pipeline.stages.harvest import Harvester
    from cocli.pipeline.stages.list_pass import SourcePass

_LOG = logs.get_logger(__name__)
ROLLS, STANDINGS, CHANGES = "rolls", "standings", "changes"
_HELD = 500
"""Rolls that are held before they are written together."""
_HELD_BUSINESSES = 5_000
_UNCALLED = """
SELECT pass.tile, pass.phrase, pass.source, epoch_us(pass.read_at), pass.outcome, pass.count, pass.campaign,
       pass.document, pass.digest, pass.release, epoch_us(pass.as_of), pass.meaning,
       epoch_us(mark.read_at), mark.parser, mark.left_out, mark.exclusions, mark.release, epoch_us(mark.as_of),
       mark.meaning
FROM harvested_tiles AS mark
JOIN scraped_tiles AS pass USING (tile, phrase, source)
LEFT JOIN rolls AS roll USING (tile, phrase, source)
WHERE mark.outcome = 'harvested' AND pass.outcome <> 'blocked' AND pass.document IS NOT NULL
AND epoch_us(mark.read_at) >= epoch_us(pass.read_at)
AND (roll.tile IS NULL OR epoch_us(roll.read_at) < epoch_us(pass.read_at))
ORDER BY pass.tile, pass.phrase, pass.source
"""
"""Readings that the campaign has in its records, and whose roll was not called yet."""


@dataclass(slots=True)
class Stock:
    """What taking stock came to."""

    businesses: int = 0
    readings: int = 0
    """Whose roll was called."""
    changes: int = 0
    first: bool = False
    """There was nothing to compare with: from now on there is."""
    postponed: str | None = None
    """Why stock was not taken now."""
    problems: list[str] = field(default_factory=list)


def take_stock(workspace: Workspace, name: str, progress: Progress = no_progress) -> Stock:
    """Call the rolls, compare, and write down what changed. A second time in a row changes nothing."""
    indexes = campaign_indexes(workspace, name)
    campaign = needed_campaign(indexes)
    stock = Stock()
    waiting = waiting_tasks(campaign, SEARCHES)
    if waiting:
        stock.postponed = f"{waiting:,} searches wait: who moved would look as if it were gone"
        return stock
    if not is_quiet(campaign, WEBSITES):
        stock.postponed = "websites wait: whether a business that is missing is closed is told by its website"
        return stock
    if harvest_campaign(workspace, name, options=HarvestOptions(dry_run=True)).tiles:
        stock.postponed = f"searches were made that the campaign has not taken over: cocli campaign settle {name}"
        return stock
    _call_rolls(workspace, indexes, stock, progress)
    closed_after = campaign.settings.model().refresh.closed_after
    _compare(indexes, stock, closed_after=closed_after, at=campaign.store.now())
    _LOG.info("stock taken", extra={"campaign": name, "readings": stock.readings, "changes": stock.changes})
    return stock


# --- rolls


def _call_rolls(workspace: Workspace, indexes: Indexes, stock: Stock, progress: Progress) -> None:
    with ExitStack() as stack:
        query = stack.enter_context(opened_query(indexes, _UNCALLED, QueryOptions(fresh=True)))
        passes = [Unharvested._make(row) for row in query.result().rows()]
        if not passes:
            return
        harvester = opened_harvester(stack, workspace, indexes)
        index = indexes.open(indexes.ref(ROLLS))
        known = {roll.tile_key: roll for roll in map(_KeyedRoll, open_reader(index, fresh=True).scan())}
        writer, made = IndexWriter(index), list[TileRoll]()
        for done, roll in enumerate(_called(harvester, passes, known, stock), 1):
            progress(done)
            made.append(roll)
            if len(made) >= _HELD:
                writer.append(made)
                made = []
        if made:
            writer.append(made)
        Compactor(index).compact()


class _KeyedRoll:
    """A roll, and what it is looked up by."""

    def __init__(self, roll: TileRoll) -> None:
        self.roll = roll
        self.tile_key = (str(roll.tile), roll.phrase, roll.source)


def _called(
    harvester: Harvester, passes: Iterable[Unharvested], known: dict[tuple[str, str, str], _KeyedRoll], stock: Stock
) -> Iterator[TileRoll]:
    for row in passes:
        found = harvester.looked_at(row)
        if isinstance(found, LostPass):
            stock.problems.append(f"{row.tile} {row.phrase} ({row.source}): {found.reason}")
            continue
        before = known.get((row.tile, row.phrase, row.source))
        stock.readings += 1
        yield called(before.roll if before else None, _reading(found, row, harvester.campaign))


def _reading(found: SourcePass, row: Unharvested, campaign: str) -> Reading:
    edition = found.capture.edition
    lat, _, lon = row.tile.partition("_")
    return Reading(
        tile=Tile.parse(lat, lon),
        phrase=row.phrase,
        source=row.source,
        campaign=campaign,
        read_at=found.read_at,
        complete=row.outcome == "exhausted",
        ids=frozenset(place.source_id for place in found.places),
        document=row.document,
        release=edition.release if edition else None,
        as_of=edition.as_of if edition else None,
        meaning=row.meaning,
    )


# --- businesses


def _compare(indexes: Indexes, stock: Stock, *, closed_after: int, at: datetime) -> None:
    """Business by business, as they are read; what is found is written some thousand at a time, changes first."""
    stock.first = next(_scan(indexes, STANDINGS), None) is None
    book = RollBook.of(_scan(indexes, ROLLS))
    moved, domains = _identities(indexes)
    former, sites = _former(indexes, moved), _sites(indexes, domains)
    writer = _Writer(indexes)
    for business in known_businesses(indexes):
        prospect = business.found
        if business.by_hand or prospect.merged_into is not None:
            continue
        presence = book.presence(prospect)
        now = standing_of(prospect, presence, sites.get(prospect.domain or ""), closed_after=closed_after, at=at)
        own = business.row.standing
        stood = own or former.get(prospect.company_hash)
        arrived = presence.arrived and not stock.first
        found = list(StandingComparison(stood, now, prospect, arrived, _written(business)).changes())
        kept = _with_changes(now, stood, found)
        writer.add(found, kept if _is_other(kept, own) else None)
        stock.businesses += 1
        stock.changes += len(found)
    writer.close()


class _Writer:
    """Holds some changes and standings, and writes the changes of businesses before their standings."""

    def __init__(self, indexes: Indexes) -> None:
        self._changes: list[BusinessChange] = []
        self._standings: list[BusinessStanding] = []
        self._indexes = {name: indexes.open_beside(indexes.ref(name)) for name in (CHANGES, STANDINGS)}
        self._written: set[str] = set()

    def add(self, changes: Iterable[BusinessChange], standing: BusinessStanding | None) -> None:
        self._changes += changes
        if standing is not None:
            self._standings.append(standing)
        if len(self._standings) >= _HELD_BUSINESSES:
            self._flush()

    def close(self) -> None:
        self._flush()
        for name in self._written:
            Compactor(self._indexes[name]).compact()

    def _flush(self) -> None:
        for name, records in ((CHANGES, self._changes), (STANDINGS, self._standings)):
            if records:
                IndexWriter(self._indexes[name]).append(records)
                self._written.add(name)
        self._changes, self._standings = [], []


def _scan(indexes: Indexes, name: str) -> Iterator[Any]:
    return open_reader(indexes.open_beside(indexes.ref(name)), fresh=True).scan()


def _identities(indexes: Indexes) -> tuple[dict[str, str], set[str]]:
    """Which businesses are known under another hash, and the domains of all."""
    moved, domains = dict[str, str](), set[str]()
    for prospect in _scan(indexes, "prospects"):
        if prospect.merged_into is not None:
            moved[prospect.company_hash] = prospect.merged_into
        elif prospect.domain:
            domains.add(prospect.domain)
    return moved, domains


def _former(indexes: Indexes, moved: dict[str, str]) -> dict[str, BusinessStanding]:
    """How businesses stood that are known under another hash now, by that one."""
    if not moved:
        return {}
    reader = open_reader(indexes.open_beside(indexes.ref(STANDINGS)), fresh=True)
    found: dict[str, BusinessStanding] = {}
    for company, standing in reader.get_many(sorted(moved)).items():
        current, steps = company, 0
        while current in moved and steps < len(moved):
            current, steps = moved[current], steps + 1
        if _is_earlier(standing, found.get(current)):
            found[current] = standing
    return found


def _is_earlier(standing: BusinessStanding, other: BusinessStanding | None) -> bool:
    """Who was listed comes before who was not; else the first by its hash, so that it is always the same one."""
    if other is None:
        return True
    return (standing.state != "listed", standing.company_hash) < (other.state != "listed", other.company_hash)


def _sites(indexes: Indexes, domains: set[str]) -> dict[str, Domain]:
    return {domain.domain: domain for domain in _scan(indexes, "domains") if domain.domain in domains}


def _written(business: KnownBusiness) -> set[str]:
    """What a person wrote that stands before what was found."""
    found, row = business.found, business.row
    return {part for part, names in FIELDS.items() if any(getattr(found, name) != getattr(row, name) for name in names)}


def _with_changes(
    now: BusinessStanding, stood: BusinessStanding | None, found: Iterable[BusinessChange]
) -> BusinessStanding:
    kinds = tuple(sorted({change.kind for change in found}))
    if kinds:
        return now.with_changes(changed_at=now.taken_at, changes=kinds)
    if stood is None:
        return now
    return now.with_changes(changed_at=stood.changed_at, changes=stood.changes)


def _is_other(now: BusinessStanding, before: BusinessStanding | None) -> bool:
    return before is None or now.with_changes(taken_at=before.taken_at) != before
