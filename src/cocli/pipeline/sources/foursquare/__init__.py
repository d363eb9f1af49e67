"""Foursquare OS Places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.pipeline.sources.file_source import file_source
from cocli.pipeline.sources.licence import Licence

if TYPE_CHECKING:
    from cocli.pipeline.sources.open_places.kind import OpenFileKind
    from cocli.pipeline.sources.source import Source


def _rows(source: Source) -> OpenFileKind:
    from cocli.pipeline.sources.foursquare.rows import FoursquareRows

    return FoursquareRows(source)


SOURCE = file_source(
    name="foursquare",
    title="Foursquare",
    licence=Licence(
        "Apache-2.0",
        "Foursquare OS Places, © Foursquare Labs, Inc.",
        "https://opensource.foursquare.com/os-places/",
    ),
    identity="fsq_place_id",
    rows=_rows,
)
