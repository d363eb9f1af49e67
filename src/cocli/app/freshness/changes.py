"""What changed in a campaign: the changes that taking stock has found, as people may see them.

Of businesses that are excluded nothing is told. Values that a person wrote never change by a reading.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

from cocli.app.companies.companies import exclusions_of
from cocli.app.freshness.stock import CHANGES, STANDINGS
from cocli.app.indexes.indexes import needed_campaign
from cocli.errors import UsageError
from cocli.index.reader import open_reader
from cocli.models.freshness.change import BusinessChange, ChangeKind
from cocli.models.record import render_utc
from cocli.pipeline.exclusions import is_excluded

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime

    from cocli.app.indexes.indexes import Indexes
    from cocli.models.prospect import Prospect

KINDS: tuple[str, ...] = get_args(ChangeKind)
_MOST_STEPS = 20
"""From a business to the one that it was merged into, and on."""


@dataclass(frozen=True, slots=True)
class ToldChange:
    """A change, and the business that it is of now."""

    change: BusinessChange
    business: Prospect | None
    """None where the record is gone."""


@dataclass(slots=True)
class ChangeList:
    changes: list[ToldChange] = field(default_factory=list)
    """The earliest first."""
    counts: dict[str, int] = field(default_factory=dict)
    """By kind, those beyond the limit included."""
    excluded: int = 0
    taken_at: datetime | None = None
    """When stock was taken last, as far as it found anything different; None if it never was."""
    watched_since: datetime | None = None
    """When stock was taken first: what happened before is not known. None where that version is not kept any more."""


def check_kinds(kinds: Iterable[str]) -> frozenset[str]:
    """The kinds that a person asks for; a dash may stand for the line below: `came-back`."""
    wanted = frozenset(kind.strip().lower().replace("-", "_") for kind in kinds)
    if unknown := sorted(wanted - set(KINDS)):
        raise UsageError(reason=f'"{unknown[0]}" is no kind of change', hint=f"Choose from: {', '.join(KINDS)}")
    return wanted


def read_changes(
    indexes: Indexes,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    kinds: Collection[str] = (),
    limit: int | None = None,
) -> ChangeList:
    """The changes that were found since a time, of businesses that are wanted."""
    reader = open_reader(indexes.open(indexes.ref(CHANGES)), fresh=True)
    wanted = [change for change in reader.scan() if _is_asked_for(change, since, until, kinds)]
    wanted.sort(key=lambda change: (change.found_at, change.name.casefold(), change.kind, change.change_id))
    found = ChangeList()
    found.taken_at, found.watched_since = _times(indexes)
    exclusions = exclusions_of(needed_campaign(indexes))
    counts: Counter[str] = Counter()
    for told in _with_businesses(indexes, wanted):
        if told.business is not None and is_excluded(told.business, exclusions):
            found.excluded += 1
            continue
        counts[told.change.kind] += 1
        if limit is None or len(found.changes) < limit:
            found.changes.append(told)
    found.counts = {kind: counts[kind] for kind in KINDS if counts[kind]}
    return found


def _is_asked_for(
    change: BusinessChange, since: datetime | None, until: datetime | None, kinds: Collection[str]
) -> bool:
    if since is not None and change.found_at < since:
        return False
    if until is not None and change.found_at > until:
        return False
    return not kinds or change.kind in kinds


def _times(indexes: Indexes) -> tuple[datetime | None, datetime | None]:
    from cocli.index.versions import history

    versions = list(history(indexes.open(indexes.ref(STANDINGS))))
    if not versions:
        return None, None
    is_whole = versions[-1].parent is None
    return versions[0].created_at, versions[-1].created_at if is_whole else None


def _with_businesses(indexes: Indexes, changes: Sequence[BusinessChange]) -> Iterable[ToldChange]:
    """Each with the record of its business, under whatever hash that is known now."""
    reader = open_reader(indexes.open(indexes.ref("prospects")), fresh=True)
    known: dict[str, Prospect] = reader.get_many(sorted({change.company_hash for change in changes}))
    for _ in range(_MOST_STEPS):
        further = {found.merged_into for found in known.values() if found.merged_into} - known.keys()
        if not further:
            break
        known |= reader.get_many(sorted(further))
    return [ToldChange(change, _current(known, change.company_hash)) for change in changes]


def _current(known: dict[str, Prospect], company: str) -> Prospect | None:
    found = known.get(company)
    for _ in range(_MOST_STEPS):
        if found is None or found.merged_into is None:
            return found
        found = known.get(found.merged_into)
    return found


# --- as a document


def changes_document(campaign: str, since: str | None, found: ChangeList) -> dict[str, Any]:
    """What `cocli campaign changes --json` prints, and the dashboard's API answers."""
    return {
        "campaign": campaign,
        "since": since,
        "taken_at": _time(found.taken_at),
        "watched_since": _time(found.watched_since),
        "counts": found.counts,
        "excluded": found.excluded,
        "changes": [_change_row(told) for told in found.changes],
    }


def _time(moment: datetime | None) -> str | None:
    return render_utc(moment) if moment else None


def _change_row(told: ToldChange) -> dict[str, Any]:
    row = told.change.model_dump(mode="json", exclude={"campaign"})
    business = told.business
    if business is None:
        return row | {"source_ids": [], "city": None}
    ids = [*business.source_ids, *([business.place_id] if business.place_id else [])]
    return row | {"company_hash": business.company_hash, "source_ids": ids, "city": business.city}
