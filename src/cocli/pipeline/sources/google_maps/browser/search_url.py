"""The addresses that the browser opens: a search at the centre of a tile, as close as the tile fits, and a place."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from cocli.keys.tile import Tile

LANGUAGE = "en"
WORLD = 256
"""Pixels that the whole equator has at zoom 0."""
_CLOSEST, _WIDEST = 19.0, 4.0
_POLE = 85.0
"""Beyond, the map of the world has no rows."""


@dataclass(frozen=True, slots=True)
class Viewport:
    """The window of the browser. The list of results covers a part of the map."""

    width: int = 1280
    height: int = 800
    panel: int = 408

    @property
    def map_width(self) -> int:
        return self.width - self.panel


VIEWPORT = Viewport()


def zoom_for(tile: Tile, viewport: Viewport = VIEWPORT) -> float:
    """The closest zoom at which the whole tile is on the visible part of the map.

    On Mercator's map a degree of latitude is longer the further north it lies, a degree of longitude is not.
    """
    degrees = tile.size / 1000
    stretch = math.cos(math.radians(min(abs(tile.centre[0]), _POLE)))
    fits = min(viewport.map_width, viewport.height * stretch) / degrees * 360 / WORLD
    return min(max(math.floor(math.log2(fits) * 100) / 100, _WIDEST), _CLOSEST)


def search_url(base: str, tile: Tile, phrase: str) -> str:
    """A search for a phrase at the tile's own centre: never at its corner, and never without a point."""
    lat, lon = tile.centre
    return f"{base}/maps/search/{quote(phrase, safe='')}/@{lat:.5f},{lon:.5f},{zoom_for(tile):.2f}z?hl={LANGUAGE}"


def place_url(base: str, place_id: str) -> str:
    return f"{base}/maps/place/?q=place_id:{quote(place_id, safe='')}&hl={LANGUAGE}"
