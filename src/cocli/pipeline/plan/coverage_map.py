"""A map of what was read: one SVG, or one HTML page with it. Drawn here, so that it needs no network and no library.

Equirectangular: every tile is a rectangle, narrower than high as its latitude asks. The states differ by pattern and
not by colour alone. Whatever came from a file or from the web is escaped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from cocli.keys.tile import Tile
from cocli.pipeline.plan.coverage import CoverageState, Totals, tile_state
from cocli.pipeline.plan.map_points import MapBounds, bounds_of, draw_points, draw_towns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cocli.pipeline.plan.map_points import MapPoint, MapTown

_WIDTH, _MARGIN, _LEGEND_ROW = 1000.0, 64.0, 24.0
_NARROWEST = 400.0
_TALLEST = 1400.0
_JOINED_FROM = 20_000
"""From this many tiles on, neighbours of one state are one rectangle."""
_LINES = 10

STYLES: Mapping[str, tuple[str, str, str]] = {
    CoverageState.READ.value: ("#1b7f4d", "", "read to the end"),
    "partly": ("#7cc29b", "M0 4H8", "partly read"),
    CoverageState.STALE.value: ("#d9c46a", "M1 1h2v2h-2zM5 5h2v2h-2z", "read too long ago"),
    CoverageState.CUT_SHORT.value: ("#e08a3c", "M-2 2l4 -4M0 8l8 -8M6 10l4 -4", "cut short: there is more"),
    CoverageState.BLOCKED.value: ("#b23a48", "M0 0l8 8M0 8l8 -8", "blocked"),
    CoverageState.UNREAD.value: ("#f4f4f2", "", "not read yet"),
}
"""State → colour, pattern of lines over it, words."""


@dataclass(frozen=True, slots=True)
class _Frame:
    west: float
    north: float
    scale: float
    """Pixels per degree of latitude."""
    narrowing: float
    turned: bool
    """The territory lies across ±180°: the west of the globe is drawn to the east of it."""
    width: float
    height: float

    def x(self, lon: float) -> float:
        return _MARGIN + (lon - self.west) * self.scale * self.narrowing

    def y(self, lat: float) -> float:
        return _MARGIN + (self.north - lat) * self.scale

    def lon(self, tile: Tile) -> float:
        return (tile.lon + (360_000 if self.turned and tile.lon < 0 else 0)) / 1000

    def x_of(self, lon: float) -> float:
        """Of a longitude as people write it."""
        return self.x(lon + 360 if self.turned and lon < 0 else lon)


@dataclass(frozen=True, slots=True)
class _Box:
    tile: Tile
    columns: int
    state: str
    title: str


def render_svg(
    title: str,
    tiles: Mapping[str, Totals],
    *,
    legend: bool = True,
    tallest: float = _TALLEST,
    points: Sequence[MapPoint] = (),
    towns: Sequence[MapTown] = (),
) -> str:
    """The map alone; without its legend for a page that has one in words of its own. Without tiles it shows what the
    points need."""
    boxes = _boxes(tiles)
    frame = _frame([box.tile for box in boxes], tallest)
    if points and not boxes:
        frame = _fitted(bounds_of(points), tallest, turned=False)
    height = frame.height + (_LEGEND_ROW * (len(STYLES) + 1) if legend else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {frame.width:.1f} {height:.1f}" role="img"',
        '  font-family="system-ui, sans-serif" font-size="12">',
        f"<title>{xml_text(title)}</title>",
        f"<defs>{''.join(_patterns())}</defs>",
        f'<rect width="{frame.width:.1f}" height="{height:.1f}" fill="#ffffff"/>',
        *_graticule(frame),
        '<g stroke="#555555" stroke-width="0.4">',
        *[_rectangle(box, frame) for box in boxes],
        "</g>",
        *(draw_points(points, frame) if points else ()),
        *(draw_towns(towns, frame) if towns else ()),
        *(_legend(frame, tiles) if legend else ()),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def render_html(title: str, summary: list[tuple[str, str]], tiles: Mapping[str, Totals]) -> str:
    """A page with the numbers and the map; nothing is loaded from anywhere."""
    rows = "".join(f"<tr><th>{xml_text(name)}</th><td>{xml_text(value)}</td></tr>" for name, value in summary)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{xml_text(title)}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #222; }}
table {{ border-collapse: collapse; margin: 1rem 0; }}
th, td {{ text-align: left; padding: .2rem 1.2rem .2rem 0; border-bottom: 1px solid #ddd; font-weight: normal; }}
td {{ text-align: right; font-variant-numeric: tabular-nums; }}
svg {{ width: 100%; height: auto; border: 1px solid #ddd; }}
</style>
</head>
<body>
<h1>{xml_text(title)}</h1>
<table>{rows}</table>
{render_svg(title, tiles)}</body>
</html>
"""


def legend_of(tiles: Mapping[str, Totals]) -> list[tuple[str, str]]:
    """State → what it means and how many tiles have it, in the order of the map."""
    counts: dict[str, int] = {}
    for totals in tiles.values():
        state = tile_state(totals)
        counts[state] = counts.get(state, 0) + 1
    shown = [(state, words, counts.get(state, 0)) for state, (_, _, words) in STYLES.items()]
    return [(state, f"{words}: {count:,} tile{'' if count == 1 else 's'}") for state, words, count in shown]


def xml_text(text: str) -> str:
    """Escaped, and without what no XML file may contain."""
    return escape("".join(char for char in text if char >= " " and char not in "\x7f\ufffe\uffff"))


# --- what is drawn


def _boxes(tiles: Mapping[str, Totals]) -> list[_Box]:
    made: list[_Box] = []
    join = len(tiles) >= _JOINED_FROM
    named = sorted((_parsed(name), totals) for name, totals in tiles.items())
    for tile, totals in named:
        state = tile_state(totals)
        last = made[-1] if made else None
        if join and last and last.state == state and _follows(last, tile):
            made[-1] = _Box(last.tile, last.columns + 1, state, f"{last.columns + 1} tiles: {state}")
        else:
            made.append(_Box(tile, 1, state, _title(tile, totals, state)))
    return made


def _parsed(name: str) -> Tile:
    lat, _, lon = name.partition("_")
    return Tile.parse(lat, lon)


def _follows(box: _Box, tile: Tile) -> bool:
    first = box.tile
    return (tile.lat, tile.size) == (first.lat, first.size) and tile.lon == first.lon + box.columns * first.size


def _title(tile: Tile, totals: Totals, state: str) -> str:
    counts = ", ".join(f"{name.value} {count}" for name, count in sorted(totals.states.items()) if count)
    return f"{tile.lat_name}, {tile.lon_name}: {state}; {counts}; found {totals.found}"


def _frame(tiles: list[Tile], tallest: float) -> _Frame:
    turned = bool(tiles) and max(tile.lon for tile in tiles) - min(tile.lon for tile in tiles) > 180_000
    turned = turned and not any(-90_000 < tile.lon < 90_000 for tile in tiles)
    lons = [tile.lon + (360_000 if turned and tile.lon < 0 else 0) for tile in tiles] or [0]
    lats = [tile.lat for tile in tiles] or [0]
    west, east = min(lons) / 1000, (max(lons) + Tile.WHOLE) / 1000
    south, north = min(lats) / 1000, (max(lats) + Tile.WHOLE) / 1000
    return _fitted(MapBounds(south, west, north, east), tallest, turned=turned)


def _fitted(bounds: MapBounds, tallest: float, *, turned: bool) -> _Frame:
    """As large as the drawing may be."""
    south, west, north, east = bounds.south, bounds.west, bounds.north, bounds.east
    narrowing = max(0.05, math.cos(math.radians((south + north) / 2)))
    scale = min((_WIDTH - 2 * _MARGIN) / ((east - west) * narrowing), (tallest - 2 * _MARGIN) / (north - south))
    height = (north - south) * scale + 2 * _MARGIN
    width = max(_NARROWEST, (east - west) * narrowing * scale + 2 * _MARGIN)
    return _Frame(west, north, scale, narrowing, turned, width, height)


def _rectangle(box: _Box, frame: _Frame) -> str:
    tile = box.tile
    west, degrees = frame.lon(tile), tile.size / 1000
    x, y = frame.x(west), frame.y(tile.lat / 1000 + degrees)
    width, height = frame.x(west + degrees * box.columns) - x, degrees * frame.scale
    return (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" fill="url(#{box.state})">'
        f"<title>{xml_text(box.title)}</title></rect>"
    )


def _patterns() -> Iterator[str]:
    for state, (colour, lines, _) in STYLES.items():
        drawn = ""
        if lines:
            drawn = f'<path d="{lines}" stroke="#222222" stroke-width="1" fill="none"/>'
        yield (
            f'<pattern id="{state}" width="8" height="8" patternUnits="userSpaceOnUse">'
            f'<rect width="8" height="8" fill="{colour}"/>{drawn}</pattern>'
        )


def _graticule(frame: _Frame) -> Iterator[str]:
    """Lines at round degrees, with their names at the edge."""
    span_lon = (frame.width - 2 * _MARGIN) / (frame.scale * frame.narrowing)
    span_lat = (frame.height - 2 * _MARGIN) / frame.scale
    step = next(
        (step for step in (1, 2, 5, 10, 20, 50, 100, 200, 300) if max(span_lon, span_lat) * 10 / step <= _LINES), 300
    )
    bottom, right = frame.height - _MARGIN, frame.x(frame.west + span_lon)
    yield '<g stroke="#cccccc" stroke-width="0.5" fill="#666666">'
    for tenth in _multiples(frame.west, frame.west + span_lon, step):
        x, lon = frame.x(tenth / 10), (tenth / 10 + 180) % 360 - 180
        yield f'<path d="M{x:.1f} {_MARGIN:.1f}V{bottom:.1f}"/>'
        yield f'<text x="{x:.1f}" y="{_MARGIN - 14:.1f}" text-anchor="middle" stroke="none">{lon:g}°</text>'
    for tenth in _multiples(frame.north - span_lat, frame.north, step):
        y = frame.y(tenth / 10)
        yield f'<path d="M{_MARGIN:.1f} {y:.1f}H{right:.1f}"/>'
        yield f'<text x="{_MARGIN - 10:.1f}" y="{y + 5:.1f}" text-anchor="end" stroke="none">{tenth / 10:g}°</text>'
    yield "</g>"


def _multiples(low: float, high: float, step: int) -> range:
    """The multiples of some tenths between two degrees."""
    first, last = math.ceil(round(low * 10, 6)), math.floor(round(high * 10, 6))
    return range(-(-first // step) * step, last + 1, step)


def _legend(frame: _Frame, tiles: Mapping[str, Totals]) -> Iterator[str]:
    for number, (state, label) in enumerate(legend_of(tiles)):
        y = frame.height + number * _LEGEND_ROW
        yield f'<rect x="{_MARGIN:.0f}" y="{y:.1f}" width="28" height="16" fill="url(#{state})" stroke="#555555"/>'
        yield f'<text x="{_MARGIN + 38:.0f}" y="{y + 13:.1f}" fill="#222222">{xml_text(label)}</text>'
