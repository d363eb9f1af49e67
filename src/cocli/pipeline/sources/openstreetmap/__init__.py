"""OpenStreetMap: the map that everybody may edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.pipeline.sources.file_source import file_source
from cocli.pipeline.sources.licence import Licence

if TYPE_CHECKING:
    from cocli.pipeline.sources.open_places.kind import OpenFileKind
    from cocli.pipeline.sources.source import Source


def _rows(source: Source) -> OpenFileKind:
    from cocli.pipeline.sources.openstreetmap.rows import OpenStreetMapRows

    return OpenStreetMapRows(source)


SOURCE = file_source(
    name="openstreetmap",
    title="OpenStreetMap",
    licence=Licence(
        "ODbL-1.0",
        "© OpenStreetMap contributors, openstreetmap.org/copyright",
        "https://www.openstreetmap.org/copyright",
    ),
    identity="node, way or relation, and its number",
    rows=_rows,
)
