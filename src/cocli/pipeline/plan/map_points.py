"""What lies on a map above its tiles: businesses as dots by how they can be reached, and the names of towns."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_EDGE = 0.005
"""The share of dots at each edge that does not make a map larger: a wrong position is far away."""
_ALL_BELOW = 20
_LEAST_DEGREES = 0.05
_ROOM = 0.06
_LETTER = 9.5
_LINE = 20.0
_LONGEST = 28
MOST_TOWNS = 14

DOTS = {
    "with-email": ("#1d4ed8", "with an e-mail address"),
    "with-website": ("#b45309", "with a website, and no address yet"),
    "listed": ("#6b7280", "neither"),
}
"""Kind of a business → the colour of its dot, and what it stands for. Drawn in the opposite order."""


class MapFrame(Protocol):
    """Where a position is on the drawing."""

    @property
    def width(self) -> float: ...

    @property
    def height(self) -> float: ...

    def x_of(self, lon: float) -> float: ...

    def y(self, lat: float) -> float: ...


@dataclass(frozen=True, slots=True)
class MapPoint:
    lat: float
    lon: float
    kind: str
    """One of `DOTS`."""


@dataclass(frozen=True, slots=True)
class MapTown:
    name: str
    lat: float
    lon: float


@dataclass(frozen=True, slots=True)
class MapBounds:
    south: float
    west: float
    north: float
    east: float


def bounds_of(points: Sequence[MapPoint]) -> MapBounds:
    """What the dots need, with some room; the few that are far away do not count."""
    lats, lons = sorted(point.lat for point in points), sorted(point.lon for point in points)
    cut = int(len(points) * _EDGE) if len(points) >= _ALL_BELOW else 0
    south, north = lats[cut], lats[-1 - cut]
    west, east = lons[cut], lons[-1 - cut]
    room_lat = max((north - south) * _ROOM, _LEAST_DEGREES)
    room_lon = max((east - west) * _ROOM, _LEAST_DEGREES)
    return MapBounds(south - room_lat, west - room_lon, north + room_lat, east + room_lon)


def towns_of(places: Iterable[tuple[str, float, float]]) -> list[MapTown]:
    """The towns of businesses (`name, lat, lon` of each), where most of them are, those with the most first."""
    found: dict[str, list[tuple[str, float, float]]] = defaultdict(list)
    for name, lat, lon in places:
        found[" ".join(name.split()).casefold()].append((name, lat, lon))
    ordered = sorted(found.values(), key=lambda ones: (-len(ones), ones[0][0]))
    towns = []
    for ones in ordered[: 4 * MOST_TOWNS]:
        lats, lons = sorted(one[1] for one in ones), sorted(one[2] for one in ones)
        towns.append(MapTown(ones[0][0], lats[len(lats) // 2], lons[len(lons) // 2]))
    return towns


def draw_points(points: Sequence[MapPoint], frame: MapFrame) -> Iterator[str]:
    """One path for all dots of a kind: a dot is a line without length, with round ends. Dots in one place are one."""
    for kind in reversed(DOTS):
        places = {_place(point, frame) for point in points if point.kind == kind}
        drawn = "".join(f"M{x} {y}h0" for x, y in sorted(places) if 0 <= x <= frame.width and 0 <= y <= frame.height)
        if drawn:
            yield f'<g class="dots" fill="none" stroke-linecap="round"><title>{escape(DOTS[kind][1])}</title>'
            yield f'<path d="{drawn}" stroke="#ffffff" stroke-width="12"/>'
            yield f'<path d="{drawn}" stroke="{DOTS[kind][0]}" stroke-width="8"/></g>'


def draw_towns(towns: Sequence[MapTown], frame: MapFrame) -> Iterator[str]:
    """Names beside their places, the most important first; one that would lie on another is left out."""
    taken: list[tuple[float, float, float]] = []
    yield '<g class="towns" font-size="20" paint-order="stroke" stroke="#ffffff" stroke-width="4" fill="#222222">'
    for town in towns:
        name = _short(town.name)
        x, y, width = frame.x_of(town.lon), frame.y(town.lat) - 8, len(name) * _LETTER
        if not (x - width / 2 >= 0 and x + width / 2 <= frame.width and _LINE <= y <= frame.height):
            continue
        if any(abs(y - other_y) < _LINE and abs(x - other_x) < (width + wide) / 2 for other_x, other_y, wide in taken):
            continue
        taken.append((x, y, width))
        yield f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{escape(name)}</text>'
        if len(taken) == MOST_TOWNS:
            break
    yield "</g>"


def _place(point: MapPoint, frame: MapFrame) -> tuple[int, int]:
    return round(frame.x_of(point.lon)), round(frame.y(point.lat))


def _short(name: str) -> str:
    shown = " ".join("".join(char for char in name if char.isprintable()).split())
    if len(shown) <= _LONGEST:
        return shown
    return f"{shown[: _LONGEST - 1]}…"
