"""What was read, as files for other maps: GeoJSON and KML, a polygon for every tile with its numbers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cocli.formats import kml
from cocli.keys.tile import Tile
from cocli.pipeline.plan.coverage import CoverageState, Totals, tile_state
from cocli.pipeline.plan.coverage_map import STYLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_OPACITY = "b0"


def render_geojson(tiles: Mapping[str, Totals]) -> str:
    """A FeatureCollection, longitude first, as RFC 7946 has it."""
    features = [
        {
            "type": "Feature",
            "id": name,
            "properties": _properties(name, totals),
            "geometry": {"type": "Polygon", "coordinates": [_corners(name)]},
        }
        for name, totals in tiles.items()
    ]
    return json.dumps({"type": "FeatureCollection", "features": features}, ensure_ascii=False) + "\n"


def render_kml(title: str, tiles: Mapping[str, Totals]) -> str:
    lines = [
        kml.element("name", title),
        *_styles(),
        *(line for name, totals in tiles.items() for line in _placemark(name, totals)),
    ]
    return kml.HEAD + "\n".join(lines) + "\n" + kml.TAIL


def _properties(name: str, totals: Totals) -> dict[str, Any]:
    shares = {state.value: totals.states[state] for state in CoverageState}
    expected = totals.expected if totals.expected_pairs else None
    return {"name": name, "state": tile_state(totals), **shares, "found": totals.found, "expected": expected}


def _corners(name: str) -> list[list[float]]:
    """Five corners, the first again at the end, against the clock."""
    lat, _, lon = name.partition("_")
    tile = Tile.parse(lat, lon)
    south, west = tile.lat / 1000, tile.lon / 1000
    north, east = (tile.lat + tile.size) / 1000, (tile.lon + tile.size) / 1000
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def _styles() -> Iterator[str]:
    for state, (colour, _, _) in STYLES.items():
        red, green, blue = colour[1:3], colour[3:5], colour[5:7]
        yield f'<Style id="{state}"><LineStyle><width>1</width></LineStyle>'
        yield f"<PolyStyle><color>{_OPACITY}{blue}{green}{red}</color></PolyStyle></Style>"


def _placemark(name: str, totals: Totals) -> Iterator[str]:
    values = _properties(name, totals)
    yield f"<Placemark>{kml.element('name', name)}<styleUrl>#{values['state']}</styleUrl><ExtendedData>"
    yield "".join(kml.data(key, str(value)) for key, value in values.items() if value is not None)
    yield f"</ExtendedData>{kml.polygon(_corners(name))}</Placemark>"
