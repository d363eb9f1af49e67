"""The country of a tile, for numbers that name none: known where the whole tile is in one country."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from cocli.pipeline.plan.gazetteer import Gazetteer

if TYPE_CHECKING:
    from cocli.keys.tile import Tile

_NEAR = 0.5
"""Degrees from the centre of its tile at which a place may lie: a search is not clipped to its tile."""


def country_for(tile: Tile | None, lat: float | None, lon: float | None) -> str | None:
    """The country of the tile that a place was found in; None where the place lies elsewhere, or a border is near."""
    if tile is None:
        return None
    north, east = tile.centre
    if lat is not None and lon is not None and (abs(lat - north) > _NEAR or abs(lon - east) > _NEAR):
        return None
    return _country(tile)


@lru_cache(maxsize=256)
def _country(tile: Tile) -> str | None:
    """By the nearest towns of its centre and of points around it."""
    north, east = tile.centre
    reach = max(tile.size / 1000, 0.1)
    around = [(north, east), *((north + up * reach, east + right * reach) for up in (-1, 1) for right in (-1, 1))]
    countries = {_gazetteer().country_at(lat, lon) for lat, lon in around if abs(lat) < 90}
    return countries.pop() if len(countries) == 1 else None


@cache
def _gazetteer() -> Gazetteer:
    return Gazetteer()
