"""A tile of the search grid, named by its south-west corner and held in whole thousandths of a degree.

Nothing here computes with floats: a float loop over 0.1° steps once lost the north row and the east column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from cocli.errors import IdentityError

_COORDINATE = re.compile(r"(-?)(0|[1-9][0-9]{0,2})\.([0-9]{1,3})\Z")
_DECIMALS = {100: 1, 50: 2, 25: 3}
_SIZE_BY_DECIMALS = {decimals: size for size, decimals in _DECIMALS.items()}


@dataclass(frozen=True, slots=True, order=True)
class Tile:
    """`Tile(33700, -118300, 100)` is the tile 0.1° wide whose south-west corner is 33.7, -118.3."""

    lat: int
    lon: int
    size: int = 100

    WHOLE: ClassVar[int] = 100
    FLOOR: ClassVar[int] = 25

    def __post_init__(self) -> None:
        if self.size not in _DECIMALS:
            raise IdentityError(text=str(self.size), kind="tile size", reason="expected 100, 50 or 25 thousandths")
        if self.lat % self.size or self.lon % self.size:
            raise IdentityError(
                text=f"{self.lat}, {self.lon}", kind="tile corner", reason=f"not a multiple of {self.size}"
            )
        if not (-90_000 <= self.lat < 90_000 and -180_000 <= self.lon < 180_000):
            raise IdentityError(text=f"{self.lat}, {self.lon}", kind="tile corner", reason="outside of the globe")

    @classmethod
    def containing(cls, lat: float, lon: float, size: int = 100) -> Tile:
        """The tile that a point falls into. The north pole belongs to the last row, 180° is -180°."""
        north = min(_thousandths(lat), 89_999)
        east = (_thousandths(lon) + 180_000) % 360_000 - 180_000
        return cls(north // size * size, east // size * size, size)

    @classmethod
    def parse(cls, lat: str, lon: str) -> Tile:
        """Read the two names of a tile; the number of decimals says how large it is."""
        (lat_value, size), (lon_value, lon_size) = _coordinate(lat), _coordinate(lon)
        if size != lon_size:
            raise IdentityError(text=f"{lat}, {lon}", kind="tile", reason="latitude and longitude differ in decimals")
        return cls(lat_value, lon_value, size)

    @property
    def lat_name(self) -> str:
        return _name(self.lat, self.size)

    @property
    def lon_name(self) -> str:
        return _name(self.lon, self.size)

    @property
    def centre(self) -> tuple[float, float]:
        """Where a search for this tile is centred."""
        return (self.lat * 2 + self.size) / 2000, (self.lon * 2 + self.size) / 2000

    def split(self) -> tuple[Tile, Tile, Tile, Tile]:
        """The four quarters, for a tile that held more than a search would show."""
        half = self.size // 2
        if half < self.FLOOR:
            raise IdentityError(text=str(self), kind="tile to split", reason=f"{self.FLOOR} thousandths is the floor")
        south, north, west, east = self.lat, self.lat + half, self.lon, self.lon + half
        return (
            Tile(south, west, half),
            Tile(south, east, half),
            Tile(north, west, half),
            Tile(north, east, half),
        )

    def __str__(self) -> str:
        return f"{self.lat_name}_{self.lon_name}"


def _thousandths(degrees: float) -> int:
    # floor of the exact decimal reading: 0.3 is held as 0.299999…, and must not fall into the tile below it.
    return round(degrees * 1_000_000) // 1000


def _name(value: int, size: int) -> str:
    decimals = _DECIMALS[size]
    sign = "-" if value < 0 else ""
    whole, rest = divmod(abs(value), 1000)
    return f"{sign}{whole}.{rest:03d}"[: len(f"{sign}{whole}.") + decimals]


def _coordinate(text: str) -> tuple[int, int]:
    match = _COORDINATE.match(text)
    if not match:
        raise IdentityError(text=text[:40], kind="tile coordinate", reason="expected a number with 1 to 3 decimals")
    sign, whole, decimals = match.groups()
    value = int(whole) * 1000 + int(decimals.ljust(3, "0"))
    if sign and value == 0:
        raise IdentityError(text=text, kind="tile coordinate", reason="minus zero is written without a sign")
    return (-value if sign else value), _SIZE_BY_DECIMALS[len(decimals)]
