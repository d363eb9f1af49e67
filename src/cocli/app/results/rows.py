"""The businesses of a campaign as people know them: the rows of exports and of every list that is handed on.

First those that were found, in the order of their hashes, then those that people made pages for. What a person wrote
stands before what was found. Which of the rows are wanted is the caller's matter: excluded ones are among them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.app.companies.companies import exclusions_of
from cocli.app.indexes.indexes import needed_campaign
from cocli.app.workspace import Progress, no_progress
from cocli.index.queries.derived import DerivedFolder
from cocli.index.reader import open_reader
from cocli.pipeline.exclusions import is_excluded
from cocli.pipeline.merge import merge_prospects
from cocli.results.companies.sheets import CompanySheets, read_sheets
from cocli.results.companies.times import zone
from cocli.results.exports.row import ExportRow

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cocli.app.indexes.indexes import Indexes
    from cocli.index.reader import IndexReader
    from cocli.models.freshness.standing import BusinessStanding
    from cocli.models.prospect import Prospect
    from cocli.pipeline.exclusions import Exclusions
    from cocli.results.companies.sheets import CompanySheet


@dataclass(frozen=True, slots=True)
class KnownBusiness:
    """A business, as it was found and as people know it."""

    found: Prospect
    row: ExportRow
    by_hand: bool = False
    """No campaign found it: a person made its page."""
    is_part: bool = False
    """It is in the row of another: it was merged into that one, or people brought their pages together."""

    def is_excluded(self, exclusions: Exclusions) -> bool:
        """Whether `[exclude]` names it, by what was found or by what a person wrote."""
        return bool(is_excluded(self.found, exclusions) or is_excluded(self.row, exclusions))


def known_businesses(
    indexes: Indexes, sheets: CompanySheets | None = None, as_of: datetime | None = None
) -> Iterator[KnownBusiness]:
    """Every business of a campaign, those that were merged into others included.

    `as_of`: as the index had them at that time. What people wrote is always that of now.
    """
    campaign = needed_campaign(indexes)
    where = zone(campaign.settings.model().campaign.timezone)
    written = sheets or read_sheets(indexes.store, DerivedFolder(os.path.join(indexes.cache, "derived", "sheets")))
    reader = open_reader(indexes.open(indexes.ref("prospects")), as_of=as_of, empty_before=True, fresh=as_of is None)
    veil = indexes.left_alone.veil()

    def sheet_of(sheet: CompanySheet) -> CompanySheet:
        return sheet if veil is None else veil.written(sheet)

    standings = _Standings(indexes, as_of)
    for found in reader.scan():
        sheet = sheet_of(written.of(found.company_hash))
        whole, is_part = _joined(reader, found, sheet)
        row = ExportRow.of(whole, sheet, where, standings.of(found.company_hash))
        yield KnownBusiness(found, row, is_part=is_part)
    for by_hand, sheet in written.own_businesses(campaign.name):
        made = by_hand if veil is None else veil.record(by_hand)
        if made is not None:
            yield KnownBusiness(made, ExportRow.of(made, sheet_of(sheet), where), by_hand=True)


class _Standings:
    """How businesses stood, asked in the order of their hashes: both indexes are gone through once, side by side."""

    def __init__(self, indexes: Indexes, as_of: datetime | None) -> None:
        index = indexes.open_beside(indexes.ref("standings"))
        reader = open_reader(index, as_of=as_of, empty_before=True, fresh=as_of is None)
        self._rows: Iterator[BusinessStanding] = reader.scan()
        self._next = next(self._rows, None)

    def of(self, company: str) -> BusinessStanding | None:
        while self._next is not None and self._next.company_hash < company:
            self._next = next(self._rows, None)
        if self._next is not None and self._next.company_hash == company:
            return self._next
        return None


def wanted_businesses(
    indexes: Indexes, progress: Progress = no_progress, as_of: datetime | None = None
) -> Iterator[ExportRow]:
    """The rows of a list that is handed on whole: without parts of others, and without those that are excluded."""
    exclusions = exclusions_of(needed_campaign(indexes))
    for done, business in enumerate(known_businesses(indexes, as_of=as_of), 1):
        progress(done)
        if not business.is_part and not business.is_excluded(exclusions):
            yield business.row


def _joined(reader: IndexReader[Prospect], found: Prospect, sheet: CompanySheet) -> tuple[Prospect, bool]:
    """The prospect with what the others of its page say, and whether it stands in the row of one of them.

    The first of a page's hashes that the campaign has makes the row.
    """
    if found.merged_into is not None:
        return found, True
    if len(sheet.hashes) < 2:
        return found, False
    known = reader.get_many(list(sheet.hashes))
    live = [known[company] for company in sheet.hashes if company in known and known[company].merged_into is None]
    if not live or live[0].company_hash != found.company_hash:
        return found, bool(live)
    for other in live[1:]:
        found = merge_prospects(found, other.with_changes(company_hash=found.company_hash))
    return found, False
