"""TopoJSON → shapes. Lines that two areas share are written once; a ring is a list of such lines, ~n one backwards."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from shapely import make_valid
from shapely.geometry import Polygon
from shapely.ops import unary_union

if TYPE_CHECKING:
    from collections.abc import Iterator

Points = list[tuple[float, float]]


class Topology:
    """A file of shapes."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._objects = document["objects"]
        self._arcs = document["arcs"]
        scale, move = document["transform"]["scale"], document["transform"]["translate"]
        self._scale, self._move = scale, move
        self._lines: dict[int, Points] = {}

    def shapes(self, name: str, box: Any) -> Iterator[tuple[str, Any]]:
        """The areas of an object that meet a box, with their names."""
        for geometry in self._objects[name]["geometries"]:
            polygons = [shape for shape in self._polygons(geometry) if shape.intersects(box)]
            if polygons:
                yield str(geometry.get("properties", {}).get("name", "")), unary_union(polygons)

    def _polygons(self, geometry: dict[str, Any]) -> Iterator[Any]:
        if geometry["type"] not in ("Polygon", "MultiPolygon"):
            return
        groups: list[Any] = [geometry["arcs"]] if geometry["type"] == "Polygon" else geometry["arcs"]
        for rings in groups:
            outer, *holes = [self._ring(ring) for ring in rings]
            if len(outer) > 3:
                shape = Polygon(outer, [hole for hole in holes if len(hole) > 3])
                yield shape if shape.is_valid else make_valid(shape)

    def _ring(self, arcs: list[int]) -> Points:
        points: Points = []
        for arc in arcs:
            line = self._line(arc) if arc >= 0 else self._line(~arc)[::-1]
            points += line[1:] if points else line
        return points

    def _line(self, number: int) -> Points:
        """Distances from point to point, in steps of the file's grid."""
        if number not in self._lines:
            steps = self._arcs[number]
            xs = accumulate(step[0] for step in steps)
            ys = accumulate(step[1] for step in steps)
            (width, height), (west, south) = self._scale, self._move
            self._lines[number] = [(x * width + west, y * height + south) for x, y in zip(xs, ys, strict=True)]
        return self._lines[number]
