"""The numbers of tiles in a copy, and boxes in degrees that may cross the antimeridian."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from cocli.errors import UsageError
from cocli.keys.tile import Tile
from cocli.models.record import RecordPart

if TYPE_CHECKING:
    from collections.abc import Sequence

_COLUMNS = 3600
_NUMBER = re.compile(r"-?[0-9]{1,3}(?:\.[0-9]+)?")


def tile_number(tile: Tile) -> int:
    """The number of the whole tile that a tile lies in: by it a copy is sorted."""
    return (tile.lat // Tile.WHOLE + 900) * _COLUMNS + tile.lon // Tile.WHOLE + 1800


def tile_of_number(number: int) -> Tile:
    row, column = divmod(number, _COLUMNS)
    return Tile((row - 900) * Tile.WHOLE, (column - 1800) * Tile.WHOLE)


class Box(RecordPart):
    """West, south, east, north in degrees. West of east it crosses the antimeridian."""

    west: float
    south: float
    east: float
    north: float

    @classmethod
    def parse(cls, text: str) -> Box:
        """`-118.4,33.9,-118.1,34.2`."""
        parts = [part.strip() for part in text.split(",")]
        if len(parts) != 4 or not all(map(_NUMBER.fullmatch, parts)):
            raise UsageError(
                reason=f'"{text}" is not a box', hint="Write west,south,east,north in degrees: 5.0,52.0,5.2,52.2"
            )
        return cls.checked(*map(float, parts))

    @classmethod
    def checked(cls, west: float, south: float, east: float, north: float) -> Box:
        if not (-90 <= south < north <= 90):
            raise UsageError(
                reason=f"south {south:g}, north {north:g}: these are no latitudes, or in the wrong order",
                hint="The order is west,south,east,north: longitudes first and third, latitudes second and fourth.",
            )
        if not (-180 <= west <= 180 and -180 <= east <= 180) or west == east:
            raise UsageError(reason=f"west {west:g}, east {east:g} are no two longitudes")
        return cls(west=west, south=south, east=east, north=north)

    @classmethod
    def of_tiles(cls, tiles: Sequence[Tile]) -> Box:
        """The smallest box around whole tiles that does not cross the antimeridian."""
        return cls(
            west=min(tile.lon for tile in tiles) / 1000,
            south=min(tile.lat for tile in tiles) / 1000,
            east=max(tile.lon + tile.size for tile in tiles) / 1000,
            north=max(tile.lat + tile.size for tile in tiles) / 1000,
        )

    def snapped(self) -> Box:
        """The same, widened to the borders of whole tiles."""
        return Box(
            west=_floor(self.west), south=_floor(self.south), east=-_floor(-self.east), north=-_floor(-self.north)
        )

    def spans(self) -> list[tuple[float, float]]:
        """West and east, twice where the box crosses the antimeridian."""
        return [(self.west, self.east)] if self.west < self.east else [(self.west, 180.0), (-180.0, self.east)]

    def holds(self, tile: Tile) -> bool:
        south, west, north, east = _edges(tile)
        return (
            self.south <= south
            and north <= self.north
            and any(left <= west and east <= right for left, right in self.spans())
        )

    def touches(self, tile: Tile) -> bool:
        south, west, north, east = _edges(tile)
        return self.south < north and south < self.north and any(a < east and west < b for a, b in self.spans())

    def __str__(self) -> str:
        return f"{self.west:g},{self.south:g},{self.east:g},{self.north:g}"


def _edges(tile: Tile) -> tuple[float, float, float, float]:
    return tile.lat / 1000, tile.lon / 1000, (tile.lat + tile.size) / 1000, (tile.lon + tile.size) / 1000


def _floor(degrees: float) -> float:
    # As a tile does: 0.3 is held as 0.299999…, and must not fall into the tenth below it.
    return math.floor(round(degrees * 1_000_000) / 100_000) / 10
