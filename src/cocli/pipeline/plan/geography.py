"""How far two points are apart, and a grid that finds what may be near a point."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_EARTH_M = 6_371_000.0
_M_PER_DEGREE = math.pi * _EARTH_M / 180
CELL_M = 1000.0
"""Edge of a cell in metres, nearly: whatever lies within this distance is in the same cell or one beside it."""
_ROW_DEGREES = CELL_M / _M_PER_DEGREE

_MILES_PER_KM = 0.621371
_RADIUS = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(km|mi|miles?)?")

Cell = tuple[int, int]


def distance_m(lat: float, lon: float, other_lat: float, other_lon: float) -> float:
    """The great-circle distance in metres."""
    phi, other_phi = math.radians(lat), math.radians(other_lat)
    half_lat, half_lon = (other_phi - phi) / 2, math.radians(other_lon - lon) / 2
    chord = math.sin(half_lat) ** 2 + math.cos(phi) * math.cos(other_phi) * math.sin(half_lon) ** 2
    return 2 * _EARTH_M * math.asin(min(1.0, math.sqrt(chord)))


def radius_miles(text: str) -> float | None:
    """A radius as a person writes it: `25` and `25 mi` are miles, `40km` is kilometres. None for what is no radius."""
    match = _RADIUS.fullmatch(text.strip().lower())
    if match is None:
        return None
    number = float(match[1])
    return round(number * _MILES_PER_KM, 3) if match[2] == "km" else number


def cell_of(lat: float, lon: float) -> Cell:
    row = math.floor(lat / _ROW_DEGREES)
    return row, _column(row, lon)


def cells_around(lat: float, lon: float) -> Iterator[Cell]:
    """The cell of a point and those beside it, each row with its own columns, across the date line too."""
    middle = math.floor(lat / _ROW_DEGREES)
    for row in (middle - 1, middle, middle + 1):
        columns, column = _columns(row), _column(row, lon)
        yield from {(row, neighbour % columns) for neighbour in (column - 1, column, column + 1)}


def _columns(row: int) -> int:
    """How many cells make up a row: fewer towards the poles, so that none gets narrower than an edge."""
    north = max(abs(row), abs(row + 1)) * _ROW_DEGREES
    return max(1, math.floor(360 * math.cos(math.radians(min(north, 90.0))) / _ROW_DEGREES))


def _column(row: int, lon: float) -> int:
    columns = _columns(row)
    return math.floor((lon + 180) / 360 * columns) % columns
