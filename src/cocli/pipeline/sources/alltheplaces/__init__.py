"""AllThePlaces: what the websites of chains say of their branches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.pipeline.sources.file_source import file_source
from cocli.pipeline.sources.licence import Licence

if TYPE_CHECKING:
    from cocli.pipeline.sources.open_places.kind import OpenFileKind
    from cocli.pipeline.sources.source import Source


def _rows(source: Source) -> OpenFileKind:
    from cocli.pipeline.sources.alltheplaces.rows import AllThePlacesRows

    return AllThePlacesRows(source)


SOURCE = file_source(
    name="alltheplaces",
    title="AllThePlaces",
    licence=Licence("CC0-1.0", "All the Places, alltheplaces.xyz", "https://www.alltheplaces.xyz/"),
    identity="the spider of a chain, and the chain's own reference of a branch",
    rows=_rows,
    speaks_like="openstreetmap",
)
