"""A publication: what was written for people to open, where it is, and what it was made from."""

from __future__ import annotations

from typing import Literal

from cocli.models.campaign import CampaignName
from cocli.models.record import Count, Label, Many, Record, RecordPart, Sha256, Text, UtcDatetime


class PublishedFile(RecordPart):
    """One file of a publication."""

    name: Label
    """Of the file under its stable name."""
    purpose: Text
    bytes: Count
    rows: Count | None = None
    """Null for what is no list."""


class Publication(Record):
    """The last publication of a campaign: where it is, how people get at it, and what it was made from."""

    schema_id = "cocli.publication/1"
    key = ("campaign",)

    campaign: CampaignName
    at: UtcDatetime
    to: Text | None = None
    """The address of the store that it is in; null for the campaign's own."""
    host: Label | None = None
    """The machine whose folder it is in; null where every machine reaches it."""
    links: Literal["plain", "signed", "public"] = "plain"
    valid_seconds: Count = 0
    """How long signed links are valid."""
    url: Text | None = None
    """What public links begin with; null for the store's own."""
    folder: Label
    """The folder of its files beside the index page."""
    former: Label | None = None
    """The folder of the publication before it, whose files are kept for those who have its page open."""
    basis: Sha256
    """Of the versions, pages and settings that it was made from."""
    files: Many[PublishedFile] = ()
