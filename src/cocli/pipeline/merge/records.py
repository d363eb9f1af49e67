"""The merge function of every record that an index holds: two records of one key → one.

Each is commutative, associative and idempotent, and never raises for two records of one key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cocli.models.completion import Completion
from cocli.models.domain import Domain
from cocli.models.email import EmailEntry
from cocli.models.freshness.change import BusinessChange
from cocli.models.freshness.roll import TileRoll
from cocli.models.freshness.standing import BusinessStanding
from cocli.models.harvest import HarvestedTile
from cocli.models.prospect import Prospect
from cocli.models.witness import TargetTile, Witness
from cocli.pipeline.merge.engine import NO_TIME, Merger, implied_by_sources
from cocli.pipeline.merge.rules import UNKNOWN

if TYPE_CHECKING:
    from datetime import datetime


def _of_prospect(record: Prospect) -> tuple[str, datetime]:
    return implied_by_sources(record.sources), record.updated_at


def _of_email(record: EmailEntry) -> tuple[str, datetime]:
    return UNKNOWN, record.last_seen


def _of_domain(record: Domain) -> tuple[str, datetime]:
    return UNKNOWN, record.last_crawled or NO_TIME


def _reading(record: Witness) -> Any:
    """The newest pass that saw anything; one that was blocked says nothing of what is there, and hides no other."""
    return record.outcome != "blocked", record.read_at, record.outcome == "exhausted", record.count


def _taken_over(record: HarvestedTile) -> Any:
    """The mark of the newest pass; of one pass the newest mark: a changed parser reads the same capture again."""
    return record.read_at, record.marked_at


def _called(record: TileRoll) -> Any:
    """The roll that has called the newest reading."""
    return record.read_at, record.readings


def _taken(record: BusinessStanding) -> Any:
    return record.taken_at


def _noticed(record: BusinessChange) -> Any:
    """The earlier one is greater: a change that is found again was found then."""
    return NO_TIME - record.found_at


def _first(record: Completion) -> Any:
    """The earlier one is greater: the first completion is the result."""
    return NO_TIME - record.finished_at, -record.token, record.nonce


_PROSPECTS: Final = Merger(Prospect, implied=_of_prospect)
_EMAILS: Final = Merger(EmailEntry, implied=_of_email)
_DOMAINS: Final = Merger(Domain, implied=_of_domain)
_TARGETS: Final = Merger(TargetTile)
_WITNESSES: Final = Merger(Witness, order=_reading)
_HARVESTS: Final = Merger(HarvestedTile, order=_taken_over)
_ROLLS: Final = Merger(TileRoll, order=_called)
_STANDINGS: Final = Merger(BusinessStanding, order=_taken)
_CHANGES: Final = Merger(BusinessChange, order=_noticed)
_COMPLETIONS: Final = Merger(Completion, order=_first)


def merge_prospects(left: Prospect, right: Prospect) -> Prospect:
    """Two records of one business in one campaign."""
    return _PROSPECTS(left, right)


def merge_emails(left: EmailEntry, right: EmailEntry) -> EmailEntry:
    """Two records of one address."""
    return _EMAILS(left, right)


def merge_domains(left: Domain, right: Domain) -> Domain:
    """Two records of one domain."""
    return _DOMAINS(left, right)


def merge_targets(left: TargetTile, right: TargetTile) -> TargetTile:
    """Two plans for one tile and phrase of one campaign."""
    return _TARGETS(left, right)


def merge_witnesses(left: Witness, right: Witness) -> Witness:
    """Two passes of one source over one tile and phrase: one of them stays as a whole."""
    return _WITNESSES(left, right)


def merge_harvests(left: HarvestedTile, right: HarvestedTile) -> HarvestedTile:
    """Two marks of one campaign on one tile, phrase and source: one of them stays as a whole."""
    return _HARVESTS(left, right)


def merge_rolls(left: TileRoll, right: TileRoll) -> TileRoll:
    """Two rolls of one search: the one that has called the newest reading stays as a whole."""
    return _ROLLS(left, right)


def merge_standings(left: BusinessStanding, right: BusinessStanding) -> BusinessStanding:
    """Two standings of one business: the newer one stays as a whole."""
    return _STANDINGS(left, right)


def merge_changes(left: BusinessChange, right: BusinessChange) -> BusinessChange:
    """One change that was found twice: it was found when it was found first."""
    return _CHANGES(left, right)


def merge_completions(left: Completion, right: Completion) -> Completion:
    """Two ends of one task: the first one stays as a whole."""
    return _COMPLETIONS(left, right)
