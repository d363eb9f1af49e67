"""The made-up region: sixteen tiles of plain land with four towns that exist nowhere. Real are only the coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.keys.tile import Tile

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

SIDE = 4
"""Tiles along each edge of the region."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a business is. Coordinates in millionths of a degree: nothing here computes with floats."""

    lat_micro: int
    lon_micro: int
    street: str
    city: str
    postcode: str

    @property
    def lat(self) -> float:
        return self.lat_micro / 1_000_000

    @property
    def lon(self) -> float:
        return self.lon_micro / 1_000_000

    @property
    def tile(self) -> Tile:
        return Tile.containing(self.lat, self.lon)


@dataclass(frozen=True, slots=True)
class Region:
    """A square of tiles, named by its south-west corner in thousandths of a degree."""

    south: int = 38_400
    west: int = -101_200
    country: str = "US"
    state: str = "KS"
    timezone: str = "America/Chicago"

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """From the south-west, row by row."""
        size = Tile.WHOLE
        steps = range(SIDE)
        return tuple(Tile(self.south + row * size, self.west + column * size) for row in steps for column in steps)

    @property
    def centre_tile(self) -> Tile:
        """The tile in which most businesses are."""
        return Tile(self.south + Tile.WHOLE, self.west + Tile.WHOLE)

    @property
    def bbox(self) -> tuple[float, float, float, float]:
        """West, south, east, north."""
        across = SIDE * Tile.WHOLE
        return self.west / 1000, self.south / 1000, (self.west + across) / 1000, (self.south + across) / 1000


_CITIES = ("Harrowmere", "Tolbrook", "Quenby Flats", "Ostwick")
_STREETS = (
    *("Alder", "Birchcombe", "Cooper", "Dunmore", "Elmfield", "Fennel", "Granary", "Hollin", "Ironbridge", "Juniper"),
    *("Kestrel", "Larkspur", "Mercer", "Northgate", "Orchard", "Plover", "Quarry", "Rowan", "Saddler", "Thornbury"),
)
_WAYS = ("St", "Ave", "Rd", "Ln")
_MICRO = 1000
_MARGIN = 600
"""Millionths of a degree to the border of the tile: a business is on a border only where that is meant."""


class Surveyor:
    """Gives out spots, each address once."""

    def __init__(self, region: Region, random: Random, taken: Iterable[str] = ()) -> None:
        """`taken` are streets with house numbers that somebody has."""
        self._region = region
        self._random = random
        self._taken: set[str] = set(taken)

    def anywhere(self) -> Spot:
        """Two of five are in the town in the middle, the others all over the region."""
        in_town = self._random.random() < 0.4
        return self.inside(self._region.centre_tile if in_town else self._random.choice(self._region.tiles))

    def inside(self, tile: Tile) -> Spot:
        span = tile.size * _MICRO
        lat = tile.lat * _MICRO + self._random.randrange(_MARGIN, span - _MARGIN)
        lon = tile.lon * _MICRO + self._random.randrange(_MARGIN, span - _MARGIN)
        return self.at(lat, lon)

    def at(self, lat_micro: int, lon_micro: int) -> Spot:
        north = lat_micro >= (self._region.south + 2 * Tile.WHOLE) * _MICRO
        east = lon_micro >= (self._region.west + 2 * Tile.WHOLE) * _MICRO
        number = 2 * north + east
        return Spot(lat_micro, lon_micro, self._street(), _CITIES[number], f"{67_881 + number * 3:05d}")

    def _street(self) -> str:
        while True:
            house = self._random.randrange(10, 9_900)
            street = f"{house} {self._random.choice(_STREETS)} {self._random.choice(_WAYS)}"
            if street not in self._taken:
                self._taken.add(street)
                return street

    def on_borders(self) -> tuple[Spot, ...]:
        """On corners and edges of tiles: the region's own corner, inner ones, and one just outside of it."""
        south, west, step = self._region.south * _MICRO, self._region.west * _MICRO, Tile.WHOLE * _MICRO
        inner = 37_000
        return (
            self.at(south, west),
            self.at(south + step, west + step),
            self.at(south + 2 * step, west + 2 * step),
            self.at(south + step, west + inner),
            self.at(south + inner, west + step),
            self.at(south + 3 * step, west + 2 * step + inner),
            self.at(south, west + 3 * step + inner),
            self.at(south + SIDE * step, west + SIDE * step),
        )
