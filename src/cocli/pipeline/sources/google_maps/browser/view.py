"""The part of the world that the map showed, by the address where the browser stood in the end.

A search that landed elsewhere says nothing of its tile: a whole campaign was once searched in one city.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from cocli.pipeline.sources.google_maps.browser.search_url import VIEWPORT, WORLD
from cocli.pipeline.sources.open_places.tiles import Box

if TYPE_CHECKING:
    from cocli.keys.tile import Tile
    from cocli.pipeline.sources.capture import Reach
    from cocli.pipeline.sources.google_maps.browser.search_url import Viewport

ENOUGH = 0.5
"""The share of a tile that has to be in view. Maps moves the map a little to show its results, and lists what lies
around it as well: only a map that shows less than half of the tile has looked at another place."""
_SEARCH = re.compile(r"/maps/search/[^@]*@(-?[0-9.]+),(-?[0-9.]+),([0-9.]+)z")


def seen_box(url: str, viewport: Viewport = VIEWPORT) -> Box | None:
    """What a list of results shows; None for other pages, and where the address does not say."""
    found = _SEARCH.search(url)
    if found is None:
        return None
    try:
        lat, lon, zoom = (float(part) for part in found.groups())
    except ValueError:
        return None
    if not (-85 <= lat <= 85 and -180 <= lon <= 180 and 0 <= zoom <= 25):
        return None
    pixels = WORLD * 2**zoom
    half_width = min(viewport.map_width / pixels * 180, 179.0)
    row = math.asinh(math.tan(math.radians(lat)))
    half_height = viewport.height / pixels * math.pi
    south, north = (math.degrees(math.atan(math.sinh(row + side * half_height))) for side in (-1, 1))
    return Box(west=_wrapped(lon - half_width), south=south, east=_wrapped(lon + half_width), north=north)


def shown_share(box: Box, tile: Tile) -> float:
    """How much of a tile lies in a box."""
    south, west, size = tile.lat / 1000, tile.lon / 1000, tile.size / 1000
    rows = max(0.0, min(box.north, south + size) - max(box.south, south))
    columns = sum(max(0.0, min(east, west + size) - max(left, west)) for left, east in box.spans())
    return rows * columns / size**2


def reach_in_view(reach: Reach, reason: str | None, box: Box | None, tile: Tile) -> tuple[Reach, str | None]:
    """How far a search got, given what the map showed: no search covers a tile that was not in view."""
    if box is None or reach == "blocked":
        return reach, reason
    share = shown_share(box, tile)
    if share == 0:
        return "blocked", f"the map showed {box}, and nothing of the tile {tile}"
    if share < ENOUGH:
        return "cut_short", f"the map showed {share:.0%} of the tile {tile}"
    return reach, reason


def _wrapped(degrees: float) -> float:
    return (degrees + 180) % 360 - 180
