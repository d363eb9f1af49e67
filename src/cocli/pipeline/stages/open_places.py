"""Open places as a source of the list stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cocli.keys.tile import Tile
    from cocli.pipeline.sources.capture import Capture
    from cocli.pipeline.sources.open_places import OpenPlaces


@dataclass(frozen=True, slots=True)
class OpenPlacesSource:
    """Fits `cocli.pipeline.stages.listing.Source`."""

    places: OpenPlaces

    def read(self, tile: Tile, phrase: str) -> Capture:
        return self.places.find(tile, phrase)
