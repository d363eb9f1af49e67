"""What was read of the territory: a GeoJSON file with totals beside its features."""

from __future__ import annotations

from typing import Any, Literal

from cocli.models.campaign import CampaignName
from cocli.models.record import Label, Latitude, Longitude, Many, Record, RecordPart, Text, UtcDatetime


class WebTown(RecordPart):
    """A name on the map."""

    name: Text
    lat: Latitude
    lon: Longitude


class WebCoverage(Record):
    """`data/{campaign}/coverage.geojson`: RFC 7946, with members of its own."""

    schema_id = "cocli.web-coverage/1"

    type: Literal["FeatureCollection"] = "FeatureCollection"
    campaign: CampaignName
    at: UtcDatetime
    bbox: Many[float] | None = None
    sources: Many[Label] = ()
    phrases: Many[Text] = ()
    totals: dict[str, Any] | None = None
    """Null where nothing is planned."""
    features: Many[dict[str, Any]] = ()
    towns: Many[WebTown] = ()
