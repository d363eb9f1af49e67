"""From lists of coordinates to polygons that can be planned: unwrapped at ±180°, closed over a pole, checked.

A step of more than 180° between two corners is read as one across the line at ±180°, not as one round the globe. A
ring that goes round a pole without touching it is closed over the pole of its hemisphere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.errors import AreaRefused

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shapely import Geometry, Polygon

Ring = list[tuple[float, float]]
"""Longitude and latitude of each corner, the first one again at the end."""
_FURTHEST = 540.0


def make_polygon(rings: Sequence[Ring], *, file: str, part: str) -> Polygon:
    """A polygon of an outer ring and its holes. `AreaRefused`, with the place, where it crosses itself."""
    import shapely

    if not rings:
        raise AreaRefused(file=file, part=part, reason="a polygon without corners")
    outer, *holes = [_unwrapped(_checked(ring, file, part)) for ring in rings]
    west, east = min(lon for lon, _ in outer), max(lon for lon, _ in outer)
    polygon = shapely.Polygon(outer, [_beside(hole, west, east) for hole in holes])
    if not polygon.is_valid:
        raise AreaRefused(file=file, part=part, reason=_why(shapely.is_valid_reason(polygon)))
    if polygon.area == 0:
        raise AreaRefused(file=file, part=part, reason="the polygon has no area")
    return polygon


def together(polygons: Iterable[Polygon]) -> Geometry:
    """All of them as one area; where they overlap is in it once."""
    import shapely

    united: Geometry = shapely.union_all(list(polygons))
    return united


def _checked(ring: Ring, file: str, part: str) -> Ring:
    if ring and ring[0] != ring[-1]:
        ring = [*ring, ring[0]]
    if len(ring) < 4:
        raise AreaRefused(file=file, part=part, reason=f"a ring of {max(len(ring) - 1, 0)} corners; three are needed")
    for lon, lat in ring:
        if not -90 <= lat <= 90:
            swapped = ""
            if abs(lon) <= 90:
                swapped = "; longitude comes first, and seems to come second here"
            raise AreaRefused(file=file, part=part, reason=f"the latitude {lat:g} is not on the globe{swapped}")
        if not -_FURTHEST <= lon <= _FURTHEST:
            raise AreaRefused(file=file, part=part, reason=f"the longitude {lon:g} is not on the globe")
    return ring


def _unwrapped(ring: Ring) -> Ring:
    shift, done = 0.0, [ring[0]]
    for (lon, lat), (before, _) in zip(ring[1:], ring, strict=False):
        if 180 < abs(lon - before) < 360:  # a step of exactly 360° is meant: it goes all round
            shift += 360.0 if lon < before else -360.0
        done.append((lon + shift, lat))
    if done[0] != done[-1]:
        pole = 90.0 if sum(lat for _, lat in done) > 0 else -90.0
        done += [(done[-1][0], pole), (done[0][0], pole), done[0]]
    return done


def _beside(hole: Ring, west: float, east: float) -> Ring:
    """A hole, moved round the globe to where its polygon was drawn."""
    middle = sum(lon for lon, _ in hole) / len(hole)
    for turn in (0.0, 360.0, -360.0):
        if west <= middle + turn <= east:
            return [(lon + turn, lat) for lon, lat in hole]
    return hole


def _why(reason: str) -> str:
    """`Self-intersection[-118.2 34.1]` → words, with the place as latitude and longitude."""
    what, bracket, rest = reason.partition("[")
    words = "the polygon crosses itself" if what in ("Self-intersection", "Ring Self-intersection") else what.lower()
    lon, _, lat = rest.rstrip("]").partition(" ")
    if bracket:
        return f"{words} near {float(lat):.6g}, {float(lon):.6g}"
    return words
