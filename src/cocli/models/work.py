"""What the tasks of the main job say: the payload of each queue, written by a planner and read by a worker.

A payload is stored JSON, so it is a contract between two programs that may differ in age: unknown fields are refused,
and a new meaning is a new field with a default.
"""

from __future__ import annotations

from pydantic import Field

from cocli.models.campaign import SourceName
from cocli.models.record import CountryText, DomainText, Hash16, Label, Many, PlaceIdText, RecordPart, Text, TileValue


class ListWork(RecordPart):
    """`gm-list`: find the businesses of a tile that a phrase asks for, in each of the sources."""

    tile: TileValue
    phrase: Text
    sources: Many[SourceName]
    location: Label | None = None
    """The place of the configuration that the tile was planned for."""


class DetailsWork(RecordPart):
    """`gm-details`: read the page of one place, because its entry in a list lacked what the campaign needs."""

    place_id: PlaceIdText
    name: Text | None = None
    phrase: Text | None = None
    tile: TileValue | None = None


class EnrichmentWork(RecordPart):
    """`enrichment`: read the website of a domain, for the prospects that name it."""

    domain: DomainText
    url: Text
    country: CountryText | None = None
    """Of the place: national phone numbers on the site are read as numbers of this country."""
    prospects: Many[Hash16] = ()
    brief: bool = Field(default=False, exclude_if=lambda value: not value)
    """A site that is known is asked for the pages that have its contacts, and for the others if those changed, or from
    time to time. Written only where it is said, so that workers who do not know it read what else is queued."""
