"""Which company pages a filter means: those of the businesses that an export with the same filter would have."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cocli.app.campaigns.name import campaign_names
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.results.rows import known_businesses
from cocli.index.queries.derived import DerivedFolder
from cocli.results.companies.sheets import read_sheets
from cocli.results.exports.row import ExportRow

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cocli.app.workspace import Workspace
    from cocli.results.exports.filters import BusinessFilter

_NO_CAMPAIGN = "none"
"""Stands for a campaign where there is none: then only companies that people made pages for are there."""


def wanted_pages(
    workspace: Workspace, campaign: str | None, wanted: BusinessFilter, as_of: datetime | None = None
) -> set[str]:
    """The slugs of the pages of a campaign's businesses, or of those of all campaigns; `as_of`: of those of then."""
    rows = _rows(workspace, campaign, as_of)
    return {row.sheet.slug for row in rows if row.sheet.slug is not None and wanted.accepts(row)}


def _rows(workspace: Workspace, campaign: str | None, as_of: datetime | None) -> Iterator[ExportRow]:
    names = [campaign] if campaign else sorted(campaign_names(workspace.store))
    place = campaign_indexes(workspace, campaign)
    sheets = read_sheets(place.store, DerivedFolder(os.path.join(place.cache, "derived", "sheets")))
    for name in names:
        indexes = campaign_indexes(workspace, name)
        if indexes.store.address == place.store.address:  # a page lies where its campaign is
            found = known_businesses(indexes, sheets, as_of)
            yield from (business.row for business in found if not business.is_part)
    if not names:
        yield from (ExportRow.of(made, sheet) for made, sheet in sheets.own_businesses(_NO_CAMPAIGN))
