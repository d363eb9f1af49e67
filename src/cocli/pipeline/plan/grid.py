"""The tiles of a circle and of an area. A tile belongs if its interior and that of the area have a point in common.

Rows and columns are whole numbers of tenths of a degree from the first to the last, never a sum of float steps: such a
loop once lost the north row and the east column. Degrees are floats only where an edge is computed, and are rounded to
millionths there, as `Tile.containing` rounds the point it is asked for.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cocli.errors import UsageError
from cocli.keys.tile import Tile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from shapely import Geometry

EARTH_MILES = 3958.7613
_STEP = 100_000
"""A tenth of a degree, in millionths."""
_COLUMNS = 3600
_BLOCK = 10
"""Rows and columns of a block of tiles that an area is asked for at once."""


def tiles_of_circle(lat: float, lon: float, radius_miles: float) -> list[Tile]:
    """The tiles of a circle on the globe, from south to north and west to east of its centre."""
    angle = math.degrees(radius_miles / EARTH_MILES)
    if not 0 < angle < 90:
        raise UsageError(reason=f"a radius of {radius_miles:g} miles makes no circle on the globe")
    found: list[Tile] = []
    for row in _span(max(lat - angle, -90.0), min(lat + angle, 90.0)):
        half = _half_width(row, lat, angle)
        if half > 0:
            found.extend(_tile(row, column) for column in _columns(lon - half, lon + half))
    return found


def tiles_of_area(area: Geometry) -> list[Tile]:
    """The tiles of a polygon or of several. Longitudes may lie beyond ±180: an area across that line is drawn there."""
    import shapely

    if area.is_empty:
        return []
    # Millionths, as for points: an edge at -118.30000000000001 is not in the tile to the west.
    area = shapely.set_precision(area, 1e-6)
    shapely.prepare(area)
    west, south, east, north = area.bounds
    found: dict[Tile, None] = {}
    for rows in _blocks(_span(max(south, -90.0), min(north, 90.0))):
        for columns in _blocks(_span(west, east)):
            found.update(dict.fromkeys(_of_block(area, rows, columns)))
    return list(found)


def _of_block(area: Geometry, rows: range, columns: range) -> Iterator[Tile]:
    import shapely

    block = shapely.box(columns.start / 10, rows.start / 10, columns.stop / 10, rows.stop / 10)
    if not shapely.intersects(area, block):
        return
    cells = [(row, column) for row in rows for column in columns]
    if not shapely.contains_properly(area, block):
        cells = _meeting(area, cells)
    yield from (_tile(row, column) for row, column in cells)


def _meeting(area: Geometry, cells: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The cells whose interior meets that of the area. Exact, but slow: so only those near its border are asked for."""
    import shapely

    south = [row / 10 for row, _ in cells]
    west = [column / 10 for _, column in cells]
    north = [(row + 1) / 10 for row, _ in cells]
    east = [(column + 1) / 10 for _, column in cells]
    boxes = shapely.box(west, south, east, north)
    inside = shapely.contains_properly(area, boxes)
    near = shapely.intersects(area, boxes)
    return [
        cell
        for cell, box, is_inside, is_near in zip(cells, boxes, inside, near, strict=True)
        if is_inside or (is_near and shapely.relate_pattern(area, box, "T********"))
    ]


def _half_width(row: int, lat: float, angle: float) -> float:
    """Half the degrees of longitude that a circle spans within a row, at the latitude where it spans most; 180 where
    the row goes all round."""
    low, high = max(row / 10, lat - angle), min((row + 1) / 10, lat + angle)
    widest = math.sin(math.radians(lat)) / math.cos(math.radians(angle))
    if abs(widest) < 1:
        return _width_at(min(max(math.degrees(math.asin(widest)), low), high), lat, angle)
    return _width_at(high if lat > 0 else low, lat, angle)


def _width_at(at: float, lat: float, angle: float) -> float:
    phi, centre, radius = math.radians(at), math.radians(lat), math.radians(angle)
    around = math.cos(phi) * math.cos(centre)
    reach = math.cos(radius) - math.sin(phi) * math.sin(centre)
    if reach <= -around:
        return 180.0
    if reach < around:
        return math.degrees(math.acos(reach / around))
    return 0.0


def _columns(west: float, east: float) -> range:
    """The columns between two longitudes, each once."""
    span = _span(west, east)
    if len(span) < _COLUMNS:
        return span
    return range(-_COLUMNS // 2, _COLUMNS // 2)


def _span(low: float, high: float) -> range:
    """The tenths that have more than a point in common with the degrees between two bounds."""
    first, end = round(low * 1_000_000), round(high * 1_000_000)
    if end > first:
        return range(first // _STEP, -(-end // _STEP))
    return range(0)


def _blocks(span: range) -> Iterable[range]:
    first = span.start // _BLOCK * _BLOCK
    return (range(max(start, span.start), min(start + _BLOCK, span.stop)) for start in range(first, span.stop, _BLOCK))


def _tile(row: int, column: int) -> Tile:
    east = (column + _COLUMNS // 2) % _COLUMNS - _COLUMNS // 2
    return Tile(row * Tile.WHOLE, east * Tile.WHOLE)
