"""What a site can do, and which campaigns it shows."""

from __future__ import annotations

from typing import Literal

from cocli.models.record import Count, Label, Many, Record, RecordPart, Text, UtcDatetime
from cocli.models.report import Share


class WebSite(Record):
    """`data/site.json`."""

    schema_id = "cocli.web-site/1"

    at: UtcDatetime
    mode: Literal["live", "static"]
    live: bool
    """Whether events, commands and edits are there."""
    version: Label
    campaigns: Many[Label]
    basemap: Text | None = None
    """A `.pmtiles` file (`data/basemap.pmtiles`, or an address), or an address of tiles with `{z}`, `{x}` and `{y}`;
    null for the base map that the program brings."""
    basemap_credits: Text | None = None
    """Who made it; shown on the map."""
    noindex: bool = True
    expires_at: UtcDatetime | None = None
    fields_left_out: Many[Label] = ()
    search_rows_limit: Count = 300_000
    """Beyond so many rows the search reads an index by ranges."""


class WebProblem(RecordPart):
    """One thing that somebody should look at."""

    kind: Label
    subject: Text
    message: Text
    hint: Text | None = None


class WebCampaignCard(RecordPart):
    """A campaign at a glance. Figures are those of its last report."""

    name: Label
    company: Text | None = None
    prospects: Count | None = None
    with_email: Count | None = None
    emails: Count | None = None
    readings: Count | None = None
    read: Count | None = None
    completeness: Share | None = None
    reported_at: UtcDatetime | None = None
    problems: Count = 0
    worst: Text | None = None
    unreadable: Text | None = None
    """Why it cannot be shown."""


class WebCampaigns(Record):
    """`data/campaigns.json`."""

    schema_id = "cocli.web-campaigns/1"

    at: UtcDatetime
    campaigns: Many[WebCampaignCard]
